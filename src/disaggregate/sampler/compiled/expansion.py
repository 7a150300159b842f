"""Compiled twin of ``sampler.expansion``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import greater, square
from disaggregate.sampler.compiled.collapsed import collapsed_likelihood
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.products import dot
from disaggregate.sampler.expansion import SHIFT_WIDTH
from disaggregate.sampler.model import LOG_SCALE_BOUND


@inlined_part
def expand_scores(data, prior, state, rng):
    whole = dot(state.scores, state.scores)
    rest = whole
    shrink = state.scale[0] / (1.0 + state.scale[0])
    for i in range(state.size[0]):
        rest -= shrink * square(state.whitened[i])
    rate = 0.5 * greater(greater(rest, whole / (1.0 + state.scale[0])), 1e-300)
    factor = math.sqrt(rng.standard_gamma(0.5 * state.scores.size) / rate)
    multiply(state.scores, factor)
    multiply(state.products, factor)
    multiply(state.whitened, factor)
    multiply(state.candidate_products, factor)


@part
def multiply(target, factor):
    for i in range(target.size):
        target[i] *= factor


@inlined_part
def slice_fit_scale(data, prior, state, rng):
    if state.size[0] == 0:
        return
    fitted = np.empty(state.fitted.size)
    level = shift_density(0.0, data, prior, state, fitted) - rng.standard_exponential()
    low = -SHIFT_WIDTH * rng.random()
    high = low + SHIFT_WIDTH
    while shift_density(low, data, prior, state, fitted) > level:
        low -= SHIFT_WIDTH
    while shift_density(high, data, prior, state, fitted) > level:
        high += SHIFT_WIDTH
    while True:
        shift = low + (high - low) * rng.random()
        if shift_density(shift, data, prior, state, fitted) >= level:
            break
        if shift < 0.0:
            low = shift
        else:
            high = shift
    state.scale[0] = math.exp(math.log(state.scale[0]) + 2.0 * shift)
    multiply(state.weights, math.exp(shift))
    multiply(state.fitted, math.exp(shift))


@part
def shift_density(shift, data, prior, state, fitted):
    log_scale = math.log(state.scale[0]) + 2.0 * shift
    if abs(log_scale) > LOG_SCALE_BOUND:
        return -np.inf
    factor = math.exp(shift)
    for i in range(fitted.size):
        fitted[i] = factor * state.fitted[i]
    log_likelihood = collapsed_likelihood(data.evidence, state.scores, fitted, -np.inf)
    return -0.5 * prior.mu * log_scale - 0.5 * prior.nu * math.exp(-log_scale) + log_likelihood
