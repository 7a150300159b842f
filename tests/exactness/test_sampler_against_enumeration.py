"""On tiny data the classifier agrees with exact enumeration, within Monte Carlo error."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from disaggregate import GroupStatsClassifier, SpikeSlab
from disaggregate.basis import unit_columns
from disaggregate.groups import group_rows
from disaggregate.groups.evidence import (
    AtLeast,
    AtMost,
    Count,
    Evidence,
    Fraction,
    NoisyCount,
    RoundedCount,
    Survey,
    Unknown,
)
from disaggregate.sampler import selection as plain_selection
from disaggregate.sampler.ladder import SparseLadder
from disaggregate.sampler.model import Prior, SparseData, State, make_sparse_data
from disaggregate.sampler.starts import random_start
from tests.helpers.compiled_blocks import latent, products, scale, selection, weights
from tests.helpers.enumeration import ExactPosterior, exact_posterior
from tests.helpers.joint import Block

pytestmark = pytest.mark.full_pilots

N_CHAINS = 24
# About 25 quantities a case; errors come from the spread of the chains, so the tails are those of a t.
PASSES = 5.0


@dataclass(frozen=True)
class Case:
    """A tiny problem: up to a dozen individuals on a line, two or three centres."""

    reports: tuple[Evidence, ...]
    sizes: tuple[int, ...]
    centers: tuple[float, ...] = (-1.0, 1.2)
    intercept: bool = False
    prior: dict = field(default_factory=lambda: {"a": 1.0, "b": 1.0, "mu": 4.0, "nu": 16.0})
    n_draws: int = 600

    @property
    def X(self) -> np.ndarray:
        return np.random.default_rng(sum(self.sizes)).uniform(-2.0, 2.0, size=(sum(self.sizes), 1))

    @property
    def groups(self) -> list[int]:
        return np.repeat(np.arange(len(self.sizes)), self.sizes).tolist()


CASES = {
    "weak fractions": Case((Fraction(0.3, 5.0), Fraction(0.8, 5.0)), (5, 4)),
    "sharp fractions": Case((Fraction(0.7, 1000.0), Fraction(0.25, 1000.0)), (6, 4)),
    "pure groups": Case((Fraction(0.0), Fraction(1.0), Fraction(0.4, 50.0)), (3, 2, 4)),
    "intercept": Case((Fraction(0.6, 100.0), Fraction(0.2, 20.0)), (5, 6), intercept=True),
    "three centres": Case((Fraction(0.5, 30.0), Count(1)), (4, 5), centers=(-1.5, 0.1, 1.4)),
    "sparsity prior": Case(
        (Fraction(0.75, 200.0), Fraction(0.4, 200.0)),
        (4, 5),
        centers=(-1.5, 0.1, 1.4),
        prior={"a": 0.5, "b": 3.0, "mu": 6.0, "nu": 6.0},
    ),
    "mixed evidence": Case(
        (AtLeast(1), AtMost(1), Unknown(), Survey(1, 2), Fraction(0.3, 5.0), NoisyCount(1.3, 0.6)),
        (3, 2, 1, 2, 2, 2),
        intercept=True,
    ),
    "rounded counts": Case((RoundedCount(3, 3), RoundedCount(0, 3), RoundedCount(5, 5)), (5, 3, 4)),
    "labels": Case(tuple(Count(label) for label in (1, 0, 1, 1, 0)), (1, 1, 1, 1, 1)),
}


@cache
def enumerate_case(name: str) -> ExactPosterior:
    """Enumerate once what several tests are held against: it takes seconds."""
    case = CASES[name]
    centers = np.array(case.centers)[:, None]
    return exact_posterior(
        rbf_kernel(case.X, centers, gamma=0.5),
        case.sizes,
        [report.log_likelihood(n) for report, n in zip(case.reports, case.sizes, strict=True)],
        intercept=case.intercept,
        psi_new=rbf_kernel(new_people(), centers, gamma=0.5),
        **case.prior,
    )


def problem_of(case: Case, reports: tuple[Evidence, ...]) -> SparseData:
    """What a sweep reads, for a case without an intercept."""
    columns = unit_columns(rbf_kernel(np.array(case.centers)[:, None], case.X, gamma=0.5))[0]
    return make_sparse_data(columns, 0, group_rows(case.groups, dict(enumerate(reports))))


def new_people() -> np.ndarray:
    return np.array([[-2.5], [-0.5], [0.4], [1.0], [3.0]])


def fit_case(case: Case, latent: str, seed: int, **settings: int) -> GroupStatsClassifier:
    defaults = {"n_draws": case.n_draws * (16 if latent == "metropolis" else 1), "n_burn": 300}
    model = GroupStatsClassifier(
        kernel="rbf",
        gamma=0.5,
        centers=np.array(case.centers)[:, None],
        intercept=case.intercept,
        prior=SpikeSlab(latent=latent, **case.prior),
        n_chains=N_CHAINS,
        random_state=seed,
        **{**defaults, **settings},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(case.X, dict(enumerate(case.reports)), groups=case.groups)


def z_scores(model: GroupStatsClassifier, exact: ExactPosterior) -> dict[str, np.ndarray]:
    """How many standard errors the chains' average lies from the truth, for each quantity."""
    n_draws = model.posterior_.shape[1]
    by_chain = {
        "probability": (model.predict_draws(new_people()).mean(axis=1), exact.probability),
        "label": (model._fitted.label_sums / n_draws, exact.label_probability),
        "active": (model.posterior_.n_active.mean(axis=1)[:, None], [exact.mean_active]),
        "log scale": (np.log(model.posterior_.delta2).mean(axis=1)[:, None], [exact.mean_log_scale]),
    }
    scores = {}
    for name, (means, truth) in by_chain.items():
        error = means.std(axis=0, ddof=1) / np.sqrt(N_CHAINS)
        difference = means.mean(axis=0) - truth
        scores[name] = difference / np.maximum(error, 1e-12 + 1e-9 * np.abs(truth))
    return scores


