"""Compiled twin of ``sampler.weights``."""

import math

from disaggregate.sampler.compiled.compile import inlined_part
from disaggregate.sampler.compiled.products import unwhiten


@inlined_part
def draw_weights(problem, prior, state, rng):
    size = state.size[0]
    shrink = state.scale[0] / (1.0 + state.scale[0])
    for i in range(size):
        state.weights[i] = shrink * state.whitened[i] + math.sqrt(shrink) * rng.standard_normal()
    unwhiten(state.factor, size, state.weights)
