"""What a sweep changes, and what it reports beside."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from disaggregate.sampler.dense.metric import Metric


class State(NamedTuple):
    """Where the replicas of some chains stand, one per rung; sweeps change these arrays in place.

    Attributes
    ----------
    position : ndarray of shape (n_chains, n_rungs, n_coordinates)
        As in :mod:`disaggregate.model.components`.
    energy : ndarray of shape (n_chains, n_rungs)
        Minus log density of each replica under its own rung's posterior.
    force : ndarray of shape (n_chains, n_rungs, n_coordinates)
        Minus its gradient.
    is_known : ndarray of int, shape (n_chains, n_rungs)
        Whether energy and force are those of the present position.
    sweep : ndarray of int, shape (1,)
        Number of sweeps done.
    """

    position: np.ndarray
    energy: np.ndarray
    force: np.ndarray
    is_known: np.ndarray
    sweep: np.ndarray


class Tally(NamedTuple):
    """Running sums over sweeps.

    Attributes
    ----------
    moves, accepted : ndarray of shape (n_chains, 2 * n_rungs)
        Number of Hamiltonian moves, and their acceptance probabilities: of free ones, then with fixed scales.
    swapped : ndarray of shape (n_chains, n_rungs - 1)
        Acceptance probabilities of the swaps with the next rung.
    """

    moves: np.ndarray
    accepted: np.ndarray
    swapped: np.ndarray


class Record(NamedTuple):
    """What a batch of sweeps writes down: one entry per kept draw, and running sums.

    Attributes
    ----------
    weights : ndarray of shape (n_kept, n_chains, n_weights + n_places)
        Weights of the individual component and of context, and the groups' intercepts.
    scales : ndarray of shape (n_kept, n_chains, n_scales)
        Scales delta2.
    log_ratios : ndarray of shape (n_kept, n_chains, n_rungs - 1, 2)
        Log likelihood ratios between neighbouring rungs; see :func:`disaggregate.sampler.exchange.swap_order`.
    label_sums : ndarray of shape (n_chains, n_rows)
        Expected labels, given the scores and the reports, added up over draws.
    share_tallies : ndarray of shape (n_chains, n_tallies)
        Probabilities of each group's shares, added up over draws.
    """

    weights: np.ndarray
    scales: np.ndarray
    log_ratios: np.ndarray
    label_sums: np.ndarray
    share_tallies: np.ndarray


class Sweeps(NamedTuple):
    """Sweeps to do, and the arrays that they change.

    Attributes
    ----------
    metric : Metric
        Steps and masses.
    state, tally, record : State, Tally, Record
        Changed in place.
    rngs : list of numpy.random.Generator
        One per chain.
    n_sweeps : int
        How many sweeps to do.
    n_burn, thin : int
        After the first ``n_burn`` sweeps of a chain every ``thin``-th is kept.
    """

    metric: Metric
    state: State
    rngs: list[np.random.Generator]
    n_sweeps: int
    n_burn: int
    thin: int
    tally: Tally
    record: Record


def new_state(position: np.ndarray) -> State:
    """Start from positions of shape (n_chains, n_rungs, n_coordinates)."""
    n_chains, n_rungs, _ = position.shape
    return State(
        position=np.ascontiguousarray(position, dtype=np.float64),
        energy=np.zeros((n_chains, n_rungs)),
        force=np.zeros(position.shape),
        is_known=np.zeros((n_chains, n_rungs), dtype=np.int64),
        sweep=np.zeros(1, dtype=np.int64),
    )


def empty_tally(n_chains: int, n_rungs: int) -> Tally:
    """Start counting."""
    moves, accepted = np.zeros((2, n_chains, 2 * n_rungs))
    return Tally(moves, accepted, np.zeros((n_chains, n_rungs - 1)))


def moving_rungs(n_rungs: int, sweep: int) -> np.ndarray:
    """List the rungs whose replicas move in a sweep.

    The first moves in every one, and once more by itself, as all others together cost several times as much.
    Those between move faster and so only in every second; the last is drawn from the prior.
    """
    return np.append(0, np.arange(2 - sweep % 2, n_rungs - 1, 2))


class _Sized(Protocol):
    """Something that knows its numbers of rows and tallies, and its components."""

    target: Any

    @property
    def n_rows(self) -> int: ...

    @property
    def n_tallies(self) -> int: ...


def new_record(data: _Sized, n_chains: int, n_rungs: int, n_kept: int, labels: bool = True) -> Record:
    """Make room for the draws of a batch.

    Parameters
    ----------
    data : Backend
        What the sweeps are over.
    n_chains, n_rungs, n_kept : int
        Chains, replicas of each, and draws that may be kept.
    labels : bool, default=True
        Whether expected labels and shares are added up.
    """
    components = data.target.components
    return Record(
        weights=np.empty((n_kept, n_chains, components.n_weights + components.n_places)),
        scales=np.empty((n_kept, n_chains, len(components.priors))),
        log_ratios=np.empty((n_kept, n_chains, n_rungs - 1, 2)),
        label_sums=np.zeros((n_chains, data.n_rows if labels else 0)),
        share_tallies=np.zeros((n_chains, data.n_tallies if labels else 0)),
    )
