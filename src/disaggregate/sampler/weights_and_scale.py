"""Conditional draws of the weights of active kernels, and of their scale delta2: conjugate, and by slices."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.model.priors import slice_step
from disaggregate.sampler.model import LOG_SCALE_BOUND, Prior, SparseData, State

WIDTH = 1.5


def draw_scale(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Draw delta2 ~ InverseGamma((mu + q)/2, (nu + |Psi_g beta|^2)/2) given the weights.

    The paper prints (mu + K + 1)/2; the prior of eq. (5) over q active columns gives (mu + q)/2.
    A draw outside the support is turned down, which leaves the truncated law invariant.
    """
    size = state.size[0]
    whitened_weights = state.factor[:size, :size].T @ state.weights[:size]
    rate = 0.5 * (prior.nu + np.sum(whitened_weights**2))
    precision = rng.standard_gamma(0.5 * (prior.mu + size)) / rate
    if math.exp(-LOG_SCALE_BOUND) < precision < math.exp(LOG_SCALE_BOUND):
        state.scale[0] = 1.0 / precision


def slice_scale(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Move log delta2 by slice sampling under p(delta2 given gamma, Z), the weights integrated out.

    The weights must be drawn anew afterwards.
    """
    size = state.size[0]
    explained = float(np.sum(state.whitened[:size] ** 2))

    def log_density(log_scale: float) -> float:
        return log_scale_density(log_scale, prior, int(size), explained)

    state.scale[0] = math.exp(slice_step(log_density, math.log(state.scale[0]), WIDTH, rng))


def log_scale_density(log_scale: float, prior: Prior, size: int, explained: float) -> float:
    """Log density of log delta2 given gamma and Z, up to a constant; ``explained`` is Z'P_g Z."""
    if abs(log_scale) > LOG_SCALE_BOUND:
        return -math.inf
    scale = math.exp(log_scale)
    return (
        -0.5 * prior.mu * log_scale
        - 0.5 * prior.nu / scale
        - 0.5 * size * math.log1p(scale)
        + 0.5 * explained * scale / (1.0 + scale)
    )


def draw_weights(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Draw beta ~ N(s (Psi_g'Psi_g)^-1 Psi_g'Z, s (Psi_g'Psi_g)^-1), s = delta2 / (1 + delta2).

    In whitened coordinates L'beta this is one independent normal a column.
    """
    size = state.size[0]
    shrink = state.scale[0] / (1.0 + state.scale[0])
    whitened_weights = shrink * state.whitened[:size] + np.sqrt(shrink) * rng.standard_normal(size)
    state.weights[:size] = np.linalg.solve(state.factor[:size, :size].T, whitened_weights)
