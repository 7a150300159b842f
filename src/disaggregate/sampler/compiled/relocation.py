"""Compiled twin of ``sampler.relocation``."""

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, dot, square
from disaggregate.sampler.compiled.collapsed import collapsed_likelihood
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.hamiltonian import whiten
from disaggregate.sampler.compiled.products import fit_columns, unwhiten
from disaggregate.sampler.compiled.selection import append_column, factor_row, remove
from disaggregate.sampler.model import COLLINEARITY_TOLERANCE
from disaggregate.sampler.relocation import RELOCATIONS


@inlined_part
def relocate_kernels(data, prior, state, rng):
    row, position, fitted, before = start_moves(data, state)
    for _ in range(RELOCATIONS):
        n_active = state.size[0] - data.n_fixed
        if n_active == 0:
            return
        index = data.n_fixed + int(rng.random() * n_active)
        slot = int(rng.random() * data.neighbours.shape[1])
        newcomer = data.neighbours[state.active[index], slot]
        make_last(data, state, index, row)
        if newcomer >= 0 and not is_active(state, newcomer):
            before = propose(data, state, newcomer, row, position, fitted, before, rng)


@inlined_part
def start_moves(data, state):
    """Return room for a row of the factor, weights and scores of a proposal, and the present log likelihood."""
    row = np.empty(state.active.size)
    position = np.empty(state.active.size)
    fitted = np.empty(state.fitted.size)
    return row, position, fitted, collapsed_likelihood(data.evidence, state.scores, state.fitted, -np.inf)


@part
def is_active(state, column):
    found = False
    for i in range(state.size[0]):
        found |= state.active[i] == column
    return found


@inlined_part
def make_last(data, state, index, row):
    column = state.active[index]
    product = state.products[index]
    weight = state.weights[index]
    last = state.size[0] - 1
    for i in range(index, last):
        state.weights[i] = state.weights[i + 1]
    remove(state, index)
    inside = factor_row(state.factor, data.gram[column], state.active, last, row)
    append_column(state, column, product, row, data.gram[column, column] - inside)
    state.weights[last] = weight


@inlined_part
def propose(data, state, newcomer, row, position, fitted, before, rng):
    """Propose a move from where the log likelihood is ``before``; return the log likelihood after it."""
    size = state.size[0]
    last = size - 1
    own = data.gram[newcomer, newcomer]
    outside = own - factor_row(state.factor, data.gram[newcomer], state.active, last, row)
    if outside <= COLLINEARITY_TOLERANCE * own:
        return before
    column = state.active[last]
    if square(state.factor[last, last]) <= COLLINEARITY_TOLERANCE * data.gram[column, column]:
        return before
    whiten(state, position[:size])
    product = state.products[last]
    old_row = np.empty(size)
    copy(old_row, state.factor[last])
    state.size[0] = last
    append_column(state, newcomer, dot(data.psi[newcomer], state.scores), row, outside)
    is_taken, after = take_columns(data, state, position, fitted, before, 0.0, rng)
    if not is_taken:
        state.size[0] = last
        append_column(state, column, product, old_row, square(old_row[last]))
    return after


@part
def take_columns(data, state, position, fitted, before, log_prior, rng):
    """Take the whitened weights of the new active set, or not; return whether, and the log likelihood after it."""
    size = state.size[0]
    unwhiten(state.factor, size, position)
    fit_columns(data.psi, state.active, position[:size], fitted)
    least = before - log_prior - rng.standard_exponential()
    after = collapsed_likelihood(data.evidence, state.scores, fitted, least)
    if not after > least:
        return False, before
    copy(state.weights[:size], position)
    copy(state.fitted, fitted)
    return True, after
