"""Compiled twin of ``sampler.products``."""

import math

from disaggregate.sampler.compiled.arrays import add_multiple, dot, fill, lesser
from disaggregate.sampler.compiled.compile import fused_part, inlined_part, part

# Rows of f are worked on in pieces that stay in the cache while the active columns are added.
_PIECE = 1024


@inlined_part
def gather_products(data, prior, state, rng):
    n_selectable = data.gram.shape[0] - data.n_fixed
    for i in range(state.candidates.size):
        state.candidates[i] = data.n_fixed + int(rng.random() * n_selectable)
    fill_products(data.psi, state.candidates, state.scores, state.candidate_products)
    fill_products(data.psi, state.active, state.scores, state.products[: state.size[0]])
    refresh_whitened(state)


@part
def fill_products(psi, columns, rows, products):
    """Fill the products of columns with one vector, four columns at a time: it is read less often so."""
    fours = products.size // 4 * 4
    for i in range(0, fours, 4):
        four_products(
            psi[columns[i]], psi[columns[i + 1]], psi[columns[i + 2]], psi[columns[i + 3]], rows, products[i:]
        )
    for i in range(fours, products.size):
        products[i] = dot(psi[columns[i]], rows)


@fused_part
def four_products(first, second, third, fourth, rows, products):
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for i in range(rows.size):
        a += first[i] * rows[i]
        b += second[i] * rows[i]
        c += third[i] * rows[i]
        d += fourth[i] * rows[i]
    products[0] = a
    products[1] = b
    products[2] = c
    products[3] = d


@inlined_part
def fit_rows(data, prior, state, rng):
    fit_columns(data.psi, state.active, state.weights[: state.size[0]], state.fitted)


@part
def fit_columns(psi, active, weights, fitted):
    """Fill f = Psi_g beta."""
    for start in range(0, fitted.size, _PIECE):
        stop = lesser(start + _PIECE, fitted.size)
        fill(fitted[start:stop], 0.0)
        for i in range(weights.size):
            add_multiple(fitted[start:stop], weights[i], psi[active[i], start:stop])


@part
def unwhiten(factor, size, weights):
    """Turn whitened weights L'beta into beta, in place: from the last to the first, a row of L at a time."""
    for i in range(size - 1, -1, -1):
        weights[i] /= factor[i, i]
        add_multiple(weights[:i], -weights[i], factor[i, :i])


@part
def refresh_factor(data, state):
    size = state.size[0]
    for i in range(size):
        for j in range(i + 1):
            rest = data.gram[state.active[i], state.active[j]] - dot(state.factor[i, :j], state.factor[j, :j])
            state.factor[i, j] = math.sqrt(rest) if i == j else rest / state.factor[j, j]
    refresh_whitened(state)


@part
def refresh_whitened(state):
    for i in range(state.size[0]):
        known = dot(state.factor[i, :i], state.whitened[:i])
        state.whitened[i] = (state.products[i] - known) / state.factor[i, i]
