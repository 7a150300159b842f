"""One sweep: Listing 1 of the paper, block by block, in plain NumPy."""

from __future__ import annotations

import numpy as np

from disaggregate.sampler.expansion import expand_scores, slice_fit_scale
from disaggregate.sampler.hamiltonian import move_weights
from disaggregate.sampler.latent import draw_scores_exactly, walk_scores
from disaggregate.sampler.model import Prior, SparseData, State
from disaggregate.sampler.products import fit_rows, gather_products
from disaggregate.sampler.relocation import relocate_kernels
from disaggregate.sampler.selection import select_kernels
from disaggregate.sampler.turnover import turn_over_kernels
from disaggregate.sampler.weights_and_scale import draw_scale, draw_weights, slice_scale


def sparse_sweep(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """One sweep for sparse weights."""
    gather_products(data, prior, state, rng)
    expand_scores(data, prior, state, rng)  # length of Z given gamma, delta2
    select_kernels(data, prior, state, rng)  # gamma given delta2, Z: eq. (11)
    slice_scale(data, prior, state, rng)  # delta2 given gamma, Z
    draw_weights(data, prior, state, rng)  # beta given gamma, delta2, Z
    fit_rows(data, prior, state, rng)  # f = Psi_g beta: eq. (4)
    # From here to the last line Z is summed out.
    relocate_kernels(data, prior, state, rng)  # gamma, beta given delta2 and the evidence
    turn_over_kernels(data, prior, state, rng)  # the same
    move_weights(data, prior, state, rng)  # beta given gamma, delta2 and the evidence
    slice_fit_scale(data, prior, state, rng)  # delta2 and the length of f given the evidence
    draw_scores_exactly(data, prior, state, rng)  # Z given f and the evidence
    state.sweep[0] += 1


def published_sweep(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """One sweep with the moves of 2005: nothing is summed out but the weights in eq. (11)."""
    gather_products(data, prior, state, rng)
    select_kernels(data, prior, state, rng)  # gamma given delta2, Z: eq. (11)
    draw_weights(data, prior, state, rng)  # beta given gamma, delta2, Z
    draw_scale(data, prior, state, rng)  # delta2 given gamma, beta
    fit_rows(data, prior, state, rng)  # f = Psi_g beta: eq. (4)
    walk_scores(data, prior, state, rng)  # Z given f and the evidence
    state.sweep[0] += 1
