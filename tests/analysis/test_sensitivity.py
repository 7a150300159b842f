"""Fits under other choices: each changes what it says and nothing else; shifts are from the fit as it is."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import disaggregate as dg
from disaggregate.analysis.sensitivity import (
    CHANGES,
    _fitted_again,
    _settings,
    changes_of,
    subgroup_sensitivity,
)
from disaggregate.evidence import Count, Fraction, Population
from disaggregate.groups import group_rows
from disaggregate.groups.context import Context
from disaggregate.model.priors import inverse_gamma
from disaggregate.settings import as_prior
from disaggregate.tables.problems import TableError
from tests.helpers.two_tables import SETTINGS, make_tables

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ROLES = {"group": "district", "share": "share", "weight": "w", "ignore": ["yes", "all"]}


@pytest.fixture(scope="module")
def tables():
    people, results, _ = make_tables(n_groups=8)
    people.loc[7, "w"] = 0.0  # who does not count is no part of the fit
    return people, results


@pytest.fixture(scope="module")
def analysis(tables):
    return dg.fit_tables(*tables, settings={**SETTINGS, "n_draws": 3000, "n_burn": 500}, **ROLES)


@pytest.fixture(scope="module")
def table(analysis, tables):
    return subgroup_sensitivity(analysis, tables[0], ["sex", ["sex", "place"]], ["trust", "strong"])


def test_the_fit_as_it_is_comes_first(analysis, tables, table):
    assert list(dict.fromkeys(table["change"])) == ["as it is", CHANGES["trust"], CHANGES["strong"]]
    first = table[table["change"] == "as it is"]
    assert first["by"].tolist() == ["everybody", "sex", "sex", *["sex, place"] * 4]
    assert first["subgroup"].tolist()[:4] == ["everybody", "f", "m", "f, land"]
    assert (first["shift"] == 0.0).all()
    assert_allclose(first["estimate"].iloc[1:3], analysis.subgroups(tables[0], "sex")["estimate"])


def test_shifts_are_counted_in_standard_errors_of_that_fit(table):
    first, trust, strong = (rows.reset_index(drop=True) for _, rows in table.groupby("change", sort=False))
    for other in (trust, strong):
        assert_allclose(other["shift"], other["estimate"] - first["estimate"], atol=1e-12)
        assert_allclose(other["shift_in_std_errors"], other["shift"] / first["std_error"])
        assert other["shift"].abs().max() > 0.001
    # Shares that may be off by 0.1 leave more open.
    assert trust["std_error"][0] > 1.5 * first["std_error"][0]


def test_each_change_reaches_the_fit(analysis, tables):
    counted = tables[0][tables[0]["w"] > 0]
    settings = {change: _fitted_again(analysis, counted, change, 10, False).classifier for change in CHANGES}
    assert {change: as_prior(fitted.prior).nu for change, fitted in settings.items()} == {
        "trust": None,
        "linear": None,
        "rbf": None,
        "weak": pytest.approx(15.0 / 4.0),
        "strong": pytest.approx(60.0),
        "context": None,
        "no_context": None,
    }
    assert [settings[name].context for name in ("context", "no_context", "rbf")] == [True, False, False]
    assert [as_prior(settings[name].prior).mu for name in ("rbf", "weak", "strong")] == [None, 3.0, 3.0]
    assert [settings[name].kernel for name in ("rbf", "weak")] == ["rbf", "linear"]
    assert {known.confidence for known in settings["trust"]._data.evidence} == {25.0}
    assert {known.confidence for known in settings["strong"]._data.evidence} == {1000.0}
    assert settings["rbf"].posterior_.shape == (2, 10)
    assert (settings["rbf"]._data.units == analysis.classifier._data.units).all()


def test_trust_is_only_lowered_where_a_share_is_reported():
    assert Population(0.3, size=900).trusted_less(10.0, 4.0) == Population(0.3, size=900)
    assert Fraction(0.3, 40.0).trusted_less(10.0, 4.0) == Fraction(0.3, 10.0)
    assert Count(3).trusted_less(10.0, 4.0) == Count(3)


def test_effects_are_weaker_and_stronger_than_the_fit_expects(analysis):
    """Where rows are samples, a fit expects less of features than elsewhere."""
    sampled = copy.copy(analysis.classifier)
    sampled._data = group_rows(["a", "b"], {"a": Population(0.3), "b": Population(0.6)})
    usual = as_prior(sampled.prior).component_priors(of_places=True)["individual"].median
    found = [_settings(replace(analysis, classifier=sampled), change) for change in ("weak", "strong")]
    medians = [inverse_gamma(setting["prior"].mu, setting["prior"].nu).median for setting in found]
    assert_allclose(medians, [usual / 4.0, usual * 4.0])


def test_what_would_change_nothing_is_not_offered(analysis, tables):
    sampled = copy.copy(analysis.classifier)
    sampled._data = group_rows(["a", "b"], {"a": Population(0.3), "b": Population(0.6)})
    sampled.context_ = Context(("a", "b"), np.zeros((2, 1)), np.zeros(1), 1.0)
    sampled.kernel = "auto"  # the linear one, where rows are samples
    of_sample = changes_of(replace(analysis, classifier=sampled))
    assert of_sample == ["rbf", "weak", "strong", "no_context"]
    assert changes_of(analysis) == ["trust", "rbf", "weak", "strong", "context"]
    with pytest.raises(ValueError, match="trust, rbf, weak, strong, context; 'linear' is not one of them"):
        subgroup_sensitivity(analysis, tables[0], ["sex"], ["linear"])


def test_a_saved_model_is_enough(analysis, tables, table, tmp_path):
    analysis.save(tmp_path / "m.dgz")
    tables[0].to_csv(tmp_path / "people.csv", index=False)
    loaded = dg.load(tmp_path / "m.dgz")
    twin = subgroup_sensitivity(loaded, tmp_path / "people.csv", ["sex"], ["trust"])
    same = table[table["by"].isin(["everybody", "sex"]) & table["change"].isin(["as it is", CHANGES["trust"]])]
    assert_allclose(twin["estimate"], same["estimate"], atol=1e-6)


def test_other_people_are_refused(analysis, tables):
    with pytest.raises(TableError, match="not the people of the fit: it had 159 in 8 groups"):
        subgroup_sensitivity(analysis, tables[0].iloc[::-1], ["sex"])
    with pytest.raises(TableError, match="no column 'hair'"):
        subgroup_sensitivity(analysis, tables[0], ["hair"])


def test_few_people_and_anonymised_models_tell_nothing(analysis, tables):
    rows = subgroup_sensitivity(analysis, tables[0], ["sex"], ["weak"], n_draws=5, min_group_size=100)
    assert rows["estimate"].notna().tolist() == [True, False, False] * 2
    nobody = copy.copy(analysis.classifier)
    del nobody.label_proba_
    with pytest.raises(TableError, match="was anonymised"):
        subgroup_sensitivity(replace(analysis, classifier=nobody), tables[0], ["sex"])


def test_an_interrupt_ends_it(analysis, tables, monkeypatch):
    monkeypatch.setattr(dg.GroupStatsClassifier, "stopped_early_", property(lambda self: "stopped"))
    with pytest.raises(KeyboardInterrupt):
        subgroup_sensitivity(analysis, tables[0], ["sex"], ["weak"])


def test_progress_says_which_fit(analysis, tables, capsys):
    subgroup_sensitivity(analysis, tables[0], ["sex"], ["weak"], n_draws=5, progress=True)
    assert "1 of 1: weaker effects expected" in capsys.readouterr().err
