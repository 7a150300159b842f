"""What a fit offers hangs together."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning

import disaggregate as dg
from disaggregate.posterior import predictions
from tests.helpers.small import GROUPS, KINDS, SHARES, small_features, small_fit, small_model

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = small_features()
NEW = small_features(30, seed=1)


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return small_fit(kind, X, SHARES, GROUPS, n_chains=3)


def test_predictions_are_summaries_of_the_draws(fitted):
    draws = fitted.predict_draws(NEW)
    assert draws.shape == (3, 50, 30)
    assert_allclose(draws.reshape(150, 30), ndtr(fitted.posterior_.scores(NEW)), rtol=1e-12)
    probability = fitted.predict_proba(NEW)
    assert_allclose(probability[:, 1], draws.mean(axis=(0, 1)), rtol=1e-12)
    assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-15)
    assert_array_equal(fitted.predict(NEW), (probability[:, 1] > 0.5).astype(int))
    for level in (0.5, 0.9):
        expected = np.quantile(draws.reshape(150, 30), [0.5 - level / 2, 0.5 + level / 2], axis=0).T
        assert_allclose(fitted.predict_interval(NEW, level=level), expected, rtol=1e-12)
    assert_array_equal(fitted.predict_interval(NEW), fitted.predict_interval(NEW, level=0.9))


def test_pieces_do_not_show(fitted, monkeypatch):
    whole = fitted.predict_proba(NEW), fitted.predict_interval(NEW), fitted.predict_draws(NEW)
    monkeypatch.setattr(predictions, "VALUES_AT_ONCE", 150 * 7)
    pieces = fitted.predict_proba(NEW), fitted.predict_interval(NEW), fitted.predict_draws(NEW)
    for one, other in zip(whole, pieces, strict=True):
        assert_allclose(one, other, rtol=1e-12)


def test_group_table_agrees_with_the_labels(fitted, kind):
    counts = KINDS[kind].counts(len(X))
    people = np.ones(len(X)) if counts is None else counts
    # Of a population it is the share itself, and not that of its sample; which may be one person.
    apart = 0.15 if KINDS[kind].of_samples else 0.0
    table = fitted.group_table().set_index("group")
    assert table.index.tolist() == ["B", "A", "C", "D"]
    for group, share in SHARES.items():
        members = group == GROUPS
        assert table.loc[group, "n"] == people[members].sum()
        assert table.loc[group, "reported"] == share
        expected = np.average(fitted.label_proba_[members], weights=people[members])
        assert table.loc[group, "implied"] == pytest.approx(expected, rel=1e-12, abs=apart)
        # The mean of a few counts may lie beyond their quantiles, where nearly all of the mass is on the last one.
        low, high = table.loc[group, ["conf_low", "conf_high"]]
        slack = 0.1 / people[members].sum()
        assert low - slack <= table.loc[group, "implied"] <= high + slack


def test_score_of_groups_is_their_mean_log_likelihood(fitted):
    """By the draws of predict_draws alone: the count of a pair has three values."""
    if fitted.group_effects_ is not None:
        pytest.skip("members of a new group share its effect; see test_group_effects.py")
    pairs = np.repeat(np.arange(15), 2)
    evidence = {pair: (0.0, 0.5, 1.0)[pair % 3] for pair in range(15)}
    p = fitted.predict_draws(NEW, pairs).reshape(150, 15, 2)
    chance = np.stack([(1 - p).prod(axis=2), (p[..., ::-1] * (1 - p)).sum(axis=2), p.prod(axis=2)], axis=2)
    expected = []
    for pair in range(15):
        likelihood = np.exp(_fraction(evidence[pair]).log_likelihood(2))
        expected.append(np.log((chance[:, pair] @ likelihood).mean()))
    assert fitted.score(NEW, evidence, groups=pairs) == pytest.approx(np.mean(expected), rel=1e-9)


def _fraction(share):
    from disaggregate.groups.evidence import Fraction

    return Fraction(share, 1000.0)


def test_score_of_labels_is_accuracy(fitted):
    labels = np.arange(30) % 2
    hits = fitted.predict(NEW) == labels
    assert fitted.score(NEW, labels) == pytest.approx(hits.mean())
    weight = np.linspace(0.0, 1.0, 30)
    assert fitted.score(NEW, labels, sample_weight=weight) == pytest.approx(np.average(hits, weights=weight))


@quiet
def test_labels_given_the_group_know_more_than_predictions():
    """Group D has one member and a share of 0.9, so its label is all but sure; its features say less."""
    model = small_model().fit(X, {**SHARES, "D": 1.0}, groups=GROUPS)
    assert model.label_proba_[GROUPS == "D"] == 1.0
    assert model.predict_proba(X[GROUPS == "D"])[0, 1] < 1.0


def test_a_fit_that_cannot_be_trusted_warns_in_plain_words():
    with pytest.warns(ConvergenceWarning, match=r"do not agree|too few") as caught:
        model = small_model().fit(X, SHARES, groups=GROUPS)
    (warning,) = caught
    assert str(warning.message) == model.diagnostics_.verdict
    assert warning.filename == __file__
    assert not model.diagnostics_.converged


def test_a_fit_that_can_be_trusted_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = small_model(n_draws=1500, n_burn=200, centers=2, prior=dg.GaussianProcess(mu=100.0, nu=100.0)).fit(
            X, SHARES, groups=GROUPS
        )
    assert model.diagnostics_.converged
    assert "agree" in model.diagnostics_.verdict


def test_arviz_takes_a_fit(fitted):
    arviz_stats = pytest.importorskip("arviz_stats")
    tree = fitted.posterior_.to_datatree(X)
    n_parameters = 3 if fitted.posterior_.is_sparse else 1 + len(fitted.posterior_.scales)
    assert len(arviz_stats.summary(tree)) == n_parameters + len(X)
    assert_allclose(tree["posterior"]["probability"].mean(["chain", "draw"]), fitted.predict_proba(X)[:, 1])
    # Our own R-hat and effective draws are those of ArviZ.
    rhat, ess = arviz_stats.rhat(tree), arviz_stats.ess(tree)
    assert float(rhat["delta2"]) == pytest.approx(float(fitted.diagnostics_.rhat["delta2"]), rel=1e-6)
    assert float(ess["delta2"]) == pytest.approx(float(fitted.diagnostics_.ess_bulk["delta2"]), rel=1e-6)
