"""From modes to single replicas to ladders: which way a fit takes, and that it says why."""

import signal
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate import GaussianProcess, GroupStatsClassifier
from disaggregate.fitting import escalation
from disaggregate.fitting.escalation import lengths_for, unclear_kernels
from disaggregate.posterior.bridge import bridge_evidence
from disaggregate.posterior.log_evidence import LogEvidence
from tests.helpers.short_pilots import shorten_pilots

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.full_pilots,  # which way a fit takes is decided by what comes before the chains
]

SHORT = {
    "n_chains": 4,
    "n_draws": 150,
    "n_burn": 60,
    "random_state": 0,
    "kernel": "linear",
    "prior": GaussianProcess(emphasis=1.0),
}


def mirror_images(n_groups=10, size=20, seed=0):
    """Groups in which everybody has a mirror image: reports do not show whether the left or right is positive."""
    rng = np.random.default_rng(seed)
    right = rng.standard_normal((n_groups * size // 2, 2))
    X = np.concatenate([right, right * [-1.0, 1.0]])
    groups = np.tile(np.arange(len(right)) % n_groups, 2)
    y = X[:, 0] > 0.3
    return X, {k: y[groups == k].mean() for k in range(n_groups)}, groups


def test_groups_of_mirror_images_take_the_ladder_and_tell_no_side():
    X, shares, groups = mirror_images()
    model = GroupStatsClassifier(**{**SHORT, "n_draws": 500}).fit(X, shares, groups=groups)
    ladder = model.diagnostics_.ladder
    assert ladder.is_ladder
    assert "modes of comparable weight" in ladder.reason
    assert f"a ladder of replicas, because {ladder.reason}" in model.diagnostics_.verdict
    both_sides = model.predict_proba(np.array([[1.5, 0.0], [-1.5, 0.0]]))[:, 1]
    assert np.all((both_sides > 0.2) & (both_sides < 0.8))  # near 0 and 1 in each of the two modes
    alone = GroupStatsClassifier(**SHORT, n_replicas=1).fit(X, shares, groups=groups)
    assert alone.diagnostics_.worst_rhat > 1.4 > model.diagnostics_.worst_rhat


@pytest.fixture
def blind_trials(monkeypatch):
    """Let searches and trials see nothing, so that single chains end in different modes."""
    monkeypatch.setattr(escalation, "distinct_modes", lambda data, modes: modes[:1])
    monkeypatch.setattr(escalation, "AGREE", np.inf)


@pytest.mark.usefixtures("blind_trials")
def test_single_chains_that_disagree_at_their_end_are_run_again_as_ladders(tmp_path):
    X, shares, groups = mirror_images()

    def fit(**how):
        model = GroupStatsClassifier(**{**SHORT, "n_draws": 200, "n_burn": 50}, **how)
        return model.fit(X, shares, groups=groups, checkpoint=tmp_path / f"{len(how)}.dgc")

    model = fit()
    ladder = model.diagnostics_.ladder
    assert ladder.is_ladder
    assert "single chains did not agree at their end (R-hat" in ladder.reason
    assert np.isfinite(model.log_evidence_.value)
    assert model.diagnostics_.worst_rhat < 1.4
    assert_array_equal(model.predict_draws(X), fit(n_jobs=1).predict_draws(X))
    resumed = GroupStatsClassifier(**{**SHORT, "n_draws": 200, "n_burn": 50})
    resumed.fit(X, shares, groups=groups, checkpoint=tmp_path / "0.dgc", resume=True)
    assert_array_equal(model.predict_draws(X), resumed.predict_draws(X))


@pytest.mark.usefixtures("blind_trials")
def test_an_interrupt_before_the_first_draw_of_ladders_costs_no_draw_of_single_chains():
    X, shares, groups = mirror_images()
    stages = []

    def interrupts_the_second_tuning(n_done, n_sweeps, what):
        if n_done == 0:
            stages.append(what)
        if stages[-2:] == ["sampling", "tuning"] and n_done == 0:
            signal.raise_signal(signal.SIGINT)

    model = GroupStatsClassifier(**{**SHORT, "n_draws": 200}, progress=interrupts_the_second_tuning, n_jobs=1)
    with pytest.warns(UserWarning, match="interrupt"):
        model.fit(X, shares, groups=groups)
    assert stages == ["tuning", "sampling", "tuning", "sampling"]
    assert model.posterior_.shape == (4, 200)
    assert not model.diagnostics_.ladder.is_ladder


def test_many_small_groups_need_no_ladder_and_the_evidence_is_known():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((160, 2))
    groups = np.arange(160) // 4
    y = X[:, 0] > 0.2
    shares = {k: y[groups == k].mean() for k in range(40)}
    model = GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    ladder = model.diagnostics_.ladder
    assert not ladder.is_ladder
    assert ladder.swap_rates.shape == (0,)
    assert "starts agreed" in ladder.reason
    assert "a single replica, because" in model.diagnostics_.verdict
    asked_for = GroupStatsClassifier(**SHORT, n_replicas=6).fit(X, shares, groups=groups)
    assert asked_for.diagnostics_.ladder.reason == ""
    error = 5.0 * (model.log_evidence_.std_error + asked_for.log_evidence_.std_error)
    assert_allclose(model.log_evidence_.value, asked_for.log_evidence_.value, atol=0.3 + error)


class NormalTarget:
    """A normal density around 1 with a known normaliser, and the log scale of a prior that is normal, too."""

    components = SimpleNamespace(priors=np.zeros((1, 4)))

    def __init__(self, precision, log_evidence):
        self.precision, self.log_evidence = precision, log_evidence

    def evaluate(self, position, rungs):
        away = position - 1.0
        _, log_determinant = np.linalg.slogdet(self.precision)
        # One coordinate is a log scale, whose density has 2 pi in it; those of weights leave it out.
        top = self.log_evidence + 0.5 * log_determinant - 0.5 * np.log(2.0 * np.pi)
        return 0.5 * np.einsum("ni,ij,nj->n", away, self.precision, away) - top, -away @ self.precision

    def curvature(self, position, rungs):
        return np.stack([self.precision] * len(position))


@pytest.mark.parametrize("misjudged", [1.0, 1.3])
def test_a_bridge_finds_the_normaliser_of_a_normal_density(misjudged):
    rng = np.random.default_rng(2)
    half = rng.standard_normal((3, 5))
    precision = half.T @ half + np.eye(5)
    target = NormalTarget(precision, log_evidence=-7.0)
    noise = rng.standard_normal((4, 200, 5))
    draws = 1.0 + noise @ np.linalg.inv(np.linalg.cholesky(precision))
    target.curvature = lambda position, rungs: np.stack([misjudged * precision] * len(position))
    found = bridge_evidence(target, draws, 2.0, rng)
    exact = misjudged == 1.0
    assert_allclose(found.value, -5.0, atol=1e-6 if exact else max(5.0 * found.std_error, 0.02))
    assert found.std_error < (1e-6 if exact else 0.1)


def evidence(*pairs):
    return [LogEvidence(*pair) for pair in pairs]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (evidence((0.0, 0.1), (-1.0, 0.2)), []),  # both are known well
        (evidence((0.0, 0.1), (-1.0, 0.9)), [1]),
        (evidence((0.0, np.nan), (-1.0, np.nan)), [0, 1]),
        (evidence((0.0, 0.1), (-6.0, 0.9)), []),  # not in the running, whatever its error
        (evidence((0.0, 0.9), (-6.0, 0.1)), []),  # no rival
        (evidence((0.0, 0.1), (-np.inf, np.nan)), [1]),
    ],
)
def test_a_ladder_decides_near_ties_of_uncertain_evidence(known, expected):
    assert unclear_kernels(known, np.log([0.5, 0.5]), [0, 1]) == expected


