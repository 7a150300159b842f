"""``confidence="auto"`` from a fit to a file, a score, a verdict and the command line."""

import copy
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import disaggregate as dg
from disaggregate.cli.main import main
from disaggregate.posterior.predictive import find_misfits
from tests.helpers.small import GROUPS, SHARES, small_features, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def fitted():
    """Groups of one kind of people each, and one whose report has nothing to do with them."""
    kind = np.repeat([0.0, 1.0], [70, 70])
    groups = np.repeat(np.arange(14), 10)
    shares = {group: 0.1 if group < 7 else 0.9 for group in range(14)}
    shares[3] = 1.0
    X = np.column_stack([kind, np.random.default_rng(0).normal(size=140)])
    return (
        small_model(kernel="linear", prior=dg.GaussianProcess(emphasis=1.0), confidence="auto").fit(
            X, shares, groups=groups
        ),
        X,
        groups,
    )


def test_it_is_learned_and_diagnosed(fitted):
    model, _, _ = fitted
    confidence = model.posterior_.confidence
    assert confidence.shape == model.posterior_.shape
    assert (confidence > 0.0).all()
    assert "delta2_report" in model.diagnostics_.rhat
    assert model.diagnostics_.ladder is None
    assert dg.GroupStatsClassifier().confidence == 1000.0  # the default stays


def test_the_verdict_names_the_report_that_does_not_fit(fitted):
    model, X, _ = fitted
    assert list(model.diagnostics_.reports.misfits) == [3]
    assert find_misfits(model.posterior_, X, model._data)[3] > 0.9
    assert "do not fit" in model.diagnostics_.verdict
    assert "3 (" in model.diagnostics_.verdict
    assert 3 not in model.diagnostics_.reports.groups
    hidden = model.diagnostics_.naming_only([1, 2])
    assert "3 (" not in hidden.verdict
    assert "1 of them" in hidden.verdict
    many = dict.fromkeys(range(20), 0.9)
    named = replace(model.diagnostics_, reports=replace(model.diagnostics_.reports, misfits=many))
    assert named.naming_only(range(20)).verdict  # no group is lost on the way


def test_its_report_hardly_counts(fitted):
    model, X, groups = fitted
    table = model.group_table().set_index("group")
    assert table.loc[3, "implied"] < 0.6 < table.loc[8, "implied"]
    assert model.predict_proba(X)[groups == 3, 1].mean() < 0.4
    known = copy.copy(model).set_params(confidence=1000.0)
    assert np.isfinite(model.score(X, dict.fromkeys(range(14), 0.5), groups=groups))
    assert known.confidence != model.confidence


def test_files_keep_it(fitted, tmp_path):
    model, X, _ = fitted
    model.save(tmp_path / "m.dgz")
    loaded = dg.load(tmp_path / "m.dgz")
    np.testing.assert_array_equal(loaded.posterior_.confidence, model.posterior_.confidence)
    assert loaded.confidence == "auto"
    assert loaded.diagnostics_.reports.misfits == model.diagnostics_.reports.misfits
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_fit_resumes_to_the_same_draws(tmp_path):
    how = {"checkpoint": tmp_path / "run.dgc"}
    settings = {"confidence": "auto", "n_draws": 20, "n_burn": 10}
    X, whole = small_features(), small_model(**settings).fit(small_features(), SHARES, groups=GROUPS)
    small_model(**settings).fit(X, SHARES, groups=GROUPS, **how)
    again = small_model(**settings).fit(X, SHARES, groups=GROUPS, resume=True, **how)
    np.testing.assert_array_equal(again.posterior_.confidence, whole.posterior_.confidence)


@pytest.mark.parametrize("settings", [{"group_effects": True}, {"context": True}, {"n_replicas": 3}])
def test_it_goes_with_other_components(settings):
    settings = {"confidence": "auto", "n_draws": 10, "n_burn": 10, **settings}
    model = small_model(**settings).fit(small_features(), SHARES, groups=GROUPS)
    assert {"individual", "report"} <= set(model.posterior_.scales)
    assert np.isfinite(model.predict_proba(small_features(), groups=GROUPS)).all()
    assert np.isfinite(model.score(small_features(), SHARES, groups=GROUPS))


def test_only_some_reports_may_be_learned():
    mixed = {**SHARES, "A": dg.evidence.Fraction(0.7, "auto"), "B": dg.evidence.Count(2)}
    model = small_model(n_draws=10, n_burn=10).fit(small_features(), mixed, groups=GROUPS)
    assert model.posterior_.confidence is not None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"confidence": "much"}, "auto"),
        ({"confidence": "auto", "prior": "spike_slab"}, "spike_slab"),
    ],
)
def test_settings_that_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        small_model(**settings).fit(small_features(), SHARES, groups=GROUPS)


def test_more_than_two_outcomes_are_refused():
    shares = {name: {"a": 0.2, "b": 0.3, "c": 0.5} for name in "ABCD"}
    with pytest.raises(ValueError, match='confidence="auto" is not yet supported for shares that name outcomes'):
        small_model(confidence="auto").fit(small_features(), shares, groups=GROUPS)


def test_the_command_line_learns_it(tmp_path, capsys):
    people = pd.DataFrame(small_features(), columns=["x", "z"]).assign(g=GROUPS)
    people.to_csv(tmp_path / "people.csv", index=False)
    pd.DataFrame({"g": list(SHARES), "share": list(SHARES.values())}).to_csv(tmp_path / "results.csv", index=False)
    files = [str(tmp_path / name) for name in ("people.csv", "results.csv", "m.dgz")]
    short = ["--draws", "20", "--burn", "20", "--chains", "2", "--kernel", "linear", "--json"]
    reported = ["--group", "g", "--share", "share", "--confidence", "auto", "-o", files[2]]
    assert main(["fit", *files[:2], *reported, *short]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"]
    assert dg.load(files[2]).classifier.posterior_.confidence is not None
