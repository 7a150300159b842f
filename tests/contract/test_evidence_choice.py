"""The evidence: which kernels it favours, and what it says of data that tell nothing."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp, ndtr

from disaggregate import GaussianProcess, GroupStatsClassifier, published_settings
from disaggregate.datasets import make_districts
from disaggregate.fitting.kernels import kernel_weights

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SHORT = {"n_chains": 2, "n_draws": 200, "n_burn": 100, "random_state": 0}


def grouped(label, n_groups=30, size=8, seed=0, n_features=2):
    """People in random groups, and the share of positives of each."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_groups * size, n_features))
    y = label(X, rng)
    groups = np.arange(len(X)) % n_groups
    return X, pd.Series(y).groupby(groups).mean(), groups, y


def test_a_ring_needs_a_curved_kernel():
    X, shares, groups, y = grouped(lambda X, rng: (X**2).sum(axis=1) < 1.4)
    model = GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    line, emphasised, *curves = model.diagnostics_.kernels
    assert (line.kernel, line.emphasis, line.weight) == ("linear", 1.0, 0.0)
    assert (emphasised.kernel, emphasised.emphasis, emphasised.weight) == ("linear", 2.0, 0.0)
    assert len(curves) == 3
    assert sum(curve.weight for curve in curves) == pytest.approx(1.0)
    assert {part.basis.kernel.name for part in model.posterior_.parts} == {"rbf"}
    assert np.mean(model.predict(X) == y) > 0.8
    assert max(curve.log_evidence.value for curve in curves) > line.log_evidence.value + np.log(3.0)


def test_a_straight_border_needs_none():
    X, shares, groups, y = grouped(lambda X, rng: X @ [1.0, -1.0, 0.5, 0.0, 0.0] > 0.3, n_features=5)
    model = GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    line, emphasised, *curves = model.diagnostics_.kernels
    assert line.weight + emphasised.weight > 0.5
    assert max(line.weight, emphasised.weight) > max(curve.weight for curve in curves)
    assert model.posterior_.parts[0].basis.kernel.name == "linear"
    assert np.mean(model.predict(X) == y) > 0.85
    assert "more than the base rate" in model.diagnostics_.verdict
    assert model.diagnostics_.ladder.gain > 3.0


def test_reports_that_tell_nothing_leave_the_base_rate():
    X, shares, groups, _ = grouped(lambda X, rng: rng.random(len(X)) < 0.3, n_groups=6, size=30)
    model = GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    assert "say little beyond the base rate" in model.diagnostics_.verdict
    base = shares.mean()
    assert np.abs(model.predict_proba(X)[:, 1].mean() - base) < 0.05
    assert np.median(np.abs(model.predict_proba(X)[:, 1] - base)) < 0.2
    low, high = model.predict_interval(X).T
    assert np.median(high - low) > 0.3


def test_evidence_prefers_the_kernel_of_the_data_by_the_same_margin_in_short_and_long_runs():
    X, shares, groups, _ = grouped(lambda X, rng: (X**2).sum(axis=1) < 1.4)
    chosen = GroupStatsClassifier(prior=GaussianProcess(emphasis=2.0), **SHORT).fit(X, shares, groups=groups)
    curve, line = (
        GroupStatsClassifier(kernel=kernel, gamma="scale", prior=GaussianProcess(emphasis=2.0), **SHORT)
        .fit(X, shares, groups=groups)
        .log_evidence_
        for kernel in ("rbf", "linear")
    )
    short = {k.kernel: k.log_evidence for k in chosen.diagnostics_.kernels[:3]}
    by_gamma = {k.gamma: k.log_evidence for k in chosen.diagnostics_.kernels[1:]}
    scale = sorted(by_gamma)[1]
    assert np.isnan(short["linear"].std_error)  # hopeless, as its mode has settled
    error = 5.0 * (curve.std_error + line.std_error + by_gamma[scale].std_error)
    assert abs((curve.value - line.value) - (by_gamma[scale].value - short["linear"].value)) < error + 0.5


