"""The evidence: which kernel it chooses, and what it says of data that tell nothing."""

import numpy as np
import pandas as pd
import pytest

from disaggregate import GroupStatsClassifier, published_settings
from disaggregate.choice import _simplest_good
from disaggregate.datasets import make_districts

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
    assert model.posterior_.basis.kernel.name == "rbf"
    assert np.mean(model.predict(X) == y) > 0.8
    scores = {(k.kernel, round(k.gamma, 6)): k.log_evidence.value for k in model.diagnostics_.kernels}
    assert len(scores) == 4
    chosen = scores["rbf", round(model.posterior_.basis.kernel.gamma, 6)]
    assert chosen > max(scores.values()) - np.log(3.0)
    assert chosen > next(iter(scores.values())) + np.log(3.0)


def test_a_straight_border_needs_none():
    X, shares, groups, y = grouped(lambda X, rng: X @ [1.0, -1.0, 0.5, 0.0, 0.0] > 0.3, n_features=5)
    model = GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    assert model.posterior_.basis.kernel.name == "linear"
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
    chosen = GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    curve, line = (
        GroupStatsClassifier(kernel=kernel, gamma="scale", **SHORT).fit(X, shares, groups=groups).log_evidence_
        for kernel in ("rbf", "linear")
    )
    short = {k.kernel: k.log_evidence for k in chosen.diagnostics_.kernels[:3]}
    by_gamma = {k.gamma: k.log_evidence for k in chosen.diagnostics_.kernels[1:]}
    scale = sorted(by_gamma)[1]
    error = 5.0 * (curve.std_error + line.std_error + short["linear"].std_error + by_gamma[scale].std_error)
    assert abs((curve.value - line.value) - (by_gamma[scale].value - short["linear"].value)) < error + 0.5


def test_without_a_ladder_there_is_no_evidence():
    town = make_districts(random_state=0)
    for settings in ({"n_replicas": 1, "kernel": "rbf"}, {"weights": "sparse", "kernel": "rbf"}):
        model = GroupStatsClassifier(**{**SHORT, **settings}).fit(town.X, town.shares, groups=town.groups)
        assert not hasattr(model, "log_evidence_")
        assert model.diagnostics_.ladder is None
        with pytest.raises(AttributeError, match="n_replicas=None"):
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
    assert "7 replicas a chain" in model.diagnostics_.verdict


@pytest.mark.parametrize(
    ("values", "chosen"),
    [([0.0, 1.0, 2.0], 1), ([0.0, 0.5, 1.0], 0), ([-9.0, 3.0, 2.5], 1), ([-9.0, 1.0, 2.5], 2)],
)
def test_a_simpler_kernel_wins_what_is_nearly_a_tie(values, chosen):
    assert _simplest_good(values) == chosen
