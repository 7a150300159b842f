"""Learned confidence of reports: chains agree with quadrature, and moves with the joint distribution."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from disaggregate.groups.evidence import Count, Evidence, Fraction
from disaggregate.groups.learned_confidence import CONFIDENCES, TAIL, mixing_weights
from disaggregate.model.components import make_components
from disaggregate.model.powers import log_maxima
from disaggregate.model.priors import half_normal, inverse_gamma
from disaggregate.model.report_noise import make_report_noise
from disaggregate.model.reports import make_reports
from disaggregate.posterior.log_evidence import log_evidence
from disaggregate.sampler.dense import sweep as sweeps
from disaggregate.sampler.dense.target import LikelihoodGradient, Query, Target
from disaggregate.sampler.dense.whole import WholeData, WholeLikelihood
from disaggregate.sampler.rungs import first_powers
from tests.exactness import test_scales_against_quadrature as quadratures
from tests.exactness.test_dense_joint_distribution import FAILS, PASSES, jumps, largest, paths
from tests.helpers.dense_joint import Move, World, _changes, draw_scores, make_world, z_of
from tests.helpers.dense_problems import grouped, metric_for

pytestmark = pytest.mark.full_pilots

INDIVIDUAL, REPORT = (6.0, 4.0), half_normal(0.3)
SIZES = [4, 5, 3]
EVIDENCE: list[Evidence] = [Fraction(0.2, "auto"), Fraction(0.85, "auto"), Count(2)]


# Against quadrature.


def quadrature(x: np.ndarray, n_w: int, n_t: int) -> quadratures.Exact:
    """Integrate over the weight, with its scale integrated out, and over the confidence."""
    w, of_w = quadratures._student_grid(n_w, *INDIVIDUAL)
    log_scale = np.linspace(-16.0, 2.0, n_t)
    of_scale = np.exp(REPORT.log_density(log_scale)) * (log_scale[1] - log_scale[0])
    weight = of_w[:, None] * of_scale
    ratios, start = [], 0
    for n, known in zip(SIZES, EVIDENCE, strict=True):
        p = ndtr(w[:, None] * x[start : start + n])
        reported = np.array([_likelihood(known, n, t) for t in log_scale])  # scale, count
        by_scale = [quadratures._by_count(p, own) for own in reported]
        mean = np.stack([total for total, _ in by_scale], axis=1)
        ratios += [np.stack([joint[i] for _, joint in by_scale], axis=1) / mean for i in range(n)]
        weight = weight * mean
        start += n
    total = weight.sum()
    weight = weight / total
    by_w, by_scale_of = weight.sum(axis=1), weight.sum(axis=0)
    return quadratures.Exact(
        np.array([by_w @ w]),
        np.array([by_w @ quadratures._mean_log_scale(w, *INDIVIDUAL), by_scale_of @ log_scale]),
        np.array([(weight * ratio).sum() for ratio in ratios]),
        float(np.log(total)),
    )


def _likelihood(known: Evidence, n: int, log_scale: float) -> np.ndarray:
    if not known.learns_confidence:
        return np.exp(known.log_likelihood(n))
    cells, weights = mixing_weights(-log_scale)
    return TAIL + (1.0 - TAIL) * weights @ known.densities(np.arange(n + 1), n)[cells]


@pytest.fixture(scope="module")
def problem() -> SimpleNamespace:
    x = np.random.default_rng(3).standard_normal(sum(SIZES))
    no_prior = half_normal(1.0)
    components = make_components(
        1,
        np.ones(1),
        0,
        1.0,
        inverse_gamma(*INDIVIDUAL),
        None,
        no_prior,
        0,
        no_prior,
        3,
        False,
        report_prior=REPORT,
    )
    return SimpleNamespace(x=x, components=components, data=grouped(EVIDENCE, SIZES), exact=quadrature(x, 90, 150))


def test_the_reference_is_fine_enough(problem: SimpleNamespace) -> None:
    for one, other in zip(quadrature(problem.x, 70, 110), problem.exact, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-3)


def backend_of(problem: SimpleNamespace, n_replicas: int | None, noise: Any = None) -> WholeData:
    found = make_report_noise(problem.data) if noise is None else noise
    return WholeData(
        problem.components, problem.x[None], make_reports(problem.data), first_powers(n_replicas), found
    )


@pytest.mark.parametrize("n_replicas", [3, 1], ids=["ladder", "no ladder"])
def test_chains_agree_with_quadrature(problem: SimpleNamespace, n_replicas: int | None, seed: int) -> None:
    n_draws = 250 if n_replicas == 1 else 100
    draws, _ = quadratures.run(backend_of(problem, n_replicas), n_replicas, n_draws, seed)
    assert np.abs(quadratures.distances(draws, problem.exact)).max() < 5.0
    if n_replicas != 1:
        found = log_evidence([own.log_ratios for own in draws], float(log_maxima(problem.data).sum()))
        assert abs(found.value - problem.exact.log_evidence) < 5.0 * found.std_error + 2e-3


def test_reports_without_a_tail_are_caught(problem: SimpleNamespace, seed: int) -> None:
    noise = make_report_noise(problem.data)
    draws, _ = quadratures.run(backend_of(problem, 1, noise._replace(tail=1e-9 * noise.tail)), 1, 150, seed)
    assert np.abs(quadratures.distances(draws, problem.exact)).max() > 7.0


# Against the joint distribution.


class NoisePerChain:
    """The likelihood of many chains, each with reports of its own, and tables of its own of them."""

    def __init__(self, columns: np.ndarray, evidence: list[list[Evidence]], sizes: list[int]) -> None:
        self.columns = columns
        data = [grouped(own, sizes) for own in evidence]
        self.parts = [WholeLikelihood(columns, make_reports(own), make_report_noise(own)) for own in data]

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        found = [part.gradient(_of(query, k), rungs[k : k + 1]) for k, part in enumerate(self.parts)]
        return LikelihoodGradient(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def offsets(self, query: Query, rng: np.random.Generator) -> np.ndarray:
        nothing = np.zeros((1, 0))
        return np.concatenate(
            [
                part.add_expected(_of(query, k), rng.standard_normal((1, query.group.shape[1])), nothing, nothing)
                for k, part in enumerate(self.parts)
            ]
        )


def _of(query: Query, k: int) -> Query:
    return Query(*(part[k : k + 1] for part in query))


def world_of(rng: np.random.Generator, has_places: bool) -> World:
    return make_world(rng, (9, 6, 8, 7), (), has_places=has_places, learns_confidence=True)


def report(share: float, log_confidence: float, rng: np.random.Generator) -> float:
    """Draw a report from its law."""
    if rng.random() < TAIL:
        return rng.random()
    cells, weights = mixing_weights(log_confidence)
    own = CONFIDENCES[rng.choice(cells, p=weights)]
    return rng.beta(own * share + 1.0, own * (1.0 - share) + 1.0)


def noise_z(
    move: Move,
    world: World,
    rng: np.random.Generator,
    *,
    n_draws: int = 300,
    n_repeats: int = 2,
    law: Callable[..., float] = report,
) -> np.ndarray:
    """Test a move where reports are drawn from their law, confidence included, or from another one."""
    position, individual, group = draw_scores(world, n_draws, rng)
    sizes = world.data.sizes
    labels = rng.random(individual.shape) < ndtr(individual + np.repeat(group, sizes, axis=1))
    shares = np.add.reduceat(labels, world.data.offsets[:-1], axis=1) / sizes
    log_confidence = -position[:, world.components.noise_coordinate]
    reported = np.array(
        [[law(share, own, rng) for share in row] for row, own in zip(shares, log_confidence, strict=True)]
    )
    evidence = [[Fraction(share, "auto") for share in row] for row in reported]
    likelihood = NoisePerChain(world.columns, evidence, sizes.tolist())
    target = Target(world.components, likelihood, np.ones(1))

    def redraw(target: Target, after: np.ndarray, own: Any, rng: np.random.Generator) -> np.ndarray:
        return likelihood.offsets(target.query(after), rng)

    metric = metric_for(world.components, 1, rng)
    before = position, group, reported
    return z_of(_changes(move, world, before, target, metric, [world.base], rng, n_repeats, redraw))


def whole_sweep(at: Any) -> None:
    sweeps.dense_sweep(at.target, at.metric, at.state, at.tally, at.log_ratios, at.rngs)


@pytest.mark.parametrize("has_places", [False, True], ids=["no places", "places"])
@pytest.mark.parametrize("move", [paths, jumps, whole_sweep])
def test_moves_leave_the_joint_distribution(move: Move, has_places: bool, rng: np.random.Generator) -> None:
    n_draws = 120 if has_places else 300
    assert largest(noise_z(move, world_of(rng, has_places), rng, n_draws=n_draws)) < PASSES


def test_reports_of_another_confidence_are_caught(rng: np.random.Generator) -> None:
    def less_exact(share: float, log_confidence: float, rng: np.random.Generator) -> float:
        return report(share, log_confidence - 4.0, rng)

    z = noise_z(paths, world_of(rng, False), rng, n_draws=500, n_repeats=3, law=less_exact)
    assert largest(z) > FAILS
