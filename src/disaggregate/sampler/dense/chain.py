"""One chain of replicas from its start to its last draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from disaggregate.sampler.chain import BATCH, Schedule
from disaggregate.sampler.dense.model import DenseProblem, Paths, Replicas, Tally, empty_tally
from disaggregate.sampler.model import Prior


class DenseRecord(NamedTuple):
    """What compiled code writes down: a row a kept draw, likelihood ratios a row a sweep, and running sums."""

    weights: np.ndarray
    scale: np.ndarray
    stones: np.ndarray
    label_sums: np.ndarray
    count_tallies: np.ndarray


@dataclass(frozen=True)
class DenseDraws:
    """The kept draws of one chain.

    Attributes
    ----------
    scale : ndarray of shape (n_draws,)
        delta2.
    weights : ndarray of shape (n_draws, n_columns)
        Weights of the columns.
    label_sums : ndarray of shape (n_rows,)
        In how many draws each individual was positive.
    count_tallies : ndarray of shape (n_rows + n_groups,)
        In how many draws each group had each count of positives.
    stones : ndarray of shape (n_sweeps, n_rungs - 1, 2)
        Log likelihood ratios between neighbouring rungs, after burn-in; see :func:`exchange_replicas`.
    tally : Tally
        Acceptance over all sweeps.
    n_sweeps : int
        How many those were.
    """

    scale: np.ndarray
    weights: np.ndarray
    label_sums: np.ndarray
    count_tallies: np.ndarray
    stones: np.ndarray
    tally: Tally
    n_sweeps: int

    @property
    def swap_rates(self) -> np.ndarray:
        """How often neighbours trade places, shape (n_rungs - 1,)."""
        return self.tally.swapped / self.n_sweeps


def run_dense_chain(
    problem: DenseProblem,
    prior: Prior,
    paths: Paths,
    start: Replicas,
    rng: np.random.Generator,
    schedule: Schedule,
    on_sweeps: Callable[[int], None] | None = None,
) -> DenseDraws:
    """Run a chain of replicas and return the kept draws of the first rung.

    Parameters
    ----------
    problem, prior, paths : DenseProblem, Prior, Paths
        Data, hyper-parameters, and the tuned paths.
    start : Replicas
        Where the chain starts; it is changed.
    rng : numpy.random.Generator
        The chain's own generator.
    schedule : Schedule
        Length.
    on_sweeps : callable, optional
        Told how many sweeps were done, some times a second.
    """
    from disaggregate.sampler.compiled.dense import advance_dense  # numba is slow to import, and only fits need it

    n_rungs, n_coordinates = start.position.shape
    n_columns, n_rows = problem.columns.shape
    sums = np.zeros(n_rows, dtype=np.int64)
    tallies = np.zeros(problem.ladder.likelihood.shape[1], dtype=np.int64)
    tally = empty_tally(n_rungs, n_coordinates)
    weights, scale, stones = [], [], []
    while start.sweep[0] < schedule.n_sweeps:
        before = int(start.sweep[0])
        n_sweeps = min(BATCH, schedule.n_sweeps - before)
        record = DenseRecord(
            np.empty((BATCH, n_columns)), np.empty(BATCH), np.empty((BATCH, n_rungs - 1, 2)), sums, tallies
        )
        kept = advance_dense(
            problem, prior, paths, start, rng, n_sweeps, schedule.n_burn, schedule.thin, tally, record
        )
        weights.append(record.weights[:kept])
        scale.append(record.scale[:kept])
        stones.append(record.stones[max(schedule.n_burn - before, 0) : n_sweeps])
        if on_sweeps is not None:
            on_sweeps(n_sweeps)
    return DenseDraws(
        scale=np.concatenate(scale),
        weights=np.concatenate(weights),
        label_sums=sums,
        count_tallies=tallies,
        stones=np.concatenate(stones),
        tally=tally,
        n_sweeps=schedule.n_sweeps,
    )
