"""Files of fits with group effects, context, samples and cells: the same predictions, and nobody's secrets."""

import dataclasses
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import disaggregate as dg
from disaggregate.saving import ArchiveError
from disaggregate.saving.model import save_model
from tests.helpers.small import KINDS, SHARES, small_features, small_fit, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

GROUPS = np.repeat(["A", "B", "C", "D", "E"], [6, 6, 6, 6, 2])  # two people are few
REPORTS = {**SHARES, "E": 0.5}
X = small_features(len(GROUPS), seed=3)
NEW = small_features(7, seed=4)
OF_PLACES = {
    "group effects": {"context": True},
    "context": {},
    "population": {},
    "counts": {"context": True},
    "partitions": {"group_effects": True},
}


@pytest.fixture(scope="module", params=OF_PLACES)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(kind):
    centers = dg.privacy.landmarks(X, 4)
    return small_fit(kind, X, REPORTS, GROUPS, centers=centers, n_draws=20, **OF_PLACES[kind])


@pytest.fixture
def loaded(fitted, tmp_path):
    fitted.save(tmp_path / "m.dgz")
    return dg.load(tmp_path / "m.dgz")


@pytest.fixture
def anonymous(fitted, tmp_path):
    fitted.save(tmp_path / "a.dgz", anonymise=True)
    return dg.load(tmp_path / "a.dgz")


def test_a_loaded_model_is_the_saved_one(fitted, loaded, kind):
    for groups in (None, ["A"] * 7, ["new"] * 7):
        assert_array_equal(loaded.predict_draws(NEW, groups), fitted.predict_draws(NEW, groups))
    assert_array_equal(loaded.label_proba_, fitted.label_proba_)
    assert loaded.group_table().equals(fitted.group_table())
    assert str(loaded.diagnostics_) == str(fitted.diagnostics_)
    assert loaded.group_effects_ == fitted.group_effects_
    assert set(loaded.posterior_.scales) == set(fitted.posterior_.scales)
    reported = {"groups": GROUPS, "counts": KINDS[kind].counts(len(X))}
    reports = KINDS[kind].reports(REPORTS)
    assert loaded.score(X, reports, **reported) == fitted.score(X, reports, **reported)


def test_an_anonymous_model_predicts_the_same_for_the_groups_that_it_keeps(fitted, anonymous, kind):
    kept = anonymous.group_table()["group"].tolist()
    assert kept == ["B", "C", "D"]  # without A too, lest the total give E away
    for name in kept:
        assert_array_equal(anonymous.predict_draws(NEW, [name] * 7), fitted.predict_draws(NEW, [name] * 7))
    assert_array_equal(anonymous.predict_draws(NEW), fitted.predict_draws(NEW))
    assert not hasattr(anonymous, "label_proba_")
    table = fitted.group_table().set_index("group").loc[kept]
    assert_array_equal(anonymous.group_table()["implied"], table["implied"])
    assert_array_equal(anonymous.group_table()["n"], table["n"])


def test_small_groups_are_unknown_to_an_anonymous_model(fitted, anonymous, tmp_path):
    fitted.save(tmp_path / "few.dgz", anonymise=True, min_group_size=1)
    assert "E" in dg.load(tmp_path / "few.dgz").group_table()["group"].tolist()
    assert "E" not in anonymous.group_table()["group"].tolist()
    assert_array_equal(anonymous.predict_draws(NEW, ["E"] * 7), fitted.predict_draws(NEW, ["new"] * 7))
    if fitted.group_effects_ is not None:
        assert "E" not in anonymous.group_effects_.names
        widths = {part.places.shape[1] for part in anonymous.posterior_.parts}
        assert widths == {len(anonymous.group_effects_.names)}
        assert widths != {part.places.shape[1] for part in fitted.posterior_.parts}
    if fitted.context_ is not None:
        assert "E" not in anonymous.context_.names
        assert anonymous.context_.norm > 0.0
    assert anonymous._data.weights is None


def forged(model, **parts):
    """A model some of whose parts are others."""
    twin = small_model()
    vars(twin).update(vars(model))
    vars(twin).update(parts)
    return twin


def with_part(model, **fields):
    [part] = model.posterior_.parts
    posterior = dataclasses.replace(model.posterior_, parts=(dataclasses.replace(part, **fields),))
    return forged(model, _fitted=dataclasses.replace(model._fitted, posterior=posterior), posterior_=posterior)


def with_data(model, **fields):
    return forged(model, _data=dataclasses.replace(model._data, **fields))


@pytest.fixture(scope="module")
def cells():
    return small_fit("counts", X, REPORTS, GROUPS, n_draws=10, context=True)


def forgeries(model):
    [part] = model.posterior_.parts
    names, data = model.group_effects_.names, model._data
    effects = type(model.group_effects_)
    return {
        "no names of effects": forged(model, group_effects_=None),
        "effects of a kind": forged(model, group_effects_=list(names)),
        "too few effects": forged(model, group_effects_=effects(names[:-1])),
        "effects of twins": forged(model, group_effects_=effects((*names[:-1], names[0]))),
        "effects without a scale": with_part(model, place_delta2=None),
        "scale without effects": with_part(model, places=None),
        "effects that are no numbers": with_part(model, places=np.full_like(part.places, np.nan)),
        "effects of other draws": with_part(model, places=part.places[:-1]),
        "a scale of nothing": with_part(model, place_delta2=np.zeros_like(part.place_delta2)),
        "a negative scale": with_part(model, context_delta2=-part.context_delta2),
        "a scale of other draws": with_part(model, context_delta2=part.context_delta2[:, 1:]),
        "no context": forged(model, context_=None),
        "cells of nobody": with_data(model, counts=np.zeros_like(data.counts)),
        "cells of too many": with_data(model, counts=np.full_like(data.counts, 2**62)),
        "cells of parts": with_data(model, counts=data.counts + 0.5),
        "too few cells": with_data(model, counts=data.counts[:-1]),
        "weights below zero": with_data(model, weights=-np.ones(len(data.order))),
        "weights of others": with_data(model, weights=np.ones(3)),
        "steps of nothing": with_data(model, steps=np.zeros(len(data.names), dtype=int)),
        "steps of others": with_data(model, steps=np.full(len(data.names), 7)),
        "listed otherwise": with_data(model, lengths=np.full(len(data.names), 2)),
        "nodes of others": with_data(model, nodes=np.arange(3)),
    }


def is_refused(path):
    try:
        dg.load(path)
    except ArchiveError as error:
        return "damaged" in str(error)
    return False


def test_nonsense_is_refused_when_loaded_and_not_later(cells, tmp_path):
    path = tmp_path / "m.dgz"
    save_model(cells, path)
    assert dg.load(path) is not None
    for name, model in forgeries(cells).items():
        save_model(model, path)
        assert is_refused(path), name


def test_files_of_the_first_release_know_no_effects():
    from tests.saving.formats.make import FOLDER, answers

    for file in sorted(FOLDER.glob("format1_*.dgz")):
        model = dg.load(file)
        classifier = getattr(model, "classifier", model)
        assert classifier.group_effects_ is None
        assert set(classifier.posterior_.scales) == {"individual"}
        expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        np.testing.assert_allclose(answers(model)["implied"], expected["implied"], rtol=1e-9)
        table = classifier.group_table()
        assert (table["conf_low"] <= table["conf_high"]).all()
