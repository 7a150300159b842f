"""The joint-distribution test for replicas.

Every rung gets reports of its own, drawn from the model together with its own replica, instead of one report at
several powers: the moves must leave each pair of replica and reports as it is, whatever the reports are, and
swaps must leave all of them together as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from disaggregate.sampler.dense.model import (
    DenseProblem,
    Paths,
    Replicas,
    Tally,
    empty_tally,
    fitted_scores,
)
from scipy.special import ndtr

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import Evidence, Unknown
from disaggregate.sampler.evidence import WHOLE_GROUP, EvidenceLadder, make_evidence
from tests.exactness.joint import PRIOR, REPORTS, SIZES, Report, report_count, report_fraction

N_COLUMNS = 4
N_RUNGS = 4
LARGE_SIZES = (WHOLE_GROUP + 9, 3)
LARGE_REPORTS: tuple[Report, ...] = (report_fraction, report_count)


@dataclass(frozen=True)
class Moment:
    """Everything that a move needs or changes."""

    problem: DenseProblem
    paths: Paths
    replicas: Replicas
    tally: Tally
    stones: np.ndarray
    rng: np.random.Generator


Move = Callable[[Moment], None]


def columns_for(sizes: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    return np.ascontiguousarray(np.linalg.qr(rng.standard_normal((sum(sizes), N_COLUMNS)))[0].T)


def draw_joint(
    columns: np.ndarray,
    sizes: tuple[int, ...],
    reports: tuple[Report, ...],
    no_evidence: EvidenceLadder,
    rng: np.random.Generator,
    *,
    last_is_prior: bool,
    weights: np.ndarray | None = None,
) -> tuple[DenseProblem, Replicas]:
    """Draw a replica, its labels and its reports for each rung; the last rung may have no reports."""
    log_scale = np.log(0.5 * PRIOR.nu / rng.standard_gamma(0.5 * PRIOR.mu, size=N_RUNGS))
    position = np.column_stack([rng.standard_normal((N_RUNGS, N_COLUMNS)), log_scale])
    deviation = np.array([3.0, 1.7, 1.0, 0.4]) * np.sqrt(sum(sizes) / sum(SIZES))
    fitted = fitted_scores(DenseProblem(columns, deviation, no_evidence), position)
    labels = rng.random(fitted.shape) < ndtr(fitted)
    totals = np.diff(no_evidence.starts) - 1
    unknown = [Unknown()] * len(sizes)
    evidence = []
    for rung in range(N_RUNGS):
        counts = np.add.reduceat(no_evidence.units * labels[rung], no_evidence.offsets[:-1])
        drawn = [report(int(c), int(n), rng) for report, c, n in zip(reports, counts, totals, strict=True)]
        evidence.append(unknown if last_is_prior and rung == N_RUNGS - 1 else drawn)
    problem = DenseProblem(columns, deviation, ladder_of(evidence, sizes, weights))
    replicas = Replicas(position, fitted, np.where(labels, 1.0, -1.0), rng.integers(2, size=1))
    return problem, replicas


def ladder_of(
    evidence: list[list[Evidence]], sizes: tuple[int, ...], weights: np.ndarray | None = None
) -> EvidenceLadder:
    ids = np.repeat(np.arange(len(sizes)), sizes).tolist()
    rungs = [make_evidence(group_rows(ids, dict(enumerate(one)), weights)) for one in evidence]
    stacked = zip(*(rung[4:] for rung in rungs), strict=True)
    return EvidenceLadder(*rungs[0][:4], *(np.stack(rows) for rows in stacked))


def statistics(problem: DenseProblem, replicas: Replicas) -> np.ndarray:
    """Moments of each replica, and products with what its rung reported."""
    starts, units = problem.ladder.offsets[:-1], problem.ladder.units
    position, seen = replicas.position, np.tanh(replicas.fitted[:, :3])
    log_scale = position[:, -1:]
    counts = np.add.reduceat(units * (replicas.scores > 0.0), starts, axis=1, dtype=float)
    expected = np.add.reduceat(units * ndtr(replicas.fitted), starts, axis=1)
    told = reported_counts(problem)
    values = [position, position**2, seen, log_scale * position[:, :1] ** 2, log_scale * seen**2]
    values += [counts, counts * expected, (counts - expected) ** 2, told * expected, told * log_scale]
    return np.hstack(values).ravel()


def reported_counts(problem: DenseProblem) -> np.ndarray:
    """Mean count that each group's report at each rung suggests by itself."""
    likelihood, starts = problem.ladder.likelihood, problem.ladder.starts
    count = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
    weighted, total = (np.add.reduceat(x, starts[:-1], axis=1) for x in (likelihood * count, likelihood))
    return weighted / total


def z_scores(
    move: Move,
    rng: np.random.Generator,
    *,
    sizes: tuple[int, ...] = SIZES,
    reports: tuple[Report, ...] = REPORTS,
    n_draws: int = 3000,
    n_repeats: int = 2,
    last_is_prior: bool = False,
    weights: np.ndarray | None = None,
    corrupt: Callable[[DenseProblem], DenseProblem] = lambda problem: problem,
) -> np.ndarray:
    """Standardised mean change of each statistic under the move; those that never change are left out."""
    columns = columns_for(sizes, rng)
    paths = Paths(np.linspace(0.5, 0.8, N_RUNGS), rng.uniform(1.0, 2.5, (N_RUNGS, N_COLUMNS + 1)))
    no_evidence = ladder_of([[Unknown()] * len(sizes)] * N_RUNGS, sizes, weights)
    changes = []
    for _ in range(n_draws):
        problem, replicas = draw_joint(
            columns, sizes, reports, no_evidence, rng, last_is_prior=last_is_prior, weights=weights
        )
        before = statistics(problem, replicas)
        tally, stones = empty_tally(N_RUNGS, N_COLUMNS + 1), np.empty((N_RUNGS - 1, 2))
        for _ in range(n_repeats):
            move(Moment(corrupt(problem), paths, replicas, tally, stones, rng))
        changes.append(statistics(problem, replicas) - before)
    spread = np.std(changes, axis=0, ddof=1)
    moved = spread > 1e-9
    assert moved.any(), "the move changes nothing"
    return np.mean(changes, axis=0)[moved] / (spread[moved] / np.sqrt(n_draws))
