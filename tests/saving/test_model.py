import dataclasses

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import disaggregate as dg
from disaggregate.saving import ArchiveError
from disaggregate.saving.model import CLASSES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"n_chains": 2, "n_draws": 20, "n_burn": 20, "random_state": 0, "n_replicas": 1}


def fit(X=None, shares=None, **settings):
    town = dg.datasets.make_districts(random_state=0)
    model = dg.GroupStatsClassifier(**SHORT, **settings)
    return model.fit(town.X if X is None else X, town.shares if shares is None else shares, groups=town.groups)


@pytest.fixture(scope="module")
def dense():
    return fit(kernel="rbf", gamma="auto")


def same(one, other, X):
    assert_array_equal(one.predict_draws(X), other.predict_draws(X))
    assert_array_equal(one.predict(X), other.predict(X))
    assert_array_equal(one.label_proba_, other.label_proba_)
    pd.testing.assert_frame_equal(one.group_table(), other.group_table())
    assert str(one.diagnostics_) == str(other.diagnostics_)


def test_a_loaded_model_is_the_saved_one(dense, tmp_path):
    dense.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    town = dg.datasets.make_districts(random_state=1)
    same(dense, loaded, town.X)
    assert loaded.get_params() == dense.get_params()
    assert loaded.score(town.X, town.shares, groups=town.groups) == dense.score(
        town.X, town.shares, groups=town.groups
    )
    assert len(loaded.posterior_.parts) == len(dense.posterior_.parts)


def test_sparse_weights_with_a_ladder(tmp_path):
    town = dg.datasets.make_districts(random_state=0)
    settings = {**SHORT, "n_replicas": 3, "prior": "spike_slab", "kernel": "rbf", "gamma": "scale"}
    model = dg.GroupStatsClassifier(**settings).fit(town.X, town.shares, groups=town.groups)
    model.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    same(model, loaded, town.X)
    assert loaded.log_evidence_ == model.log_evidence_


def test_named_features_mixed_evidence_and_labels(tmp_path):
    town = dg.datasets.make_districts(random_state=0)
    people = pd.DataFrame(town.X, columns=["age", "größe"])
    reports = {"A": dg.evidence.Population(0.7, size=900), "B": 0.25, "C": dg.evidence.AtLeast(3)}
    model = fit(people, reports, kernel="linear", confidence={"A": 10.0, "B": 20.0, "C": 5.0})
    model.save(str(tmp_path / "m.dgz"))
    loaded = dg.load(str(tmp_path / "m.dgz"))
    same(model, loaded, people)
    assert list(loaded.feature_names_in_) == ["age", "größe"]
    supervised = dg.GroupStatsClassifier(**SHORT, kernel="linear").fit(town.X, np.where(town.y, "yes", "no"))
    supervised.save(tmp_path / "s.dgz")
    assert dg.load(tmp_path / "s.dgz").predict(town.X).tolist() == supervised.predict(town.X).tolist()


def test_a_kernel_of_ones_own_is_refused_with_advice(tmp_path):
    model = fit(kernel=lambda A, B: A @ B.T)
    with pytest.raises(ValueError, match=r"cannot be saved.*Use a kernel by its name"):
        model.save(tmp_path / "m.dgz")
    assert list(tmp_path.iterdir()) == []


def test_executors_and_generators_stay_behind(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    town = dg.datasets.make_districts(random_state=0)
    with ThreadPoolExecutor(1) as pool:
        settings = {**SHORT, "random_state": np.random.default_rng(0), "executor": pool, "kernel": "linear"}
        model = dg.GroupStatsClassifier(**settings).fit(town.X, town.shares, groups=town.groups)
        model.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    assert loaded.executor is None
    assert loaded.random_state is None
    same(model, loaded, town.X)


def test_nothing_to_save_before_a_fit(tmp_path):
    with pytest.raises(NotFittedError):
        dg.GroupStatsClassifier().save(tmp_path / "m.dgz")


def test_parts_that_do_not_fit_together_are_refused(dense, tmp_path, monkeypatch):
    from disaggregate.saving import model as module

    broken = dg.GroupStatsClassifier(**dense.get_params())
    vars(broken).update(vars(dense))
    broken.n_features_in_ = 7
    module.save_model(broken, tmp_path / "m.dgz")
    with pytest.raises(ArchiveError, match="do not fit together"):
        dg.load(tmp_path / "m.dgz")


def test_unknown_parameters_are_refused(dense, tmp_path, monkeypatch):
    from disaggregate.saving import model as module

    monkeypatch.setattr(module, "parameters_of", lambda model: {"sneaky": 1})
    module.save_model(dense, tmp_path / "m.dgz")
    with pytest.raises(ArchiveError, match=r"does not describe a classifier of this version\.$"):
        dg.load(tmp_path / "m.dgz")
    with monkeypatch.context() as patch:
        patch.setattr(module, "version", lambda package: "9.1")
        module.save_model(dense, tmp_path / "m.dgz")
    with pytest.raises(ArchiveError, match=r"written by disaggregate 9\.1, and this is 0.*: load it with that"):
        dg.load(tmp_path / "m.dgz")


def test_every_class_on_the_list_is_plain_data():
    assert all(dataclasses.is_dataclass(kind) for kind in CLASSES.values())


def test_labels_that_are_texts_keep_their_type(tmp_path):
    town = dg.datasets.make_districts(random_state=3)
    model = dg.GroupStatsClassifier(**SHORT).fit(town.X, np.where(town.y, "yes", "no"))
    model.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(town.X).dtype == model.predict(town.X).dtype
