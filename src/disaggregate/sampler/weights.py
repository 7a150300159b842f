"""The weights of the active kernels."""

from __future__ import annotations

import numpy as np

from disaggregate.sampler.model import Prior, Problem, State


def draw_weights(problem: Problem, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Draw beta ~ N(s (Psi_g'Psi_g)^-1 Psi_g'Z, s (Psi_g'Psi_g)^-1), s = delta2 / (1 + delta2).

    In whitened coordinates L'beta this is one independent normal a column.
    """
    size = state.size[0]
    shrink = state.scale[0] / (1.0 + state.scale[0])
    whitened_weights = shrink * state.whitened[:size] + np.sqrt(shrink) * rng.standard_normal(size)
    state.weights[:size] = np.linalg.solve(state.factor[:size, :size].T, whitened_weights)
