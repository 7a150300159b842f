"""What the driver of all chains reads and changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from disaggregate.sampler.blocks import cut
from disaggregate.sampler.blocks.answers import Pull, Question
from disaggregate.sampler.blocks.sums import Bits, Sums
from disaggregate.sampler.dense.model import weights_at
from disaggregate.sampler.model import Prior


class BlockProblem(NamedTuple):
    """Data and hyper-parameters; nothing in it changes.

    Attributes
    ----------
    sums : Sums
        The blocks.
    deviation : ndarray of shape (n_columns,)
        Prior standard deviation of each column's weight in units of delta.
    prior : Prior
        Hyper-parameters.
    seed : int
        Seed of the blocks' random streams.
    n_rungs : int
        Replicas of a chain.
    has_large_groups : bool
        Whether labels are part of the state.
    in_one_piece : int
        In groups of more members they are.
    """

    sums: Sums
    deviation: np.ndarray
    prior: Prior
    seed: int
    n_rungs: int
    has_large_groups: bool
    in_one_piece: int = cut.IN_ONE_PIECE


@dataclass
class Crowd:
    """Where all replicas of all chains stand; moves change it in place.

    Attributes
    ----------
    position : ndarray of shape (n_chains, n_rungs, n_columns + 1)
        Weights in units of their prior standard deviation, and log delta2 last.
    bits : list of ndarray or None
        Labels in each block, a row a replica, chain after chain; None where nothing depends on them.
    pull : Pull or None
        Likelihood and pull at these positions, a row a replica; None when it is not known.
    sweep : int
        Sweeps done.
    """

    position: np.ndarray
    bits: Bits
    pull: Pull | None
    sweep: int


class Metric(NamedTuple):
    """Steps and directions of Hamiltonian paths.

    Attributes
    ----------
    step : ndarray of shape (n_rungs,)
        Step of each rung.
    factor : ndarray of shape (n_rungs, n_columns + 1, n_columns + 1)
        Lower Cholesky factor of the mass: how narrow the density is along each direction.
    unfactor : ndarray of the same shape
        Its inverse.
    """

    step: np.ndarray
    factor: np.ndarray
    unfactor: np.ndarray


def metric_of(step: np.ndarray, curvature: np.ndarray) -> Metric:
    """Factor the curvature of each rung."""
    factor = np.linalg.cholesky(curvature)
    return Metric(step, factor, np.linalg.inv(factor))


def weights_of(problem: BlockProblem, position: np.ndarray) -> np.ndarray:
    """Weights of the columns at some positions."""
    with np.errstate(over="ignore"):
        return weights_at(problem.deviation, position)


def question_at(problem: BlockProblem, position: np.ndarray, rungs: np.ndarray) -> Question:
    """Ask about positions of shape (n_replicas, n_columns + 1)."""
    return Question(np.ascontiguousarray(weights_of(problem, position)), np.asarray(rungs, dtype=np.int64))


def all_rungs(n_chains: int, n_rungs: int) -> np.ndarray:
    """Rung of each replica, chain after chain."""
    return np.tile(np.arange(n_rungs), n_chains)


def posterior_curvature(problem: BlockProblem, position: np.ndarray, information: np.ndarray) -> np.ndarray:
    """Curvature of minus the log density in standard weights and log delta2, from that of the likelihood.

    Parameters
    ----------
    problem : BlockProblem
        Prior.
    position : ndarray of shape (n_replicas, n_columns + 1)
        Where.
    information : ndarray of shape (n_replicas, n_columns + 1, n_columns + 1)
        In the weights and in a factor of all of them; log delta2 is twice the logarithm of such a factor.
    """
    n_replicas, n_coordinates = position.shape
    scale = np.full((n_replicas, n_coordinates), 0.5)
    scale[:, :-1] = np.exp(0.5 * position[:, -1:]) * problem.deviation
    curvature = information * scale[:, :, None] * scale[:, None, :]
    diagonal = np.ones((n_replicas, n_coordinates))
    diagonal[:, -1] = 0.5 * problem.prior.nu * np.exp(-position[:, -1])
    curvature[:, np.arange(n_coordinates), np.arange(n_coordinates)] += diagonal
    return curvature
