"""A ladder of replicas for sparse weights: on every rung the sparse sweep, with weaker and weaker evidence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from disaggregate.sampler.chain import ChainDraws, Schedule, chain_draws, compact, empty_record
from disaggregate.sampler.evidence import make_ladder, rung_of
from disaggregate.sampler.model import Prior, Problem, has_room, with_room
from disaggregate.sampler.prepare import prepare
from disaggregate.sampler.rungs import first_powers, respaced
from disaggregate.sampler.starts import random_start

_NEVER = np.iinfo(np.int64).max // 2

# Sweeps of a pilot run between two changes of the rungs, and how often they change.
_PILOT_SWEEPS = 60
_PILOT_PHASES = 3


class SparseLadder:
    """Replicas of one chain, one a rung.

    Parameters
    ----------
    problem : Problem
        The data, with the evidence itself.
    prior : Prior
        Hyper-parameters.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence, from 1 down to 0.
    n_proposals : int
        Births and deaths proposed a sweep.
    rng : numpy.random.Generator
        The chain's own generator.
    """

    def __init__(
        self, problem: Problem, prior: Prior, powers: np.ndarray, n_proposals: int, rng: np.random.Generator
    ) -> None:
        self._prior, self._rng = prior, rng
        self._evidence = problem.evidence
        self._ladder = make_ladder(problem.evidence, powers)
        self.problems = [problem._replace(evidence=rung_of(self._ladder, rung)) for rung in range(len(powers))]
        self.states = [random_start(one, prior, n_proposals, rng) for one in self.problems]
        self.swapped = np.zeros(len(powers) - 1)
        self.label_sums = np.zeros(problem.psi.shape[1], dtype=np.int64)
        self.count_tallies = np.zeros(len(problem.evidence.likelihood), dtype=np.int64)

    def climb(self, powers: np.ndarray) -> None:
        """Put the same replicas on other rungs."""
        self._ladder = make_ladder(self._evidence, powers)
        self.problems = [
            one._replace(evidence=rung_of(self._ladder, rung)) for rung, one in enumerate(self.problems)
        ]
        self.swapped[:] = 0.0
        self._redraw(range(len(powers)))

    def sweep(self, n_burn: int, thin: int) -> tuple[np.ndarray, ...]:
        """Do one sweep on every rung and return the draw of the first one, if it is to be kept."""
        from disaggregate.sampler.compiled.sweep import advance_sparse

        for rung, problem in enumerate(self.problems):
            if not has_room(problem, self.states[rung]):
                self.states[rung] = with_room(problem, self.states[rung])
        nothing = empty_record(0, self.label_sums, self.count_tallies, n_rows=0)
        for rung in range(len(self.states) - 1, 0, -1):
            advance_sparse(self.problems[rung], self._prior, self.states[rung], self._rng, 1, _NEVER, 1, nothing)
        capacity = len(self.states[0].active)
        record = empty_record(capacity, self.label_sums, self.count_tallies, n_rows=1)
        kept = advance_sparse(self.problems[0], self._prior, self.states[0], self._rng, 1, n_burn, thin, record)
        return compact(record, kept)

    def swap(self) -> np.ndarray:
        """Let neighbours trade places; return the log likelihood ratios of each pair."""
        from disaggregate.sampler.compiled.sweep import swap_sparse

        stones = np.empty((len(self.states) - 1, 2))
        fitted = np.stack([state.fitted for state in self.states])
        scores = np.stack([state.scores for state in self.states])
        order = swap_sparse(self._ladder, fitted, scores, self.swapped, stones, self._rng)
        self.states = [self.states[replica] for replica in order]
        self._redraw(np.flatnonzero(order != np.arange(len(order))))
        return stones

    def _redraw(self, rungs: np.ndarray | range) -> None:
        """Draw the scores of replicas that came to another rung: the old ones belong to other evidence."""
        from disaggregate.sampler.compiled.sweep import redraw_scores

        for rung in rungs:
            redraw_scores(self.problems[rung], self._prior, self.states[rung], self._rng)


def run_ladder_chain(
    problem: Problem,
    prior: Prior,
    powers: np.ndarray,
    n_proposals: int,
    rng: np.random.Generator,
    schedule: Schedule,
    on_sweeps: Callable[[int], None] | None = None,
) -> ChainDraws:
    """Run a chain of replicas with sparse weights and return the kept draws of the first rung.

    Parameters
    ----------
    problem, prior : Problem, Prior
        Data and hyper-parameters.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence, from 1 down to 0.
    n_proposals : int
        Births and deaths proposed a sweep.
    rng : numpy.random.Generator
        The chain's own generator.
    schedule : Schedule
        Length.
    on_sweeps : callable, optional
        Told of every sweep.
    """
    replicas = SparseLadder(problem, prior, powers, n_proposals, rng)
    batches, stones = [], []
    for sweep in range(schedule.n_sweeps):
        batches.append(replicas.sweep(schedule.n_burn, schedule.thin))
        ratios = replicas.swap()
        if sweep >= schedule.n_burn:
            stones.append(ratios)
        if on_sweeps is not None:
            on_sweeps(1)
    rates = replicas.swapped / schedule.n_sweeps
    return chain_draws(batches, replicas.label_sums, replicas.count_tallies, np.array(stones), rates)


def tune_powers(
    problem: Problem, prior: Prior, n_replicas: int, n_proposals: int, rng: np.random.Generator
) -> np.ndarray:
    """Run a pilot and place the rungs so that all neighbours swap equally often.

    Parameters
    ----------
    problem, prior : Problem, Prior
        Data and hyper-parameters.
    n_replicas : int
        Number of rungs.
    n_proposals : int
        Births and deaths proposed a sweep.
    rng : numpy.random.Generator
        The pilot's own generator.
    """
    prepare("sparse")  # so that a first fit is told why it waits
    powers = first_powers(n_replicas)
    replicas = SparseLadder(problem, prior, powers, n_proposals, rng)
    for _ in range(_PILOT_PHASES):
        for _ in range(_PILOT_SWEEPS):
            replicas.sweep(_NEVER, 1)
            replicas.swap()
        powers = respaced(powers, 1.0 - replicas.swapped / _PILOT_SWEEPS, n_replicas)
        replicas.climb(powers)
    return powers
