"""A ladder of replicas for sparse weights: on every rung the sparse sweep, with weaker and weaker evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from disaggregate.sampler.chain import NO_DRAWS, ChainDraws, Schedule, compact, copies, empty_record
from disaggregate.sampler.evidence import make_ladder, rung_of
from disaggregate.sampler.model import Prior, SparseData, State, has_capacity, with_capacity
from disaggregate.sampler.prepare import prepare
from disaggregate.sampler.rungs import first_powers, respaced
from disaggregate.sampler.starts import random_start
from disaggregate.storage.draw_store import Batch, DrawStore, InMemoryDraws, merged

_BATCH = 10
_NEVER = np.iinfo(np.int64).max // 2

# Sweeps of a pilot run between two changes of the rungs, how often they change, and sweeps in all.
_PHASE = 60
_PILOT_PHASES = 3
PILOT_SWEEPS = _PHASE * _PILOT_PHASES


class SparseLadder:
    """Replicas of one chain, one per rung.

    Parameters
    ----------
    data : SparseData
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
        self, data: SparseData, prior: Prior, powers: np.ndarray, n_proposals: int, rng: np.random.Generator
    ) -> None:
        self._prior, self._rng = prior, rng
        self._evidence = data.evidence
        self._ladder = make_ladder(data.evidence, powers)
        self.data_by_rung = [data._replace(evidence=rung_of(self._ladder, rung)) for rung in range(len(powers))]
        self.states = [random_start(one, prior, n_proposals, rng) for one in self.data_by_rung]
        self.swapped = np.zeros(len(powers) - 1)
        self.label_sums = np.zeros(data.psi.shape[1], dtype=np.int64)
        self.share_tallies = np.zeros(len(data.evidence.likelihood), dtype=np.int64)

    def set_powers(self, powers: np.ndarray) -> None:
        """Give the replicas other powers."""
        self._ladder = make_ladder(self._evidence, powers)
        self.data_by_rung = [
            one._replace(evidence=rung_of(self._ladder, rung)) for rung, one in enumerate(self.data_by_rung)
        ]
        self.swapped[:] = 0.0
        self.redraw(range(len(powers)))

    def sweep(self, n_burn: int, thin: int) -> Batch:
        """Do one sweep on every rung and return the draw of the first one, if it is to be kept."""
        from disaggregate.sampler.compiled.sweep import advance_sparse

        for rung, data in enumerate(self.data_by_rung):
            if not has_capacity(data, self.states[rung]):
                self.states[rung] = with_capacity(data, self.states[rung])
        nothing = empty_record(0, self.label_sums, self.share_tallies, n_rows=0)
        for rung in range(len(self.states) - 1, 0, -1):
            advance_sparse(
                self.data_by_rung[rung], self._prior, self.states[rung], self._rng, 1, _NEVER, 1, nothing
            )
        capacity = len(self.states[0].active)
        record = empty_record(capacity, self.label_sums, self.share_tallies, n_rows=1)
        kept = advance_sparse(
            self.data_by_rung[0], self._prior, self.states[0], self._rng, 1, n_burn, thin, record
        )
        return compact(record, kept)

    def swap(self) -> np.ndarray:
        """Let neighbours swap; return the log likelihood ratios of each pair."""
        from disaggregate.sampler.compiled.sweep import swap_sparse

        log_ratios = np.empty((len(self.states) - 1, 2))
        fitted = np.stack([state.fitted for state in self.states])
        scores = np.stack([state.scores for state in self.states])
        order = swap_sparse(self._ladder, fitted, scores, self.swapped, log_ratios, self._rng)
        self.states = [self.states[replica] for replica in order]
        self.redraw(np.flatnonzero(order != np.arange(len(order))))
        return log_ratios

    def redraw(self, rungs: np.ndarray | range) -> None:
        """Draw the scores of replicas that came to another rung: the old ones belong to other evidence."""
        from disaggregate.sampler.compiled.sweep import redraw_scores

        for rung in rungs:
            redraw_scores(self.data_by_rung[rung], self._prior, self.states[rung], self._rng)


