"""Compiled twin of ``sampler.hamiltonian``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, dot, square
from disaggregate.sampler.compiled.collapsed import collapsed_gradient
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.products import fill_products, fit_columns, unwhiten
from disaggregate.sampler.hamiltonian import JITTER, MOST_STEPS, STEP


@inlined_part
def move_weights(data, prior, state, rng):
    size = state.size[0]
    if size == 0:
        return
    precision = 1.0 / state.scale[0]
    position = np.empty(size)
    momentum = np.empty(size)
    for i in range(size):
        momentum[i] = math.sqrt(1.0 + precision) * rng.standard_normal()
    whiten(state, position)
    step = STEP * (1.0 + JITTER * (2.0 * rng.random() - 1.0))
    n_steps = 1 + int(MOST_STEPS * rng.random())
    weights = np.empty(size)
    fitted = np.empty(state.fitted.size)
    gradient = np.empty(state.fitted.size)
    force = np.empty(size)
    before = 0.0
    for taken in range(n_steps + 1):
        energy = energy_and_force(data, state, precision, position, weights, fitted, gradient, force)
        if taken == 0:
            before = energy + kinetic(momentum, precision)
        # Half a kick at either end of the path, a whole one in between.
        kick = step if 0 < taken < n_steps else 0.5 * step
        for i in range(size):
            momentum[i] += kick * force[i]
            if taken < n_steps:
                position[i] += step * momentum[i] / (1.0 + precision)
    after = energy + kinetic(momentum, precision)
    if -rng.standard_exponential() < before - after and math.isfinite(after):
        copy(state.weights[:size], weights)
        copy(state.fitted, fitted)


@part
def whiten(state, position):
    """Fill L'beta."""
    for i in range(position.size):
        position[i] = 0.0
        for j in range(i, position.size):
            position[i] += state.factor[j, i] * state.weights[j]


@part
def kinetic(momentum, precision):
    total = 0.0
    for i in range(momentum.size):
        total += 0.5 * square(momentum[i]) / (1.0 + precision)
    return total


@part
def energy_and_force(data, state, precision, position, weights, fitted, gradient, force):
    """Fill beta, f, the gradient in f and the force on the whitened weights; return the energy."""
    size = position.size
    copy(weights, position)
    unwhiten(state.factor, size, weights)
    fit_columns(data.psi, state.active, weights, fitted)
    energy = -collapsed_gradient(data.evidence, state.scores, fitted, gradient)
    fill_products(data.psi, state.active, gradient, force)
    for i in range(size):
        force[i] = (force[i] - dot(state.factor[i, :i], force[:i])) / state.factor[i, i]
    for i in range(size):
        energy += 0.5 * precision * square(position[i])
        force[i] -= precision * position[i]
    return energy
