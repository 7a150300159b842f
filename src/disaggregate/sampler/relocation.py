"""Moves an active kernel to a neighbouring centre, with labels and scores summed out."""

from __future__ import annotations

import numpy as np

from disaggregate.sampler.collapsed import collapsed_likelihood
from disaggregate.sampler.model import COLLINEARITY_TOLERANCE, Prior, SparseData, State
from disaggregate.sampler.products import fit_rows, refresh_factor
from disaggregate.sampler.selection import outside_span

RELOCATIONS = 4


def relocate_kernels(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Propose, a few times, to put a kernel in the place of an active one that it resembles.

    The kernel is made the last of the active ones and its whitened weight is kept. The prior of whitened
    weights does not depend on the kernels, and mutual neighbours propose each other equally often, so the
    acceptance ratio is the ratio of the likelihoods alone. The scores must be drawn anew afterwards.
    """
    for _ in range(RELOCATIONS):
        n_active = int(state.size[0]) - data.n_fixed
        if n_active == 0:
            return
        index = data.n_fixed + int(rng.random() * n_active)
        slot = int(rng.random() * data.neighbours.shape[1])
        newcomer = int(data.neighbours[state.active[index], slot])
        make_last(data, state, index)
        if newcomer >= 0 and newcomer not in state.active[: state.size[0]]:
            _propose(data, prior, state, newcomer, rng)


def make_last(data: SparseData, state: State, index: int) -> None:
    """Make an active column the last one; f does not change."""
    size = state.size[0]
    for values in (state.active, state.products, state.weights):
        values[index:size] = np.roll(values[index:size], -1)
    refresh_factor(data, state)


def _propose(data: SparseData, prior: Prior, state: State, newcomer: int, rng: np.random.Generator) -> None:
    last = state.size[0] - 1
    others = state.active[:last]
    own = data.gram[newcomer, newcomer]
    if outside_span(data.gram, others, state.products[:last], newcomer, 0.0)[0] <= COLLINEARITY_TOLERANCE * own:
        return
    column = state.active[last]
    if (
        outside_span(data.gram, others, state.products[:last], column, 0.0)[0]
        <= COLLINEARITY_TOLERANCE * data.gram[column, column]
    ):
        return
    kept = State(*(array.copy() for array in state))
    whitened_weights = state.factor[: last + 1, : last + 1].T @ state.weights[: last + 1]
    state.active[last] = newcomer
    state.products[last] = data.psi[newcomer] @ state.scores
    accept_or_restore(data, prior, state, whitened_weights, 0.0, kept, rng)


def accept_or_restore(
    data: SparseData,
    prior: Prior,
    state: State,
    whitened_weights: np.ndarray,
    log_prior: float,
    kept: State,
    rng: np.random.Generator,
) -> None:
    """Give the proposed active set its whitened weights and accept it, or restore the state that was kept.

    f and the scores are still those before the proposal. ``log_prior`` is the log of all of the acceptance ratio
    but the ratio of the likelihoods.
    """
    size = state.size[0]
    before = collapsed_likelihood(data.evidence, state.scores, state.fitted)
    refresh_factor(data, state)
    state.weights[:size] = np.linalg.solve(state.factor[:size, :size].T, whitened_weights)
    fit_rows(data, prior, state, rng)
    after = collapsed_likelihood(data.evidence, state.scores, state.fitted)
    if not -rng.standard_exponential() < after - before + log_prior:
        for array, old in zip(state, kept, strict=True):
            array[...] = old
