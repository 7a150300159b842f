"""The joint-distribution test (Geweke, 2004) in its sharpest form.

Draw everything from the model: kernels, scale, weights, scores and the groups' reports. Apply a block of the
sampler. If the block leaves the posterior invariant, what comes out is again a draw from the model, so every
statistic keeps its mean; draws before and after are paired, and no autocorrelation enters.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import Count, Evidence, Fraction, NoisyCount, Unknown
from disaggregate.groups.grouped import GroupedData
from disaggregate.sampler.evidence import make_evidence
from disaggregate.sampler.model import Prior, SparseData, State, empty_state, make_sparse_data
from disaggregate.sampler.products import fit_rows, refresh_factor

Block = Callable[[SparseData, Prior, State, np.random.Generator], None]
Report = Callable[[int, int, np.random.Generator], Evidence]

PRIOR = Prior(a=1.5, b=2.0, mu=6.0, nu=12.0)
CONFIDENCE = 12.0
SIZES = (4, 3, 2, 1)


def report_fraction(count: int, n: int, rng: np.random.Generator) -> Evidence:
    share = count / n
    return Fraction(rng.beta(CONFIDENCE * share + 1.0, CONFIDENCE * (1.0 - share) + 1.0), CONFIDENCE)


def report_noisy_count(count: int, n: int, rng: np.random.Generator) -> Evidence:
    return NoisyCount(count + 0.7 * rng.standard_normal(), 0.7, "gaussian")


def report_count(count: int, n: int, rng: np.random.Generator) -> Evidence:
    return Count(count)


def report_nothing(count: int, n: int, rng: np.random.Generator) -> Evidence:
    return Unknown()


REPORTS: tuple[Report, ...] = (report_fraction, report_noisy_count, report_count, report_nothing)


N_PROPOSALS = 4


class Joint(NamedTuple):
    """A draw from the model: the problem with its reports, the state, the reports as numbers, and statistics."""

    problem: SparseData
    state: State
    reports: np.ndarray
    statistics: np.ndarray


@dataclass(frozen=True)
class Population:
    """Columns of a small problem whose every subset is far from collinear."""

    psi: np.ndarray
    n_fixed: int
    sizes: tuple[int, ...] = SIZES
    reports: tuple[Report, ...] = REPORTS
    weights: np.ndarray | None = None
    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    @cached_property
    def _drawn(self) -> list[Joint]:
        return []

    def drawn(self, n: int) -> list[Joint]:
        """Draw from the model: most of the work of a test, and so done once for all tests of a population."""
        while len(self._drawn) < n:
            self._drawn.append(draw_joint(self, self.rng))
        return self._drawn[:n]

    @cached_property
    def unreported(self) -> SparseData:
        """The problem when no group reports anything."""
        return make_sparse_data(self.psi, self.n_fixed, self._data([Unknown()] * len(self.sizes)))

    def reported(self, evidence: list[Evidence]) -> SparseData:
        """The problem with a report of each group."""
        return self.unreported._replace(evidence=make_evidence(self._data(evidence)))

    def _data(self, evidence: list[Evidence]) -> GroupedData:
        ids = np.repeat(np.arange(len(self.sizes)), self.sizes).tolist()
        return group_rows(ids, dict(enumerate(evidence)), self.weights)


@cache
def small_population(*, n_fixed: int = 1) -> Population:
    rng = np.random.default_rng(zlib.crc32(f"small population, {n_fixed}".encode()))
    psi = rng.standard_normal((5, sum(SIZES))) + 0.4
    psi[:n_fixed] = 1.0
    return Population(psi / np.sqrt(np.mean(psi**2, axis=1, keepdims=True)), n_fixed, rng=rng)


@cache
def weighted_population() -> Population:
    """People of unequal survey weight, whose groups report weighted shares."""
    reports = (report_fraction, report_fraction, report_nothing, report_fraction)
    rng = np.random.default_rng(zlib.crc32(b"weighted population"))
    weights = np.array([1, 3, 1, 2, 5, 1, 2, 1, 4, 2.0])
    return replace(small_population(), reports=reports, weights=weights, rng=rng)


def draw_joint(population: Population, rng: np.random.Generator) -> Joint:
    """Draw parameters, scores and reports from the model."""
    unreported = population.unreported
    state = empty_state(unreported, N_PROPOSALS)
    n_selectable = len(population.psi) - population.n_fixed
    chosen = np.flatnonzero(rng.random(n_selectable) < rng.beta(PRIOR.a, PRIOR.b)) + population.n_fixed
    chosen = rng.permutation(chosen)
    state.size[0] += len(chosen)
    state.active[population.n_fixed : state.size[0]] = chosen
    refresh_factor(unreported, state)
    state.scale[0] = 0.5 * PRIOR.nu / rng.standard_gamma(0.5 * PRIOR.mu)
    size = state.size[0]
    whitened_weights = np.sqrt(state.scale[0]) * rng.standard_normal(size)
    state.weights[:size] = np.linalg.solve(state.factor[:size, :size].T, whitened_weights)
    fit_rows(unreported, PRIOR, state, rng)
    state.scores[:] = state.fitted + rng.standard_normal(len(state.fitted))
    counts = group_counts(unreported, state)
    totals = np.diff(unreported.evidence.starts) - 1
    evidence = [
        report(int(count), int(n), rng)
        for report, count, n in zip(population.reports, counts, totals, strict=True)
    ]
    numbers = np.array([_as_number(e, n) for e, n in zip(evidence, totals, strict=True)])
    problem = population.reported(evidence)
    return Joint(problem, state, numbers, statistics(problem, state, numbers))


def group_counts(problem: SparseData, state: State) -> np.ndarray:
    units = problem.evidence.units * (state.scores > 0.0)
    return np.add.reduceat(units, problem.evidence.offsets[:-1], dtype=float)


def statistics(problem: SparseData, state: State, reports: np.ndarray) -> np.ndarray:
    """First and second moments, and products across the parts that blocks tie together."""
    size = state.size[0]
    n_active = size - problem.n_fixed
    log_scale = np.log(state.scale[0])
    whitened = state.factor[:size, :size].T @ state.weights[:size]
    length = np.log1p(np.sum(whitened**2))
    error = state.scores - state.fitted
    counts = group_counts(problem, state)
    labels = state.scores > 0.0
    return np.array(
        [
            n_active,
            n_active**2,
            *(np.arange(problem.n_fixed, len(problem.gram))[:, None] == state.active[:size]).any(axis=1),
            log_scale,
            log_scale**2,
            n_active * log_scale,
            length,
            length * log_scale,
            np.sum(whitened**2) / state.scale[0],
            *np.tanh(state.fitted[:3]),
            *np.tanh(state.fitted[:3]) * labels[:3],
            *labels[:3],
            np.mean(error**2),
            np.mean(error**2 * labels),
            np.tanh(state.scores[0] * state.fitted[0]),
            *counts,
            *counts * reports,
            *(counts - reports) ** 2,
            counts[0] * n_active,
            counts[0] * log_scale,
        ]
    )


def z_scores(
    block: Block,
    population: Population,
    rng: np.random.Generator,
    *,
    n_draws: int = 2500,
    n_repeats: int = 3,
    corrupt: Callable[[SparseData], SparseData] = lambda problem: problem,
) -> np.ndarray:
    """Standardised mean change of each statistic under the block; statistics that never change are left out.

    ``corrupt`` gives the block other evidence than the one that was reported, for samplers that are wrong
    on purpose.
    """
    changes = np.array(list(_changes(block, population, rng, n_draws, n_repeats, corrupt)), dtype=float)
    spread = changes.std(axis=0, ddof=1)
    moved = spread > 1e-9  # what a block must keep, it keeps up to rounding
    assert moved.any(), "the block changes nothing"
    return changes.mean(axis=0)[moved] / (spread[moved] / np.sqrt(n_draws))


def _changes(
    block: Block,
    population: Population,
    rng: np.random.Generator,
    n_draws: int,
    n_repeats: int,
    corrupt: Callable[[SparseData], SparseData],
) -> Iterator[np.ndarray]:
    for problem, drawn, reports, before in population.drawn(n_draws):
        state = State(*(array.copy() for array in drawn))
        given = corrupt(problem)
        for _ in range(n_repeats):
            block(given, PRIOR, state, rng)
        yield statistics(problem, state, reports) - before


def _as_number(evidence: Evidence, n: int) -> float:
    share = evidence.reported_share(n)
    return 0.0 if np.isnan(share) else n * share
