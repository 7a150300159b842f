"""One chain from its start to its last draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from disaggregate.sampler.model import Prior, Problem, State, has_room, with_room

# Sweeps a compiled call: long enough to hide the call, short enough for a live progress bar and Ctrl-C.
BATCH = 50


Moves = Literal["sparse", "dense", "published"]


@dataclass(frozen=True)
class Schedule:
    """How long a chain runs and with which moves.

    Attributes
    ----------
    n_burn : int
        Sweeps that are thrown away first.
    n_draws : int
        Draws that are kept.
    thin : int
        Sweeps a kept draw.
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
    """What compiled code writes down: a row a kept draw, and running sums over all of them."""

    size: np.ndarray
    scale: np.ndarray
    active: np.ndarray
    weights: np.ndarray
    label_sums: np.ndarray
    count_tallies: np.ndarray


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
    count_tallies : ndarray of shape (n_rows + n_groups,)
        In how many draws each group had each count of positives.
    stones : ndarray of shape (n_sweeps, n_rungs - 1, 2)
        Log likelihood ratios between neighbouring rungs of a ladder, after burn-in.
    swap_rates : ndarray of shape (n_rungs - 1,)
        How often neighbours trade places.
    """

    size: np.ndarray
    scale: np.ndarray
    active: np.ndarray
    weights: np.ndarray
    label_sums: np.ndarray
    count_tallies: np.ndarray
    stones: np.ndarray
    swap_rates: np.ndarray


def run_chain(
    problem: Problem,
    prior: Prior,
    start: State,
    rng: np.random.Generator,
    schedule: Schedule,
    on_sweeps: Callable[[int], None] | None = None,
) -> ChainDraws:
    """Run a chain and return its kept draws.

    Parameters
    ----------
    problem, prior : Problem, Prior
        Data and hyper-parameters.
    start : State
        Where the chain starts; it is changed.
    rng : numpy.random.Generator
        The chain's own generator.
    schedule : Schedule
        Length and moves.
    on_sweeps : callable, optional
        Told how many sweeps were done, some times a second.
    """
    from disaggregate.sampler.compiled import sweep  # numba is slow to import, and only fits need it

    advance = getattr(sweep, f"advance_{schedule.moves}")
    state = start
    sums = np.zeros(problem.psi.shape[1], dtype=np.int64)
    tallies = np.zeros(len(problem.evidence.likelihood), dtype=np.int64)
    batches = []
    while state.sweep[0] < schedule.n_sweeps:
        if not has_room(problem, state):
            state = with_room(problem, state)
        before = int(state.sweep[0])
        record = empty_record(len(state.active), sums, tallies)
        n_sweeps = min(BATCH, schedule.n_sweeps - before)
        kept = advance(problem, prior, state, rng, n_sweeps, schedule.n_burn, schedule.thin, record)
        batches.append(compact(record, kept))
        if on_sweeps is not None:
            on_sweeps(int(state.sweep[0]) - before)
    return chain_draws(batches, sums, tallies, np.empty((0, 0, 2)), np.empty(0))


def chain_draws(
    batches: list[tuple[np.ndarray, ...]],
    sums: np.ndarray,
    tallies: np.ndarray,
    stones: np.ndarray,
    swap_rates: np.ndarray,
) -> ChainDraws:
    """Put the batches of a chain together."""
    size, scale, active, weights = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return ChainDraws(size, scale, active, weights, sums, tallies, stones, swap_rates)


def empty_record(capacity: int, sums: np.ndarray, tallies: np.ndarray, n_rows: int = BATCH) -> Record:
    """Make room for the draws of one batch; the running sums go on from one to the next."""
    return Record(
        size=np.zeros(n_rows, dtype=np.int64),
        scale=np.zeros(n_rows),
        active=np.zeros((n_rows, capacity), dtype=np.int64),
        weights=np.zeros((n_rows, capacity)),
        label_sums=sums,
        count_tallies=tallies,
    )


def compact(record: Record, kept: int) -> tuple[np.ndarray, ...]:
    """Take the kept draws out of the padded rows."""
    used = np.arange(record.active.shape[1]) < record.size[:kept, None]
    return (
        record.size[:kept].copy(),
        record.scale[:kept].copy(),
        record.active[:kept][used],
        record.weights[:kept][used],
    )
