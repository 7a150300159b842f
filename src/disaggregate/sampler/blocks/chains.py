"""All chains together, from their start to their last draw."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from disaggregate.sampler.blocks.answers import Labels, Pull
from disaggregate.sampler.blocks.model import (
    BlockProblem,
    Crowd,
    Metric,
    metric_of,
    weights_of,
)
from disaggregate.sampler.blocks.start import measured_curvature, start_crowd
from disaggregate.sampler.blocks.sweep import block_sweep
from disaggregate.sampler.chain import Schedule, copies
from disaggregate.sampler.dense.chain import DenseDraws
from disaggregate.sampler.dense.model import Tally, empty_tally
from disaggregate.sampler.kept import Kept, KeptInMemory

# Seconds of a turn, about: short enough for Ctrl-C, long enough to hide what comes between turns.
_TURN = 0.5

# Sweeps before the burn-in in which steps are found: with the mass of the start, then with that of the chains.
_TUNING = (30, 30)
_LOOK_EVERY = 5  # sweeps, when the mass is measured: one place is not like all others
_ACCEPTED = 0.65
_FIRST_STEP, _LARGEST_STEP = 0.5, 1.5


class BlockChains:
    """All chains, moved in lock step, so that one message to a block serves all of them.

    Parameters
    ----------
    problem : BlockProblem
        Data and hyper-parameters.
    schedule : Schedule
        Length.
    rng : numpy.random.Generator
        What chains share.
    rngs : list of numpy.random.Generator
        Each chain's own.
    starts : ndarray of shape (n_groups + 1,)
        Where each group's counts start.
    n_rows : sequence of int
        Rows of each block.
    """

    def __init__(
        self,
        problem: BlockProblem,
        schedule: Schedule,
        rng: np.random.Generator,
        rngs: list[np.random.Generator],
        starts: np.ndarray,
        n_rows: Sequence[int],
    ) -> None:
        self._problem, self.schedule = problem, schedule
        self._rng, self._rngs = rng, rngs
        self._starts, self._n_rows = starts, list(n_rows)
        self.n_done = 0
        self._crowd: Crowd | None = None
        self._metric: Metric | None = None
        n_chains, n_coordinates = len(rngs), len(problem.deviation) + 1
        self.kept: Kept = KeptInMemory()
        self._sums = np.zeros((n_chains, sum(self._n_rows)), dtype=np.int64)
        self._tallies = np.zeros((n_chains, int(starts[-1])), dtype=np.int64)
        self._moves = [empty_tally(problem.n_rungs, n_coordinates) for _ in rngs]
        self._steps: list[np.ndarray] = []
        self._curvatures: list[np.ndarray] = []

    @property
    def n_sweeps(self) -> int:
        """Sweeps to do in all, with those that find the steps."""
        return sum(_TUNING) + self.schedule.n_sweeps

    def advance(self) -> None:
        """Do some sweeps, as many as take a moment; the draws do not depend on how many that are."""
        if self._crowd is None or self._metric is None:
            self._crowd, self._metric = self._started()
        until = time.monotonic() + _TURN
        batch: list[tuple[np.ndarray, ...]] = []
        while self.n_done < self.n_sweeps and (not batch or time.monotonic() < until):
            batch.append(self._sweep(self._crowd, self._metric))
        self.kept.append(tuple(np.concatenate(parts) for parts in zip(*batch, strict=True)))

    def _started(self) -> tuple[Crowd, Metric]:
        crowd, curvature = start_crowd(self._problem, self._rngs)
        return crowd, metric_of(np.full(self._problem.n_rungs, _FIRST_STEP), curvature)

    def _sweep(self, crowd: Crowd, metric: Metric) -> tuple[np.ndarray, ...]:
        """Do one sweep; return weights, delta2 and likelihood ratios if they are to be kept, else none."""
        stones = np.zeros((len(self._rngs), self._problem.n_rungs - 1, 2))
        after_burn = self.n_done + 1 - sum(_TUNING) - self.schedule.n_burn
        is_kept = after_burn > 0 and after_burn % self.schedule.thin == 0
        before = [[tally.moves.copy(), tally.accepted.copy()] for tally in self._moves]
        labels = block_sweep(
            self._problem, metric, crowd, self._moves, stones, self._rng, self._rngs, is_kept=is_kept
        )
        self.n_done += 1
        if self.n_done <= sum(_TUNING):
            moves, accepted = (
                np.sum(
                    [getattr(tally, name) - old[place] for tally, old in zip(self._moves, before, strict=True)],
                    axis=0,
                )
                for place, name in enumerate(("moves", "accepted"))
            )
            self._tune(crowd, metric, moves, accepted)
        weights, scale, ratios = self._nothing()
        if after_burn > 0:
            ratios = stones[None]
        if labels is not None:
            self._count(labels)
            first = crowd.position[:, 0]
            weights, scale = weights_of(self._problem, first)[None], np.exp(first[None, :, -1])
        return weights, scale, ratios

    def _tune(self, crowd: Crowd, metric: Metric, moves: np.ndarray, accepted: np.ndarray) -> None:
        """Lengthen steps where more is accepted than needed, and shorten them where less is."""
        turn = self.n_done if self.n_done <= _TUNING[0] else self.n_done - _TUNING[0]
        surplus = np.where(moves > 0, accepted / np.maximum(moves, 1.0) - _ACCEPTED, 0.0)
        step = np.minimum(metric.step * np.exp(surplus / np.sqrt(turn)), _LARGEST_STEP)
        self._steps.append(step)
        if _TUNING[0] // 3 < self.n_done <= _TUNING[0] and self.n_done % _LOOK_EVERY == 0:
            self._curvatures.append(measured_curvature(self._problem, crowd.position))
        if self.n_done == _TUNING[0]:
            self._metric = metric_of(step, np.mean(self._curvatures, axis=0))
            self._curvatures = []
        elif self.n_done == sum(_TUNING):
            late = self._steps[-_TUNING[1] // 2 :]
            self._metric = metric._replace(step=np.exp(np.mean(np.log(late), axis=0)))
        else:
            self._metric = metric._replace(step=step)

    def _count(self, labels: list[Labels]) -> None:
        """Count the positives, by individual and by group."""
        row = group = 0
        for answer, n_rows in zip(labels, self._n_rows, strict=True):
            self._sums[:, row : row + n_rows] += np.unpackbits(answer.bits, axis=1, count=n_rows)
            n_groups = answer.counts.shape[1]
            places = self._starts[group : group + n_groups] + answer.counts
            for tally, own in zip(self._tallies, places, strict=True):
                tally[own] += 1
            row, group = row + n_rows, group + n_groups

    def draws(self) -> list[DenseDraws]:
        """Return what each chain drew so far."""
        weights, scale, stones = self.kept.joined(self._nothing())
        return [
            DenseDraws(
                scale[:, chain],
                weights[:, chain],
                self._sums[chain],
                self._tallies[chain],
                stones[:, chain],
                self._moves[chain],
                max(self.n_done, 1),
            )
            for chain in range(len(self._rngs))
        ]

    def snapshot(self) -> dict[str, Any]:
        """Take everything down that the next sweep depends on, and what was drawn so far."""
        crowd, metric = self._crowd, self._metric
        return {
            "n_done": self.n_done,
            "crowd": None if crowd is None else _written(crowd),
            "metric": None if metric is None else copies(metric),
            "generators": [rng.bit_generator.state for rng in (self._rng, *self._rngs)],
            "kept": self.kept.snapshot(),
            "sums": [self._sums.copy(), self._tallies.copy()],
            "moves": [copies(tally) for tally in self._moves],
            "tuning": [list(self._steps), list(self._curvatures)],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from there."""
        self.n_done = snapshot["n_done"]
        self._crowd = None if snapshot["crowd"] is None else _read(snapshot["crowd"])
        self._metric = None if snapshot["metric"] is None else Metric(*copies(snapshot["metric"]))
        for rng, state in zip((self._rng, *self._rngs), snapshot["generators"], strict=True):
            rng.bit_generator.state = state
        self.kept.restore(snapshot["kept"])
        self._sums, self._tallies = copies(snapshot["sums"])
        self._moves = [Tally(*copies(tally)) for tally in snapshot["moves"]]
        self._steps, self._curvatures = map(list, snapshot["tuning"])

    def lengthen(self, n_draws: int) -> None:
        """Plan some more draws a chain."""
        self.schedule = replace(self.schedule, n_draws=self.schedule.n_draws + n_draws)

    def _nothing(self) -> tuple[np.ndarray, ...]:
        n_chains, n_columns, n_rungs = len(self._rngs), len(self._problem.deviation), self._problem.n_rungs
        return np.empty((0, n_chains, n_columns)), np.empty((0, n_chains)), np.empty((0, n_chains, n_rungs - 1, 2))


def _written(crowd: Crowd) -> dict[str, Any]:
    return {
        "position": crowd.position.copy(),
        "bits": list(crowd.bits),
        "pull": None if crowd.pull is None else copies(crowd.pull),
        "sweep": crowd.sweep,
    }


def _read(written: dict[str, Any]) -> Crowd:
    pull = written["pull"]
    return Crowd(
        written["position"].copy(),
        list(written["bits"]),
        None if pull is None else Pull(*copies(pull)),
        written["sweep"],
    )
