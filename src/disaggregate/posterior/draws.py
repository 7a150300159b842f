"""The kept draws of all chains, and the scores f that they give to anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

from disaggregate.basis import Basis
from disaggregate.sampler.chain import ChainDraws
from disaggregate.sampler.dense.chain import DenseDraws

if TYPE_CHECKING:
    from xarray import DataTree


@dataclass(frozen=True)
class Posterior:
    """Posterior draws of the model's parameters.

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

    def to_datatree(self, X: np.ndarray | None = None) -> DataTree:
        """Give the draws to ArviZ.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features), optional
            Individuals whose probabilities to include, as variable ``probability``.

        Returns
        -------
        xarray.DataTree
            With a group ``posterior`` of dimensions ``chain`` and ``draw``.
        """
        try:
            import xarray as xr
        except ImportError as error:
            raise ImportError("to_datatree needs xarray: pip install 'disaggregate[arviz]'") from error
        variables: dict = {
            "delta2": (("chain", "draw"), self.delta2),
        }
        if not isinstance(self.weights, np.ndarray):  # dense weights are all active, always
            variables["n_active"] = (("chain", "draw"), self.n_active)
        if self.basis.intercept:
            constant = self.weights[:, [0]]
            constant = constant if isinstance(constant, np.ndarray) else constant.toarray()
            variables["intercept"] = (("chain", "draw"), constant.reshape(self.shape))
        if X is not None:
            probability = ndtr(self.scores(np.asarray(X, dtype=np.float64))).reshape(*self.shape, -1)
            variables["probability"] = (("chain", "draw", "individual"), probability)
        coordinates = {"chain": np.arange(self.shape[0]), "draw": np.arange(self.shape[1])}
        return xr.DataTree.from_dict({"posterior": xr.Dataset(variables, coords=coordinates)})


def gather_sparse_draws(chains: Sequence[ChainDraws], basis: Basis, scales: np.ndarray) -> Posterior:
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
    return Posterior(
        basis=basis,
        delta2=np.stack([chain.scale for chain in chains]),
        n_active=np.stack([chain.size for chain in chains]) - int(basis.intercept),
        weights=weights,
    )


def gather_dense_draws(chains: Sequence[DenseDraws], basis: Basis, to_kernels: np.ndarray) -> Posterior:
    """Put the chains' draws together, with the weights of the directions turned into weights of the kernels.

    Parameters
    ----------
    chains : sequence of ChainDraws
        Draws of each chain.
    basis : Basis
        The kernels.
    to_kernels : ndarray of shape (n_directions, n_columns)
        As in :class:`disaggregate.basis.Directions`.
    """
    weights = np.concatenate([chain.weights for chain in chains])
    delta2 = np.stack([chain.scale for chain in chains])
    return Posterior(
        basis=basis,
        delta2=delta2,
        n_active=np.full(delta2.shape, len(basis.centers)),
        weights=weights @ to_kernels,
    )
