"""One chain of replicas from its start to its last draw."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from disaggregate.sampler.chain import BATCH, Schedule, copies
from disaggregate.sampler.dense.model import DenseProblem, Paths, Replicas, Tally, empty_tally
from disaggregate.sampler.dense.starts import start_at
from disaggregate.sampler.kept import Kept, KeptInMemory
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
    stones : ndarray of shape (n_draws, n_rungs - 1, 2)
        Log likelihood ratios between neighbouring rungs; see :func:`exchange_replicas`.
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

    def first(self, n_draws: int) -> DenseDraws:
        """Keep the first draws only; the sums over all draws are taken for theirs."""
        if n_draws == len(self.scale):
            return self
        share = n_draws / len(self.scale)
        return replace(
            self,
            scale=self.scale[:n_draws],
            weights=self.weights[:n_draws],
            label_sums=share * self.label_sums,
            count_tallies=share * self.count_tallies,
        )


class DenseChain:
    """One chain of replicas, batch after batch.

    Parameters
    ----------
    problem, prior, paths : DenseProblem, Prior, Paths
        Data, hyper-parameters, and the tuned paths.
    schedule : Schedule
        Length.
    guess : ndarray of shape (n_columns,) or None
        Where to start; see :func:`start_at`.
    rng : numpy.random.Generator
        The chain's own generator.
    """

    def __init__(
        self,
        problem: DenseProblem,
        prior: Prior,
        paths: Paths,
        schedule: Schedule,
        guess: np.ndarray | None,
        rng: np.random.Generator,
    ) -> None:
        self._problem, self._prior, self._paths = problem, prior, paths
        self._guess, self._rng = guess, rng
        self.schedule = schedule
        self.n_done = 0  # sweeps done, all of them with their draws written down
        self._replicas: Replicas | None = None
        self.kept: Kept = KeptInMemory()
        n_columns, n_rows = problem.columns.shape
        self._sums = np.zeros(n_rows, dtype=np.int64)
        self._tallies = np.zeros(problem.ladder.likelihood.shape[1], dtype=np.int64)
        self._tally = empty_tally(len(problem.ladder.likelihood), n_columns + 1)

    @property
    def n_sweeps(self) -> int:
        """Sweeps to do in all."""
        return self.schedule.n_sweeps

    def advance(self) -> None:
        """Do a batch of sweeps; the first one starts the chain."""
        from disaggregate.sampler.compiled.dense import advance_dense  # numba is slow to import

        if self._replicas is None:
            self._replicas = start_at(self._problem, self._prior, self._guess, self._rng)
        before, n_burn = self.n_done, self.schedule.n_burn
        n_sweeps = min(BATCH, self.n_sweeps - before)
        n_rungs, n_columns = len(self._tally.moves), len(self._problem.columns)
        record = DenseRecord(
            np.empty((BATCH, n_columns)),
            np.empty(BATCH),
            np.empty((BATCH, n_rungs - 1, 2)),
            self._sums,
            self._tallies,
        )
        kept = advance_dense(
            self._problem, self._prior, self._paths, self._replicas, self._rng,
            n_sweeps, n_burn, self.schedule.thin, self._tally, record,
        )  # fmt: skip
        after_burn = np.arange(before + 1, before + n_sweeps + 1) - n_burn
        stones = record.stones[:n_sweeps][(after_burn > 0) & (after_burn % self.schedule.thin == 0)]
        self.kept.append((record.weights[:kept], record.scale[:kept], stones))
        self.n_done = before + n_sweeps

    def draws(self) -> DenseDraws:
        """Return what was drawn so far."""
        n_rungs, n_columns = len(self._tally.moves), len(self._problem.columns)
        nothing = (np.empty((0, n_columns)), np.empty(0), np.empty((0, n_rungs - 1, 2)))
        weights, scale, stones = self.kept.joined(nothing)
        return DenseDraws(scale, weights, self._sums, self._tallies, stones, self._tally, self.n_done)

    def snapshot(self) -> dict[str, Any]:
        """Take everything down that the next batch depends on, and what was drawn so far."""
        return {
            "state": None if self._replicas is None else copies(self._replicas),
            "generator": self._rng.bit_generator.state,
            "kept": self.kept.snapshot(),
            "sums": [self._sums.copy(), self._tallies.copy()],
            "tally": copies(self._tally),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from there."""
        self._replicas = None if snapshot["state"] is None else Replicas(*copies(snapshot["state"]))
        self._rng.bit_generator.state = snapshot["generator"]
        self.kept.restore(snapshot["kept"])
        self._sums, self._tallies = copies(snapshot["sums"])
        self.n_done = 0 if self._replicas is None else int(self._replicas.sweep[0])
        self._tally = Tally(*copies(snapshot["tally"]))