def test_a_kernel_that_only_trials_bring_back_is_tried_too(monkeypatch):
    """Modes may promise the best kernel more than its trial finds, so that one that seemed negligible counts."""
    shorten_pilots(monkeypatch)
    monkeypatch.setattr(escalation, "NEGLIGIBLE", 0.0)  # at first, the best one alone
    monkeypatch.setattr(escalation, "distinct_modes", lambda data, modes: modes[:1])
    tried = []

    def disappointing(*trial):
        tried.append(trial)
        return LogEvidence(-100.0, 0.1)

    monkeypatch.setattr(escalation, "bridge_evidence", disappointing)
    X, shares, groups = mirror_images(4, 4)
    quick = {**SHORT, "n_draws": 20, "n_burn": 10, "n_chains": 2, "n_jobs": 1}
    model = GroupStatsClassifier(**{**quick, "kernel": "auto", "gamma": 1.0}).fit(X, shares, groups=groups)
    assert len(tried) == 2
    assert [kernel.log_evidence.value for kernel in model.diagnostics_.kernels] == [-100.0, -100.0]
    assert len(model.posterior_.parts) == 2


def test_short_chains_shorten_what_goes_before_them():
    def lengths(n_sweeps):
        return lengths_for(SimpleNamespace(schedule=SimpleNamespace(n_sweeps=n_sweeps)))

    usual, quick = lengths(2000), lengths(70)
    assert (usual.n_draws, usual.n_compared) == (40, 240)
    assert (quick.n_draws, quick.n_compared) == (10, 35)
