"""Hamiltonian moves of the weights with labels and scores summed out."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.sampler.collapsed import collapsed_gradient
from disaggregate.sampler.model import Prior, SparseData, State

# In whitened coordinates the likelihood curves by at most about 1, so the step needs no tuning.
STEP = 1.4
JITTER = 0.2
MOST_STEPS = 25


def move_weights(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Move beta along a Hamiltonian path under p(beta given gamma, delta2, evidence), and f with it.

    The coordinates are the whitened weights L'beta, a priori N(0, delta2); the mass is one plus their prior
    precision. The scores must be drawn anew afterwards.
    """
    size = state.size[0]
    if size == 0:
        return
    active, factor = state.active[:size], state.factor[:size, :size]
    psi = data.psi[active]
    precision = 1.0 / state.scale[0]
    mass = 1.0 + precision

    def energy_and_force(position: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        fitted = np.linalg.solve(factor.T, position) @ psi
        log_likelihood, gradient = collapsed_gradient(data.evidence, state.scores, fitted)
        energy = 0.5 * np.sum(precision * position**2) - log_likelihood
        return energy, np.linalg.solve(factor, psi @ gradient) - precision * position, fitted

    position = factor.T @ state.weights[:size]
    momentum = math.sqrt(mass) * rng.standard_normal(size)
    step = STEP * (1.0 + JITTER * (2.0 * rng.random() - 1.0))
    n_steps = 1 + int(MOST_STEPS * rng.random())
    energy, force, fitted = energy_and_force(position)
    before = energy + 0.5 * np.sum(momentum**2 / mass)
    for _ in range(n_steps):
        momentum = momentum + 0.5 * step * force
        position = position + step * momentum / mass
        energy, force, fitted = energy_and_force(position)
        momentum = momentum + 0.5 * step * force
    after = energy + 0.5 * np.sum(momentum**2 / mass)
    if -rng.standard_exponential() < before - after and math.isfinite(after):
        state.weights[:size] = np.linalg.solve(factor.T, position)
        state.fitted[:] = fitted
