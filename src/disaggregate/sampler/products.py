"""Sufficient statistics: what the selection, weight and scale blocks need to know of the latent scores."""

from __future__ import annotations

import numpy as np

from disaggregate.sampler.model import Prior, SparseData, State


def gather_products(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Draw this sweep's candidate columns and take the products with Z of those and of the active columns.

    This and the latent step are the only passes over the individuals.
    """
    n_selectable = len(data.gram) - data.n_fixed
    uniform = rng.random(len(state.candidates))
    state.candidates[:] = data.n_fixed + (uniform * n_selectable).astype(np.int64)
    state.candidate_products[:] = data.psi[state.candidates] @ state.scores
    size = state.size[0]
    state.products[:size] = data.psi[state.active[:size]] @ state.scores
    refresh_whitened(state)


def fit_rows(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Set f = Psi_g beta, eq. (4)."""
    size = state.size[0]
    state.fitted[:] = state.weights[:size] @ data.psi[state.active[:size]]


def refresh_factor(data: SparseData, state: State) -> None:
    """Set L and L^-1 Psi_g'Z for the present active set, from scratch."""
    active = state.active[: state.size[0]]
    state.factor[: len(active), : len(active)] = np.linalg.cholesky(data.gram[np.ix_(active, active)])
    refresh_whitened(state)


def refresh_whitened(state: State) -> None:
    """Set L^-1 Psi_g'Z for the present factor and products."""
    size = state.size[0]
    state.whitened[:size] = np.linalg.solve(state.factor[:size, :size], state.products[:size])