class LadderChain:
    """One chain of replicas with sparse weights, batch after batch.

    Parameters
    ----------
    data, prior : SparseData, Prior
        Data and hyper-parameters.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence, from 1 down to 0.
    schedule : Schedule
        Length.
    n_proposals : int
        Births and deaths proposed a sweep.
    rng : numpy.random.Generator
        The chain's own generator.
    """

    def __init__(
        self,
        data: SparseData,
        prior: Prior,
        powers: np.ndarray,
        schedule: Schedule,
        n_proposals: int,
        rng: np.random.Generator,
    ) -> None:
        self._given = (data, prior, powers, n_proposals, rng)
        self.schedule = schedule
        self.n_done = 0  # sweeps done, all of them with their draws written down
        self._replicas: SparseLadder | None = None
        self.store: DrawStore = InMemoryDraws()

    @property
    def n_sweeps(self) -> int:
        """Sweeps to do in all."""
        return self.schedule.n_sweeps

    def advance(self) -> None:
        """Do a few sweeps; the first ones start the chain."""
        if self._replicas is None:
            self._replicas = SparseLadder(*self._given)
        batches = [self._nothing]
        for _ in range(min(_BATCH, self.n_sweeps - self.n_done)):
            drawn = self._replicas.sweep(self.schedule.n_burn, self.schedule.thin)
            ratios = self._replicas.swap()[np.newaxis]
            batches.append((*drawn, ratios[: len(drawn[0])]))
        self.store.append(merged(batches))
        self.n_done = int(self._replicas.states[0].sweep[0])

    @property
    def _nothing(self) -> Batch:
        """What is kept of a sweep, before there is one: a draw and the likelihood ratios along the ladder."""
        return (*NO_DRAWS, np.empty((0, len(self._given[2]) - 1, 2)))

    def draws(self) -> ChainDraws:
        """Return what was drawn so far."""
        size, scale, active, weights, log_ratios = self.store.joined(self._nothing)
        ladder = self._replicas
        if ladder is None:
            return ChainDraws(size, scale, active, weights, np.empty(0), np.empty(0), log_ratios, np.empty(0))
        sums, tallies, rates = ladder.label_sums, ladder.share_tallies, ladder.swapped / self.n_done
        return ChainDraws(size, scale, active, weights, sums, tallies, log_ratios, rates)

    def snapshot(self) -> dict[str, Any]:
        """Take a snapshot: everything that the next batch depends on, and what was drawn so far."""
        ladder = self._replicas
        return {
            "state": None if ladder is None else [copies(state) for state in ladder.states],
            "generator": self._given[-1].bit_generator.state,
            "kept": self.store.snapshot(),
            "sums": None if ladder is None else copies((ladder.label_sums, ladder.share_tallies, ladder.swapped)),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Resume from a state."""
        self._replicas = None
        if snapshot["state"] is not None:
            self._replicas = SparseLadder(*self._given)
            self._replicas.states = [State(*copies(state)) for state in snapshot["state"]]
            sums = copies(snapshot["sums"])
            self._replicas.label_sums, self._replicas.share_tallies, self._replicas.swapped = sums
        self._given[-1].bit_generator.state = snapshot["generator"]
        self.store.restore(snapshot["kept"])
        self.n_done = 0 if self._replicas is None else int(self._replicas.states[0].sweep[0])


def tune_powers(
    data: SparseData,
    prior: Prior,
    n_replicas: int,
    n_proposals: int,
    rng: np.random.Generator,
    on_sweeps: Callable[[int], None],
) -> np.ndarray:
    """Run a pilot and place the rungs so that all neighbours swap equally often.

    Parameters
    ----------
    data, prior : SparseData, Prior
        Data and hyper-parameters.
    n_replicas : int
        Number of rungs.
    n_proposals : int
        Births and deaths proposed a sweep.
    rng : numpy.random.Generator
        The pilot's own generator.
    on_sweeps : callable
        Called after each sweep that was done, of :data:`PILOT_SWEEPS` in all.
    """
    prepare("sparse")  # so that users know why the first fit takes longer
    powers = first_powers(n_replicas)
    replicas = SparseLadder(data, prior, powers, n_proposals, rng)
    for _ in range(_PILOT_PHASES):
        for _ in range(_PHASE):
            replicas.sweep(_NEVER, 1)
            replicas.swap()
            on_sweeps(1)
        powers = respaced(powers, 1.0 - replicas.swapped / _PHASE, n_replicas)
        replicas.set_powers(powers)
    return powers