# How labels are drawn has little to do with what else differs between cases.
WALKED = ("weak fractions", "pure groups", "mixed evidence", "labels")
EACH_CASE = [
    pytest.param(
        name, latent, marks=[pytest.mark.thorough] if latent == "metropolis" and name not in WALKED else []
    )
    for name, latent in product(CASES, ["exact", "metropolis"])
]


@pytest.mark.parametrize(("name", "latent"), EACH_CASE)
def test_agrees_with_enumeration(name: str, latent: str, seed: int) -> None:
    case = CASES[name]
    model = fit_case(case, latent, seed)
    exact = enumerate_case(name)
    for quantity, z in z_scores(model, exact).items():
        assert np.abs(z).max() < PASSES, quantity
    np.testing.assert_allclose(model.predict_proba(new_people())[:, 1], exact.probability, atol=0.03)
    np.testing.assert_allclose(model.label_proba_, exact.label_probability, atol=0.03)


@pytest.mark.parametrize(
    "name", [pytest.param("weak fractions", marks=pytest.mark.thorough), "pure groups", "mixed evidence"]
)
def test_ladder_agrees_with_enumeration(name: str, seed: int) -> None:
    """Replicas leave the answer as it is, and climbing them gives the marginal likelihood."""
    case = CASES[name]
    model = fit_case(case, "exact", seed, n_replicas=5, n_draws=150, n_burn=100)
    exact = enumerate_case(name)
    for quantity, z in z_scores(model, exact).items():
        assert np.abs(z).max() < PASSES, quantity
    evidence = model.log_evidence_
    assert evidence.std_error < 0.1
    assert abs(evidence.value - exact.log_evidence) < PASSES * evidence.std_error + 1e-3


def labels_against_evidence(seed: int) -> int:
    """Let a chain with the labels swap with one that knows nothing; count wrong labels after all swaps."""
    case = CASES["labels"]
    powers, rng = np.array([1.0, 0.0]), np.random.default_rng(seed)
    ladder = SparseLadder(problem_of(case, case.reports), Prior(**case.prior), powers, 3, rng)
    reported = np.array([report.reported_share(1) == 1.0 for report in case.reports])
    wrong = 0
    for _ in range(300):
        ladder.sweep(0, 1)
        ladder.swap()
        wrong += int(np.sum((ladder.states[0].scores > 0.0) != reported))
    assert ladder.swapped[0] > 30
    return wrong