def test_without_a_ladder_there_is_no_evidence():
    town = make_districts(random_state=0)
    for settings in ({"n_replicas": 1, "kernel": "rbf"}, {"prior": "spike_slab", "kernel": "rbf"}):
        model = GroupStatsClassifier(**{**SHORT, **settings}).fit(town.X, town.shares, groups=town.groups)
        assert not hasattr(model, "log_evidence_")
        assert model.diagnostics_.ladder is None
        with pytest.raises(AttributeError, match="n_replicas=8"):
            model.log_evidence_  # noqa: B018


def test_the_paper_compares_no_kernels():
    town = make_districts(random_state=0)
    model = GroupStatsClassifier(**{**published_settings(), "n_draws": 50, "n_burn": 50, "random_state": 0})
    model.fit(town.X, town.shares, groups=town.groups)
    assert model.diagnostics_.kernels == []


def test_the_ladder_can_be_given_its_length():
    town = make_districts(random_state=0)
    model = GroupStatsClassifier(n_replicas=7, kernel="rbf", **SHORT).fit(town.X, town.shares, groups=town.groups)
    assert len(model.diagnostics_.ladder.powers) == 7
    assert len(model.diagnostics_.ladder.swap_rates) == 6
    assert "7 replicas per chain" in model.diagnostics_.verdict


def test_draws_are_shared_among_kernels_by_their_weights():
    X, shares, groups, _ = grouped(
        lambda X, rng: rng.random(len(X)) < 0.3 + 0.4 * (X[:, 0] > 0), n_groups=6, size=20
    )
    model = GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    weights = [score.weight for score in model.diagnostics_.kernels if score.weight > 0.0]
    assert len(weights) == len(model.posterior_.parts) > 1
    n_draws = [part.shape[1] for part in model.posterior_.parts]
    assert sum(n_draws) == SHORT["n_draws"]
    assert_allclose(n_draws, np.multiply(weights, SHORT["n_draws"]), atol=1.0)
    by_part = [ndtr(part.scores(X)).mean(axis=0) for part in model.posterior_.parts]
    assert_allclose(model.predict_proba(X)[:, 1], np.average(by_part, axis=0, weights=n_draws), rtol=1e-12)
    assert np.all((model.label_proba_ >= 0.0) & (model.label_proba_ <= 1.0))
    implied = model.group_table()["implied"]
    assert_allclose(implied, pd.Series(model.label_proba_).groupby(groups).mean(), atol=1e-12)


def test_the_evidence_is_averaged_over_kernels():
    X, shares, groups, _ = grouped(lambda X, rng: X[:, 0] > 0, n_groups=8, size=6)
    model = GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    scores = model.diagnostics_.kernels
    expected = logsumexp([np.log(score.prior) + score.log_evidence.value for score in scores])
    assert sum(score.prior for score in scores) == pytest.approx(1.0)
    assert model.log_evidence_.value == pytest.approx(expected, abs=0.5)  # short runs against longer ones
    assert model.log_evidence_.std_error < 0.3


def test_sparse_weights_take_the_most_probable_kernel():
    X, shares, groups, _ = grouped(lambda X, rng: (X**2).sum(axis=1) < 1.4)
    model = GroupStatsClassifier(prior="spike_slab", **SHORT).fit(X, shares, groups=groups)
    best = max(model.diagnostics_.kernels, key=lambda score: score.weight)
    assert len(model.posterior_.parts) == 1
    assert model.posterior_.parts[0].basis.kernel.name == best.kernel == "rbf"
    assert model.posterior_.parts[0].basis.kernel.gamma == best.gamma


def test_reports_that_favour_no_kernel_leave_the_prior():
    prior = np.array([0.5, 0.3, 0.2])
    assert_allclose(kernel_weights(np.full(3, -7.0), prior), prior)


def test_kernels_of_little_weight_are_left_out():
    weights = kernel_weights(np.array([0.0, 4.0, 4.0 + np.log(2.0)]), np.array([4.0, 2.0, 1.0]) / 7.0)
    assert_allclose(weights, [0.0, 0.5, 0.5])
