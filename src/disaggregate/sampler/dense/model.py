"""What a sweep over all replicas reads and what it changes, as plain arrays that compiled code can take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.sampler.evidence import EvidenceLadder


class DenseProblem(NamedTuple):
    """The data of a fit with dense weights; nothing in it changes.

    Attributes
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Orthonormal columns, one a row of this array, individuals sorted by group.
    deviation : ndarray of shape (n_columns,)
        Prior standard deviation of each column's weight in units of delta.
    ladder : EvidenceLadder
        What the groups report, from full strength on the first rung to nothing on the last.
    """

    columns: np.ndarray
    deviation: np.ndarray
    ladder: EvidenceLadder


class Replicas(NamedTuple):
    """Where the replicas of one chain stand, one a rung; the moves change these arrays in place.

    Attributes
    ----------
    position : ndarray of shape (n_rungs, n_columns + 1)
        Weights in units of their prior standard deviation, so that a priori each is N(0, 1), and log delta2 last.
    fitted : ndarray of shape (n_rungs, n_rows)
        f, the weighted sum of the columns.
    scores : ndarray of shape (n_rungs, n_rows)
        Labels as signs: of every individual on the first rung, on the others of those in large groups.
    sweep : ndarray of shape (1,)
        Number of sweeps done.
    """

    position: np.ndarray
    fitted: np.ndarray
    scores: np.ndarray
    sweep: np.ndarray


class Paths(NamedTuple):
    """How far Hamiltonian paths go, found by a pilot run and then left alone.

    Attributes
    ----------
    step : ndarray of shape (n_rungs,)
        Step of each rung.
    mass : ndarray of shape (n_rungs, n_columns + 1)
        How narrow the density is along each coordinate at each rung.
    """

    step: np.ndarray
    mass: np.ndarray


class Tally(NamedTuple):
    """Running sums over sweeps, from which a pilot run tunes the rest.

    Attributes
    ----------
    moves, accepted : ndarray of shape (n_rungs,)
        Number of Hamiltonian moves, and their acceptance probabilities.
    sums, squares, forces : ndarray of shape (n_rungs, n_columns + 1)
        Positions where the paths start, their squares, and squared forces there.
    swapped : ndarray of shape (n_rungs - 1,)
        Acceptance probabilities of the swaps with the next rung.
    """

    moves: np.ndarray
    accepted: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    forces: np.ndarray
    swapped: np.ndarray


def empty_tally(n_rungs: int, n_coordinates: int) -> Tally:
    """Start counting."""
    sums, squares, forces = np.zeros((3, n_rungs, n_coordinates))
    return Tally(np.zeros(n_rungs), np.zeros(n_rungs), sums, squares, forces, np.zeros(n_rungs - 1))


def moving_rungs(n_rungs: int, sweep: int) -> np.ndarray:
    """List the rungs whose replicas move in a sweep.

    The first moves in every one. Those between move faster and so only in every second; the last is drawn from
    the prior.
    """
    return np.append(0, np.arange(2 - sweep % 2, n_rungs - 1, 2))


def fitted_scores(problem: DenseProblem, position: np.ndarray) -> np.ndarray:
    """F at the training rows for each of some positions."""
    with np.errstate(over="ignore", invalid="ignore"):
        return weights_at(problem.deviation, position) @ problem.columns


def weights_at(deviation: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Weights of the columns, of this prior deviation, for each of some positions."""
    return position[..., :-1] * np.exp(0.5 * position[..., -1:]) * deviation
