"""Births and deaths of kernels, with labels and scores summed out."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.sampler.model import COLLINEARITY_TOLERANCE, TURNOVERS, Prior, SparseData, State
from disaggregate.sampler.relocation import accept_or_restore, make_last
from disaggregate.sampler.selection import log_birth_hastings, log_birth_ratio, outside_span


def turn_over_kernels(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Propose a few births and deaths under p(gamma, beta given delta2 and the evidence).

    Given the scores, a kernel whose whitened weight is large can hardly die, even where no label depends on
    it; with the scores summed out it can. A kernel is born last, with a whitened weight from its prior
    N(0, delta2), and dies last. The density of that weight is in the posterior and in the proposal and cancels;
    what is left is the ratio of the likelihoods and that of eq. (7). The scores must be drawn anew afterwards.
    """
    for _ in range(TURNOVERS):
        if rng.random() < 0.5:
            _propose_birth(data, prior, state, rng)
        elif state.size[0] > data.n_fixed:
            _propose_death(data, prior, state, rng)


def _propose_birth(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    size = int(state.size[0])
    n_selectable = len(data.gram) - data.n_fixed
    newcomer = data.n_fixed + int(rng.random() * n_selectable)
    active = state.active[:size]
    if newcomer in active:
        return
    own = data.gram[newcomer, newcomer]
    if outside_span(data.gram, active, state.products[:size], newcomer, 0.0)[0] <= COLLINEARITY_TOLERANCE * own:
        return
    kept = State(*(array.copy() for array in state))
    weight = math.sqrt(state.scale[0]) * rng.standard_normal()
    whitened_weights = np.append(state.factor[:size, :size].T @ state.weights[:size], weight)
    state.active[size] = newcomer
    state.products[size] = data.psi[newcomer] @ state.scores
    state.size[0] += 1
    log_prior = _log_prior_ratio(data, prior, size - data.n_fixed)
    accept_or_restore(data, prior, state, whitened_weights, log_prior, kept, rng)


def _propose_death(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    n_active = int(state.size[0]) - data.n_fixed
    make_last(data, state, data.n_fixed + int(rng.random() * n_active))
    last = int(state.size[0]) - 1
    column = state.active[last]
    square = outside_span(data.gram, state.active[:last], state.products[:last], int(column), 0.0)[0]
    if square <= COLLINEARITY_TOLERANCE * data.gram[column, column]:
        return
    kept = State(*(array.copy() for array in state))
    whitened_weights = (state.factor[: last + 1, : last + 1].T @ state.weights[: last + 1])[:last]
    state.size[0] -= 1
    log_prior = -_log_prior_ratio(data, prior, n_active - 1)
    accept_or_restore(data, prior, state, whitened_weights, log_prior, kept, rng)


def _log_prior_ratio(data: SparseData, prior: Prior, n_active: int) -> float:
    """Log prior ratio of a birth from ``n_active`` kernels times that of proposing its undoing."""
    n_selectable = len(data.gram) - data.n_fixed
    return log_birth_ratio(prior, n_selectable, n_active, 0.0, 0.0) + log_birth_hastings(n_selectable, n_active)