def test_scores_belong_to_the_evidence_of_their_rung(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a swap the scores are drawn anew; left as they were they would contradict the new rung's evidence.

    The moves that follow sum the scores out and so hide most of this mistake from the chain's averages.
    """
    assert labels_against_evidence(seed) == 0
    monkeypatch.setattr(SparseLadder, "redraw", lambda self, rungs: None)
    assert labels_against_evidence(seed) > 100


@dataclass(frozen=True)
class WithoutNormaliser(Fraction):
    """The paper's Beta with its normaliser dropped, as printed."""

    def log_likelihood(self, n: int) -> np.ndarray:
        positive = self.confidence * np.arange(n + 1) / n
        return positive * np.log(self.share) + (self.confidence - positive) * np.log(1.0 - self.share)


def printed_draw_scale(problem: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Draw delta2 with (mu + K + 1)/2, as printed."""
    scale.draw_scale(problem, prior._replace(mu=prior.mu + 1.0), state, rng)


def draw_scores_whatever_the_count(
    problem: SparseData, prior: Prior, state: State, rng: np.random.Generator
) -> None:
    """Draw each label from its own probability, and forget what the group reported."""
    state.scores[:] = state.fitted + rng.standard_normal(len(state.fitted))


WRONG_NAME = "three centres"
WRONG_CASE = CASES[WRONG_NAME]
RIGHT_BLOCKS: dict[str, Block] = {
    "products": products.gather_products,
    "kernels": plain_selection.select_kernels,
    "weights": weights.draw_weights,
    "scale": scale.draw_scale,
    "fit": products.fit_rows,
    "scores": latent.draw_scores_exactly,
}


# What is wrong on purpose in another block shows as well, and sooner, with this one compiled.
FAST_BLOCKS = {**RIGHT_BLOCKS, "kernels": selection.select_kernels}


def worst_z(blocks: dict[str, Block], reports: tuple[Evidence, ...], seed: int) -> float:
    """Run chains of these blocks; return how far their averages lie from the enumeration of the true model."""
    case, exact = WRONG_CASE, enumerate_case(WRONG_NAME)
    problem, prior = problem_of(case, reports), Prior(**case.prior)
    means = []
    for rng in np.random.default_rng(seed).spawn(N_CHAINS):
        state = random_start(problem, prior, 3, rng)
        draws = []
        for _ in range(1000):
            for block in blocks.values():
                block(problem, prior, state, rng)
            draws.append([state.size[0], np.log(state.scale[0]), *(state.scores > 0.0)])
        means.append(np.mean(draws[100:], axis=0))
    truth = [exact.mean_active, exact.mean_log_scale, *exact.label_probability]
    error = np.std(means, axis=0, ddof=1) / np.sqrt(N_CHAINS)
    return float(np.max(np.abs(np.mean(means, axis=0) - truth) / error))


def test_right_blocks_agree_with_enumeration(seed: int) -> None:
    assert worst_z(RIGHT_BLOCKS, WRONG_CASE.reports, seed) < PASSES


def test_enumeration_catches_a_dropped_normaliser(seed: int) -> None:
    """Trap 2: the normaliser depends on the true fraction and must be kept."""
    fraction, count = WRONG_CASE.reports
    wrong = (WithoutNormaliser(fraction.share, fraction.confidence), count)
    assert worst_z(FAST_BLOCKS, wrong, seed) > 2 * PASSES


def test_enumeration_catches_a_wrong_degree_of_freedom(seed: int) -> None:
    """Trap 1: (mu + K + 1)/2 gives another scale."""
    assert worst_z({**FAST_BLOCKS, "scale": printed_draw_scale}, WRONG_CASE.reports, seed) > 2 * PASSES


def test_enumeration_catches_a_missing_hastings_ratio(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_selection, "log_birth_hastings", lambda n_selectable, n_active: 0.0)
    assert worst_z(RIGHT_BLOCKS, WRONG_CASE.reports, seed) > 2 * PASSES


def test_enumeration_catches_labels_that_ignore_the_count(seed: int) -> None:
    wrong = {**FAST_BLOCKS, "scores": draw_scores_whatever_the_count}
    assert worst_z(wrong, WRONG_CASE.reports, seed) > 2 * PASSES
