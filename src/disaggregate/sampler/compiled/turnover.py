"""Compiled twin of ``sampler.turnover``."""

import math

from disaggregate.sampler.compiled.arrays import dot, square
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.hamiltonian import whiten
from disaggregate.sampler.compiled.relocation import is_active, make_last, start_moves, take_columns
from disaggregate.sampler.compiled.selection import append_column, factor_row, log_acceptance
from disaggregate.sampler.model import COLLINEARITY_TOLERANCE, TURNOVERS


@inlined_part
def turn_over_kernels(data, prior, state, rng):
    row, position, fitted, before = start_moves(data, state)
    for _ in range(TURNOVERS):
        if rng.random() < 0.5:
            before = propose_birth(data, prior, state, row, position, fitted, before, rng)
        elif state.size[0] > data.n_fixed:
            before = propose_death(data, prior, state, row, position, fitted, before, rng)


@inlined_part
def propose_birth(data, prior, state, row, position, fitted, before, rng):
    """Propose a birth where the log likelihood is ``before``; return the log likelihood after it."""
    size = state.size[0]
    newcomer = data.n_fixed + int(rng.random() * (data.gram.shape[0] - data.n_fixed))
    if is_active(state, newcomer):
        return before
    own = data.gram[newcomer, newcomer]
    outside = own - factor_row(state.factor, data.gram[newcomer], state.active, size, row)
    if outside <= COLLINEARITY_TOLERANCE * own:
        return before
    whiten(state, position[:size])
    position[size] = math.sqrt(state.scale[0]) * rng.standard_normal()
    append_column(state, newcomer, dot(data.psi[newcomer], state.scores), row, outside)
    log_prior = log_acceptance(data, prior, 0.0, size - data.n_fixed, 0.0)
    return move_or_go_back(data, state, position, fitted, before, log_prior, size, rng)


@inlined_part
def propose_death(data, prior, state, row, position, fitted, before, rng):
    """Propose a death where the log likelihood is ``before``; return the log likelihood after it."""
    size = state.size[0]
    n_active = size - data.n_fixed
    make_last(data, state, data.n_fixed + int(rng.random() * n_active), row)
    last = size - 1
    column = state.active[last]
    if square(state.factor[last, last]) <= COLLINEARITY_TOLERANCE * data.gram[column, column]:
        return before
    whiten(state, position[:size])
    state.size[0] = last
    log_prior = -log_acceptance(data, prior, 0.0, n_active - 1, 0.0)
    return move_or_go_back(data, state, position, fitted, before, log_prior, size, rng)


@part
def move_or_go_back(data, state, position, fitted, before, log_prior, size_before, rng):
    """Take the whitened weights of the new active set, or go back to the old one."""
    is_taken, after = take_columns(data, state, position, fitted, before, log_prior, rng)
    if not is_taken:
        state.size[0] = size_before
    return after
