"""One chain from its start to its last draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from disaggregate.sampler.model import Prior, SparseData, State, has_capacity, with_capacity
from disaggregate.sampler.starts import random_start
from disaggregate.storage.draw_store import Batch, DrawStore, InMemoryDraws

# Sweeps per compiled call: long enough to hide the call, short enough for a live progress bar and Ctrl-C.
BATCH = 50


Moves = Literal["sparse", "dense", "published"]


@dataclass(frozen=True)
class Schedule:
    """How long a chain runs and with which moves.

    Attributes
    ----------
    n_burn : int
        Sweeps that are discarded first.
    n_draws : int
        Draws that are kept.
    thin : int
        Sweeps per kept draw.
    moves : {"sparse", "dense", "published"}
        Which sweep: for sparse or for dense weights, or the one of 2005. The second has a file of its own.
    """

    n_burn: int
    n_draws: int
    thin: int
    moves: Moves

    @property
    def n_sweeps(self) -> int:
        """Sweeps of a whole chain."""
        return self.n_burn + self.n_draws * self.thin


class Record(NamedTuple):
    """What compiled code records: a row per kept draw, and running sums over all of them."""

    size: np.ndarray
    scale: np.ndarray
    active: np.ndarray
    weights: np.ndarray
    label_sums: np.ndarray
    share_tallies: np.ndarray


@dataclass(frozen=True)
class ChainDraws:
    """The kept draws of one chain.

    Attributes
    ----------
    size : ndarray of shape (n_draws,)
        Number of active columns, the fixed ones included.
    scale : ndarray of shape (n_draws,)
        delta2.
    active, weights : ndarray of shape (sum of size,)
        Active columns and their weights, draw after draw.
    label_sums : ndarray of shape (n_rows,)
        In how many draws each individual was positive.
    share_tallies : ndarray of shape (n_rows + n_groups,)
        In how many draws each group had each count of positives.
    log_ratios : ndarray of shape (n_draws, n_rungs - 1, 2)
        Log likelihood ratios between neighbouring rungs of a ladder.
    swap_rates : ndarray of shape (n_rungs - 1,)
        How often neighbours swap.
    """

    size: np.ndarray
    scale: np.ndarray
    active: np.ndarray
    weights: np.ndarray
    label_sums: np.ndarray
    share_tallies: np.ndarray
    log_ratios: np.ndarray
    swap_rates: np.ndarray

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.size)

    def first(self, n_draws: int) -> ChainDraws:
        """Keep the first draws only; the sums over all draws are taken for theirs."""
        if n_draws == len(self.size):
            return self
        n_active = int(self.size[:n_draws].sum())
        own = {"size": self.size[:n_draws], "scale": self.scale[:n_draws]}
        return replace(
            self,
            **own,
            active=self.active[:n_active],
            weights=self.weights[:n_active],
            **first_sums(self, n_draws),
        )


class _Sums(Protocol):
    """What the draws of a chain have beside parameters, of any kind of weights."""

    @property
    def n_draws(self) -> int:
        """Number of draws."""

    @property
    def label_sums(self) -> np.ndarray:
        """Labels added up over draws."""

    @property
    def share_tallies(self) -> np.ndarray:
        """Shares of groups added up over draws."""

    @property
    def log_ratios(self) -> np.ndarray:
        """Log likelihood ratios between rungs, draw by draw."""


def first_sums(draws: _Sums, n_draws: int) -> dict[str, np.ndarray]:
    """Return log ratios of the first draws, and sums over all of them as if they were over these."""
    share = n_draws / draws.n_draws
    return {
        "label_sums": share * draws.label_sums,
        "share_tallies": share * draws.share_tallies,
        "log_ratios": draws.log_ratios[:n_draws],
    }


# Sizes, scales, active columns and weights, before there are any.
NO_DRAWS: Batch = (np.empty(0, dtype=np.int64), np.empty(0), np.empty(0, dtype=np.int64), np.empty(0))


class SparseChain:
    """One chain with one replica, batch after batch.

    Parameters
    ----------
    data, prior : SparseData, Prior
        Data and hyper-parameters.
    schedule : Schedule
        Length and moves.
    n_proposals : int
        Births and deaths proposed per sweep.
    rng : numpy.random.Generator
        The chain's own generator.
    """

    def __init__(
        self, data: SparseData, prior: Prior, schedule: Schedule, n_proposals: int, rng: np.random.Generator
    ) -> None:
        self._data, self._prior, self._rng = data, prior, rng
        self._n_proposals = n_proposals
        self.schedule = schedule
        self.n_done = 0  # sweeps done, all of them with their draws written down
        self._state: State | None = None
        self.store: DrawStore = InMemoryDraws()
        self._sums = np.zeros(data.psi.shape[1], dtype=np.int64)
        self._tallies = np.zeros(len(data.evidence.likelihood), dtype=np.int64)

    @property
    def n_sweeps(self) -> int:
        """Sweeps to do in all."""
        return self.schedule.n_sweeps

    def advance(self) -> None:
        """Do a batch of sweeps; the first one starts the chain."""
        from disaggregate.sampler.compiled import sweep  # numba is slow to import, and only fits need it

        state = self._state
        if state is None:
            state = random_start(self._data, self._prior, self._n_proposals, self._rng)
        elif not has_capacity(self._data, state):
            state = with_capacity(self._data, state)
        self._state = state
        record = empty_record(len(state.active), self._sums, self._tallies)
        n_sweeps = min(BATCH, self.n_sweeps - self.n_done)
        advance = getattr(sweep, f"advance_{self.schedule.moves}")
        n_burn, thin = self.schedule.n_burn, self.schedule.thin
        kept = advance(self._data, self._prior, state, self._rng, n_sweeps, n_burn, thin, record)
        self.store.append(compact(record, kept))
        self.n_done = int(state.sweep[0])

    def draws(self) -> ChainDraws:
        """Return what was drawn so far."""
        size, scale, active, weights = self.store.joined(NO_DRAWS)
        no_ladder = np.empty((0, 0, 2)), np.empty(0)
        return ChainDraws(size, scale, active, weights, self._sums, self._tallies, *no_ladder)

    def snapshot(self) -> dict[str, Any]:
        """Take a snapshot: everything that the next batch depends on, and what was drawn so far."""
        return {
            "state": None if self._state is None else copies(self._state),
            "generator": self._rng.bit_generator.state,
            "kept": self.store.snapshot(),
            "sums": [self._sums.copy(), self._tallies.copy()],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Resume from a state."""
        self._state = None if snapshot["state"] is None else State(*copies(snapshot["state"]))
        self._rng.bit_generator.state = snapshot["generator"]
        self.store.restore(snapshot["kept"])
        self._sums, self._tallies = copies(snapshot["sums"])
        self.n_done = 0 if self._state is None else int(self._state.sweep[0])


def copies(arrays: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Copy each of some arrays."""
    return [array.copy() for array in arrays]


def empty_record(capacity: int, sums: np.ndarray, tallies: np.ndarray, n_rows: int = BATCH) -> Record:
    """Make room for the draws of one batch; the running sums go on from one to the next."""
    return Record(
        size=np.zeros(n_rows, dtype=np.int64),
        scale=np.zeros(n_rows),
        active=np.zeros((n_rows, capacity), dtype=np.int64),
        weights=np.zeros((n_rows, capacity)),
        label_sums=sums,
        share_tallies=tallies,
    )


def compact(record: Record, kept: int) -> Batch:
    """Take the kept draws out of the padded rows."""
    used = np.arange(record.active.shape[1]) < record.size[:kept, None]
    return (
        record.size[:kept].copy(),
        record.scale[:kept].copy(),
        record.active[:kept][used],
        record.weights[:kept][used],
    )
