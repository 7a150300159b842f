"""The kept draws of all chains for one kernel, and the scores f that they give to anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from disaggregate.basis import Basis
from disaggregate.sampler.chain import ChainDraws
from disaggregate.sampler.dense.chain import DenseDraws


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
        used = np.unique(self.weights.indices)
        return self.weights[:, used] @ self.basis.columns(X, used)

    @property
    def constant(self) -> np.ndarray | None:
        """Weight of the intercept in each draw, shape (n_chains, n_draws); None without one."""
        if not self.basis.intercept:
            return None
        first = self.weights[:, [0]]
        return (first if isinstance(first, np.ndarray) else first.toarray()).reshape(self.shape)


def gather_sparse_draws(chains: Sequence[ChainDraws], basis: Basis, scales: np.ndarray) -> KernelDraws:
    """Put the chains' draws together, with the weights in the kernels' own units.

    Parameters
    ----------
    chains : sequence of ChainDraws
        Draws of each chain, for columns divided by ``scales``.
    basis : Basis
        The kernels.
    scales : ndarray of shape (n_columns,)
        What the sampler's columns were divided by.
    """
    size = np.concatenate([chain.size for chain in chains])
    columns = np.concatenate([chain.active for chain in chains])
    values = np.concatenate([chain.weights for chain in chains]) / scales[columns]
    starts = np.concatenate([[0], np.cumsum(size)])
    weights = csr_array((values, columns, starts), shape=(len(size), basis.n_columns))
    return KernelDraws(
        basis=basis,
        delta2=np.stack([chain.scale for chain in chains]),
        n_active=np.stack([chain.size for chain in chains]) - int(basis.intercept),
        weights=weights,
    )


def gather_dense_draws(chains: Sequence[DenseDraws], basis: Basis, to_kernels: np.ndarray) -> KernelDraws:
    """Put the chains' draws together, with the weights of the directions turned into weights of the kernels.

    Parameters
    ----------
    chains : sequence of DenseDraws
        Draws of each chain.
    basis : Basis
        The kernels.
    to_kernels : ndarray of shape (n_directions, n_columns)
        As in :class:`disaggregate.basis.Directions`.
    """
    weights = np.concatenate([chain.weights for chain in chains])
    delta2 = np.stack([chain.scale for chain in chains])
    return KernelDraws(
        basis=basis,
        delta2=delta2,
        n_active=np.full(delta2.shape, len(basis.centers)),
        weights=weights @ to_kernels,
    )
