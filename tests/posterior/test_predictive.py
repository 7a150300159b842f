"""Reports that the model would produce pass; reports that it would not are noticed, with the group."""

import numpy as np
import pytest
from scipy.special import ndtr

import disaggregate as dg
from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Count, Fraction, Population, Unknown
from disaggregate.posterior.predictive import check_reports
from tests.helpers.small import small_model

N_GROUPS, SIZE = 30, 12
GROUPS = np.repeat(np.arange(N_GROUPS), SIZE)


class KnownScores:
    """A posterior that knows f, but for a little noise."""

    has_places = False
    log_confidence = None

    def __init__(self, f, rng):
        self.shape = (2, 150)
        self.delta2 = np.ones(self.shape)
        self._f, self._rng = f, rng

    def scores(self, X):
        return self._f[X[:, 0].astype(int)] + 0.01 * self._rng.standard_normal((300, len(X)))


@pytest.fixture
def f(rng):
    return rng.standard_normal(N_GROUPS * SIZE)


def p_value(f, reports, rng, weights=None):
    data = group_rows(GROUPS.tolist(), reports, weights)
    X = np.arange(len(f), dtype=float)[:, None]
    return check_reports(KnownScores(f, rng), X, data)


def shares_of(labels, weights=None):
    weights = np.ones(len(labels)) if weights is None else weights
    return np.bincount(GROUPS, weights * labels) / np.bincount(GROUPS, weights)


@pytest.mark.parametrize("kind", ["counts", "fractions", "weighted"])
def test_reports_of_the_model_itself_have_uniform_p_values(kind, f, rng):
    weights = rng.integers(1, 4, len(f)).astype(float) if kind == "weighted" else None
    found = []
    for _ in range(80):
        share = shares_of(rng.random(len(f)) < ndtr(f), weights)
        if kind == "counts":
            reports = {g: Count(round(SIZE * s)) for g, s in enumerate(share)}
        else:
            noisy = rng.beta(50 * share + 1, 50 * (1 - share) + 1)
            reports = {g: Fraction(s, 50.0) for g, s in enumerate(noisy)}
        found.append(p_value(f, reports, rng, weights).p_value)
    assert abs(np.mean(found) - 0.5) < 4 * np.std(found) / np.sqrt(len(found))
    assert 0.2 < np.std(found) < 0.38  # that of a uniform variable is 0.29


def test_groups_that_differ_in_more_than_features_are_noticed(f, rng):
    shift = np.repeat(1.5 * rng.standard_normal(N_GROUPS), SIZE)
    share = shares_of(rng.random(len(f)) < ndtr(f + shift))
    found = p_value(f, {g: Fraction(s) for g, s in enumerate(share)}, rng)
    assert found.is_surprising
    assert np.corrcoef(found.surprise, shift[::SIZE])[0, 1] > 0.7


def test_one_wrong_report_is_named(f, rng):
    share = shares_of(rng.random(len(f)) < ndtr(f))
    share[7] = 0.0 if share[7] > 0.5 else 1.0
    found = p_value(f, {g: Fraction(s) for g, s in enumerate(share)}, rng)
    assert found.groups[int(np.argmax(np.abs(found.surprise)))] == 7


def test_an_intercept_of_each_group_leaves_nothing_to_check(f, rng, monkeypatch):
    reports = {g: Fraction(s) for g, s in enumerate(shares_of(rng.random(len(f)) < ndtr(f)))}
    assert len(p_value(f, reports, rng).groups) == N_GROUPS
    monkeypatch.setattr(KnownScores, "has_places", True)
    assert np.isnan(p_value(f, reports, rng).p_value)


def test_groups_that_report_no_share_of_their_own_people_are_left_out(f, rng):
    reports = {g: (Unknown(), AtLeast(1), Population(0.4))[g % 3] for g in range(N_GROUPS)}
    found = p_value(f, reports, rng)
    assert np.isnan(found.p_value)
    assert not found.is_surprising
    assert found.groups == ()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_verdict_names_what_the_model_cannot_explain(rng, tmp_path):
    """The same people in every group, and shares that have nothing to do with them."""
    X = np.tile(rng.standard_normal((20, 1)), (10, 1))
    groups, shares = np.repeat(np.arange(10), 20), dict(enumerate([0.1, 0.9] * 5))
    model = small_model(kernel="linear", n_draws=100).fit(X, shares, groups=groups)
    assert model.diagnostics_.reports.is_surprising
    assert "The model explains the reports badly" in model.diagnostics_.verdict
    assert "(p = 0;" not in model.diagnostics_.verdict
    model.save(tmp_path / "m.dgz")
    again = dg.load(tmp_path / "m.dgz").diagnostics_.reports
    np.testing.assert_array_equal(again.surprise, model.diagnostics_.reports.surprise)
    fine = small_model(kernel="linear", n_draws=100).fit(X, dict.fromkeys(shares, 0.5), groups=groups)
    assert "explains the reports badly" not in fine.diagnostics_.verdict
