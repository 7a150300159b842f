"""The kept draws of all chains for one kernel, and the scores f that they give to anybody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from disaggregate.basis import Basis
from disaggregate.sampler.chain import ChainDraws
from disaggregate.sampler.dense.chain import DenseDraws

# Draws that are worked on at once, so that memory does not grow with them when they are on disk.
_DRAWS_AT_ONCE = 2**10
_VALUES_AT_ONCE = 2**20

# Makes one array of pieces along its first axis, given a name, the shape and the type.
Put = Callable[[str, tuple[int, ...], np.dtype, Iterable[np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class KernelDraws:
    """Posterior draws of the weights of one kernel on its centres.

    Attributes
    ----------
    basis : Basis
        The kernels that the weights belong to.
    delta2 : ndarray of shape (n_chains, n_draws)
        Scale of the weights.
    n_active : ndarray of shape (n_chains, n_draws)
        Number of active kernels; an intercept does not count.
    weights : array of shape (n_chains * n_draws, n_columns)
        Weights of the kernels, the intercept first when there is one; a row a draw, chain after chain. A
        sparse array unless the weights are dense.
    """

    basis: Basis
    delta2: np.ndarray
    n_active: np.ndarray
    weights: csr_array | np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Number of chains and of draws in each."""
        return self.delta2.shape[0], self.delta2.shape[1]

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Score f(x) = sum_k beta_k K(x, c_k) of each row in each draw, shape (n_chains * n_draws, n_rows)."""
        if isinstance(self.weights, np.ndarray):
            return self.weights @ self.basis.columns(X)
        used = _used_columns(self.weights)
        columns = self.basis.columns(X, used)
        pieces = _slices(self.weights.shape[0], _DRAWS_AT_ONCE)
        return np.concatenate([self.weights[piece][:, used] @ columns for piece in pieces])

    @property
    def constant(self) -> np.ndarray | None:
        """Weight of the intercept in each draw, shape (n_chains, n_draws); None without one."""
        if not self.basis.intercept:
            return None
        first = self.weights[:, [0]]
        return (first if isinstance(first, np.ndarray) else first.toarray()).reshape(self.shape)


def gather_sparse_draws(chains: Sequence[ChainDraws], basis: Basis, scales: np.ndarray, put: Put) -> KernelDraws:
    """Put the chains' draws together, with the weights in the kernels' own units.

    Parameters
    ----------
    chains : sequence of ChainDraws
        Draws of each chain, for columns divided by ``scales``.
    basis : Basis
        The kernels.
    scales : ndarray of shape (n_columns,)
        What the sampler's columns were divided by.
    put : callable
        Makes an array of pieces, where the draws are to be.
    """
    starts = np.concatenate([[0], np.cumsum(np.concatenate([chain.size for chain in chains]))])
    largest = max(int(starts[-1]), basis.n_columns)
    kind = np.dtype(np.int32 if largest <= np.iinfo(np.int32).max else np.int64)  # as scipy would choose
    pieces = [(chain, piece) for chain in chains for piece in _slices(len(chain.active), _VALUES_AT_ONCE)]
    columns = put("columns", (int(starts[-1]),), kind, (chain.active[piece] for chain, piece in pieces))
    values = put(
        "weights",
        columns.shape,
        np.dtype(float),
        (chain.weights[piece] / scales[chain.active[piece]] for chain, piece in pieces),
    )
    weights = csr_array((values, columns, starts.astype(kind)), shape=(len(starts) - 1, basis.n_columns))
    return KernelDraws(
        basis=basis,
        delta2=np.stack([chain.scale for chain in chains]),
        n_active=np.stack([chain.size for chain in chains]) - int(basis.intercept),
        weights=weights,
    )


def gather_dense_draws(
    chains: Sequence[DenseDraws], basis: Basis, to_kernels: np.ndarray, put: Put
) -> KernelDraws:
    """Put the chains' draws together, with the weights of the directions turned into weights of the kernels.

    Parameters
    ----------
    chains : sequence of DenseDraws
        Draws of each chain.
    basis : Basis
        The kernels.
    to_kernels : ndarray of shape (n_directions, n_columns)
        As in :class:`disaggregate.basis.Directions`.
    put : callable
        Makes an array of pieces, where the draws are to be.
    """
    delta2 = np.stack([chain.scale for chain in chains])
    pieces = (
        chain.weights[piece] @ to_kernels
        for chain in chains
        for piece in _slices(len(chain.weights), _DRAWS_AT_ONCE)
    )
    return KernelDraws(
        basis=basis,
        delta2=delta2,
        n_active=np.full(delta2.shape, len(basis.centers)),
        weights=put("weights", (delta2.size, basis.n_columns), np.dtype(float), pieces),
    )


def _used_columns(weights: csr_array) -> np.ndarray:
    """Find the columns that are active in any draw."""
    is_used = np.zeros(weights.shape[1], dtype=bool)
    for piece in _slices(len(weights.indices), _VALUES_AT_ONCE):
        is_used[weights.indices[piece]] = True
    return np.flatnonzero(is_used)


def _slices(length: int, at_once: int) -> Iterator[slice]:
    """Cut a length into pieces; one of nothing when there is nothing."""
    return (slice(first, first + at_once) for first in range(0, max(length, 1), at_once))
