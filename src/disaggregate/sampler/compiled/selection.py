"""Compiled twin of ``sampler.selection``: the Cholesky factor follows each birth and death in O(k^2)."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, dot
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.model import COLLINEARITY_TOLERANCE


@inlined_part
def select_kernels(data, prior, state, rng):
    scratch = np.empty(state.active.size)
    for proposal in range(state.candidates.size):
        if rng.random() < 0.5:
            propose_birth(data, prior, state, proposal, scratch, rng)
        elif state.size[0] > data.n_fixed:
            propose_death(data, prior, state, scratch, rng)


@inlined_part
def log_acceptance(data, prior, scale, n_active, gain):
    n_selectable = data.gram.shape[0] - data.n_fixed
    return (
        math.log((n_active + prior.a) / (n_selectable - n_active - 1 + prior.b))
        - 0.5 * math.log1p(scale)
        + 0.5 * scale / (1.0 + scale) * gain
        + math.log(n_selectable / (n_active + 1))
    )


@inlined_part
def propose_birth(data, prior, state, proposal, row, rng):
    size = state.size[0]
    column = state.candidates[proposal]
    for i in range(size):
        if state.active[i] == column:
            return
    square = data.gram[column, column] - factor_row(state.factor, data.gram[column], state.active, size, row)
    if square <= COLLINEARITY_TOLERANCE * data.gram[column, column]:
        return
    outside = state.candidate_products[proposal] - dot(row[:size], state.whitened[:size])
    gain = outside * outside / square
    if -rng.standard_exponential() < log_acceptance(data, prior, state.scale[0], size - data.n_fixed, gain):
        append_column(state, column, state.candidate_products[proposal], row, square)


@part
def append_column(state, column, product, row, square):
    """Make a column the last active one; ``row`` and ``square`` are its parts inside and outside the span."""
    size = state.size[0]
    state.active[size] = column
    state.products[size] = product
    copy(state.factor[size, :size], row)
    state.factor[size, size] = math.sqrt(square)
    state.whitened[size] = (product - dot(row[:size], state.whitened[:size])) / state.factor[size, size]
    state.size[0] = size + 1


@part
def factor_row(factor, gram_row, active, size, row):
    """Fill the factor's row of a column, were it to join: L row = Psi_g' psi. Returns the squared length."""
    square = 0.0
    for i in range(size):
        row[i] = (gram_row[active[i]] - dot(factor[i, :i], row)) / factor[i, i]
        square += row[i] * row[i]
    return square


@part
def inverse_column(factor, index, size, solution):
    """Solve L solution = e_place. Returns its square: 1 over the column's own outside the span of the others."""
    solution[index] = 1.0 / factor[index, index]
    square = solution[index] * solution[index]
    for i in range(index + 1, size):
        solution[i] = -dot(factor[i, index:i], solution[index:]) / factor[i, i]
        square += solution[i] * solution[i]
    return square


@inlined_part
def propose_death(data, prior, state, solution, rng):
    size = state.size[0]
    n_active = size - data.n_fixed
    index = data.n_fixed + int(rng.random() * n_active)
    norm = inverse_column(state.factor, index, size, solution)
    column = state.active[index]
    if COLLINEARITY_TOLERANCE * data.gram[column, column] * norm >= 1.0:
        return
    along = dot(solution[index:size], state.whitened[index:size])
    gain = along * along / norm
    if -rng.standard_exponential() < -log_acceptance(data, prior, state.scale[0], n_active - 1, gain):
        remove(state, index)


@part
def remove(state, index):
    """Drop a row of the factor and rotate the rest back into triangular shape."""
    size = state.size[0]
    for i in range(index, size - 1):
        state.active[i] = state.active[i + 1]
        state.products[i] = state.products[i + 1]
        copy(state.factor[i, : i + 2], state.factor[i + 1])
    for i in range(index, size - 1):
        length = math.hypot(state.factor[i, i], state.factor[i, i + 1])
        cosine = state.factor[i, i] / length
        sine = state.factor[i, i + 1] / length
        for j in range(i, size - 1):
            left = state.factor[j, i]
            right = state.factor[j, i + 1]
            state.factor[j, i] = cosine * left + sine * right
            state.factor[j, i + 1] = cosine * right - sine * left
        left = state.whitened[i]
        right = state.whitened[i + 1]
        state.whitened[i] = cosine * left + sine * right
        state.whitened[i + 1] = cosine * right - sine * left
    state.size[0] = size - 1
