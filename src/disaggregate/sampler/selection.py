"""Which kernels are active: birth and death with the weights integrated out."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.sampler.model import COLLINEARITY_TOLERANCE, Prior, SparseData, State
from disaggregate.sampler.products import refresh_factor


def select_kernels(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Propose births and deaths of kernels under p(gamma given delta2, Z), eq. (11).

    The target is (1 + delta2)^(-q/2) exp(s Z'P_g Z / 2) p(gamma), with s = delta2 / (1 + delta2), q active
    columns and k active kernels. Each proposal is, with equal chance, the birth of one of all kernels
    (nothing happens if it is active already) or the death of one of the active ones.
    """
    for proposal in range(len(state.candidates)):
        if rng.random() < 0.5:
            _propose_birth(data, prior, state, proposal, rng)
        elif state.size[0] > data.n_fixed:
            _propose_death(data, prior, state, rng)


def log_birth_ratio(prior: Prior, n_selectable: int, n_active: int, scale: float, gain: float) -> float:
    """Log posterior ratio of adding a kernel to ``n_active`` others, where Z'P_g Z grows by ``gain``."""
    return (
        math.log((n_active + prior.a) / (n_selectable - n_active - 1 + prior.b))
        - 0.5 * math.log1p(scale)
        + 0.5 * scale / (1.0 + scale) * gain
    )


def log_birth_hastings(n_selectable: int, n_active: int) -> float:
    """Log ratio of proposing the death that undoes a birth to proposing that birth."""
    return math.log(n_selectable / (n_active + 1))


def _propose_birth(data: SparseData, prior: Prior, state: State, proposal: int, rng: np.random.Generator) -> None:
    size = int(state.size[0])
    column = int(state.candidates[proposal])
    product = state.candidate_products[proposal]
    active = state.active[:size]
    if column in active:
        return
    square, gain = outside_span(data.gram, active, state.products[:size], column, product)
    if square <= COLLINEARITY_TOLERANCE * data.gram[column, column]:
        return
    if -rng.standard_exponential() < _log_acceptance(data, prior, state, size - data.n_fixed, gain):
        state.active[size], state.products[size] = column, product
        state.size[0] += 1
        refresh_factor(data, state)


def _propose_death(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    size = int(state.size[0])
    n_active = size - data.n_fixed
    index = data.n_fixed + int(rng.random() * n_active)
    column, product = state.active[index], state.products[index]
    others = np.delete(state.active[:size], index)
    other_products = np.delete(state.products[:size], index)
    square, gain = outside_span(data.gram, others, other_products, column, product)
    if square <= COLLINEARITY_TOLERANCE * data.gram[column, column]:
        return
    if -rng.standard_exponential() < -_log_acceptance(data, prior, state, n_active - 1, gain):
        state.active[: size - 1], state.products[: size - 1] = others, other_products
        state.size[0] -= 1
        refresh_factor(data, state)


def _log_acceptance(data: SparseData, prior: Prior, state: State, n_active: int, gain: float) -> float:
    """Log acceptance ratio of a birth from ``n_active`` kernels; its negative is that of the death back."""
    n_selectable = len(data.gram) - data.n_fixed
    return log_birth_ratio(prior, n_selectable, n_active, state.scale[0], gain) + log_birth_hastings(
        n_selectable, n_active
    )


def outside_span(
    gram: np.ndarray, active: np.ndarray, products: np.ndarray, column: int, product: float
) -> tuple[float, float]:
    """Squared length of a column outside the active span, and what that part adds to Z'P_g Z."""
    cross = gram[active, column]
    projection = np.linalg.solve(gram[np.ix_(active, active)], cross)
    square = gram[column, column] - cross @ projection
    outside = product - products @ projection
    return square, outside**2 / square if square > 0.0 else 0.0
