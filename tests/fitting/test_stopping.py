"""Draws in rounds: until they are enough, within the budget, and the same after an interruption."""

from types import SimpleNamespace

import numpy as np
import pytest

import disaggregate.estimator as estimator
from disaggregate.posterior import stopping
from disaggregate.posterior.stopping import missing_draws, more_draws
from tests.helpers.interrupted_fits import TOWN, Killed, assert_same, fit, killed_after
from tests.helpers.small import small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch):
    monkeypatch.setattr(estimator, "FIRST", 30)
    monkeypatch.setattr(estimator, "BURN", 20)
    monkeypatch.setattr(stopping, "BUDGET", 100)


def auto(**settings):
    return small_model(**{"n_draws": "auto", "n_burn": "auto", "n_replicas": 1, **settings})


def want(monkeypatch, n_effective, rhat=np.inf):
    monkeypatch.setattr(stopping, "ENOUGH", n_effective)
    monkeypatch.setattr(stopping, "AGREE", rhat)


def test_rounds_double_at_most_within_the_budget():
    assert [more_draws(n) for n in (30, 60, 100, 130)] == [30, 40, 0, 0]


def test_rounds_are_as_long_as_needed():
    assert [more_draws(40, n_missing) for n_missing in (0.0, 1.0, 25.5, 50.0)] == [0, 10, 26, 40]


def of_draws(monkeypatch, worst, fewest, shape=(4, 250)):
    monkeypatch.setattr(stopping, "agreement", lambda posterior, X: (worst, fewest))
    return missing_draws(SimpleNamespace(shape=shape), None)


def test_draws_are_missing_for_the_effective_number_or_for_agreement(monkeypatch):
    assert of_draws(monkeypatch, 1.01, 400.0) == 0.0
    assert of_draws(monkeypatch, 1.005, 200.0) == pytest.approx(250.0)
    assert of_draws(monkeypatch, 1.03, 4000.0) == pytest.approx(500.0)
    assert of_draws(monkeypatch, 1.03, 4000.0, shape=(1, 250)) == 0.0  # nobody to agree with
    assert of_draws(monkeypatch, np.nan, 4000.0) == np.inf


def test_the_verdict_and_the_rounds_look_at_the_same(monkeypatch):
    want(monkeypatch, 1.0)
    model = fit(auto())
    found = stopping.agreement(model.posterior_, TOWN.X)
    assert found == (model.diagnostics_.worst_rhat, model.diagnostics_.fewest_effective)


@pytest.mark.parametrize("settings", [{}, {"prior": "spike_slab"}, {"kernel": "auto", "gamma": "auto"}])
def test_draws_are_added_until_they_are_enough(settings, monkeypatch):
    want(monkeypatch, 1.0)
    assert fit(auto(**settings)).posterior_.shape[1] == 30
    want(monkeypatch, np.inf)
    assert fit(auto(**settings)).posterior_.shape[1] == 100


def test_chains_that_disagree_go_on(monkeypatch):
    want(monkeypatch, 1.0, rhat=1.0 + 1e-9)
    assert fit(auto()).posterior_.shape[1] == 100


@pytest.mark.parametrize("n_writes", [2, 3, 4])
def test_a_killed_fit_goes_on_to_the_same_draws(n_writes, tmp_path, monkeypatch):
    want(monkeypatch, np.inf)
    whole = fit(auto(kernel="auto", gamma="auto"))
    path = tmp_path / "run.dgc"
    with monkeypatch.context() as patch:
        killed_after(n_writes, patch)
        with pytest.raises(Killed):
            fit(auto(kernel="auto", gamma="auto"), checkpoint=path)
    assert_same(fit(auto(kernel="auto", gamma="auto"), checkpoint=path, resume=True), whole)


def test_a_warm_start_adds_a_round(monkeypatch):
    want(monkeypatch, 1.0)
    model = fit(auto())
    model.fit(TOWN.X, TOWN.shares, groups=TOWN.groups, warm_start=True)
    assert model.posterior_.shape[1] == 60


@pytest.mark.parametrize("name", ["n_draws", "n_burn"])
def test_other_words_are_refused(name):
    with pytest.raises(ValueError, match=f'{name} must be .* or "auto"'):
        fit(small_model(**{name: "some"}))
