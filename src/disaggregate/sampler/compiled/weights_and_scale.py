"""Compiled twin of ``sampler.weights_and_scale``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import dot, square
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.products import unwhiten
from disaggregate.sampler.model import LOG_SCALE_BOUND
from disaggregate.sampler.weights_and_scale import WIDTH


@inlined_part
def draw_scale(data, prior, state, rng):
    size = state.size[0]
    squares = 0.0
    for i in range(size):
        whitened_weight = 0.0
        for j in range(i, size):
            whitened_weight += state.factor[j, i] * state.weights[j]
        squares += square(whitened_weight)
    precision = rng.standard_gamma(0.5 * (prior.mu + size)) / (0.5 * (prior.nu + squares))
    if math.exp(-LOG_SCALE_BOUND) < precision < math.exp(LOG_SCALE_BOUND):
        state.scale[0] = 1.0 / precision


@inlined_part
def slice_scale(data, prior, state, rng):
    size = state.size[0]
    explained = dot(state.whitened[:size], state.whitened[:size])
    present = math.log(state.scale[0])
    # As in every compiled slice: a part that took the density as an argument could not be cached on disk.
    level = log_scale_density(present, prior, size, explained) - rng.standard_exponential()
    low = present - WIDTH * rng.random()
    high = low + WIDTH
    while log_scale_density(low, prior, size, explained) > level:
        low -= WIDTH
    while log_scale_density(high, prior, size, explained) > level:
        high += WIDTH
    while True:
        proposed = low + (high - low) * rng.random()
        if log_scale_density(proposed, prior, size, explained) >= level:
            break
        if proposed < present:
            low = proposed
        else:
            high = proposed
    state.scale[0] = math.exp(proposed)


@part
def log_scale_density(log_scale, prior, size, explained):
    if abs(log_scale) > LOG_SCALE_BOUND:
        return -np.inf
    scale = math.exp(log_scale)
    value = -0.5 * prior.mu * log_scale - 0.5 * prior.nu / scale
    return value - 0.5 * size * math.log1p(scale) + 0.5 * explained * scale / (1.0 + scale)


@inlined_part
def draw_weights(data, prior, state, rng):
    size = state.size[0]
    shrink = state.scale[0] / (1.0 + state.scale[0])
    for i in range(size):
        state.weights[i] = shrink * state.whitened[i] + math.sqrt(shrink) * rng.standard_normal()
    unwhiten(state.factor, size, state.weights)
