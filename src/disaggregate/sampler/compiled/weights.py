"""Compiled twin of ``sampler.weights``."""

import math

from disaggregate.sampler.compiled.compile import part


@part
def draw_weights(problem, prior, state, rng):
    size = state.size[0]
    shrink = state.scale[0] / (1.0 + state.scale[0])
    for i in range(size):
        state.weights[i] = shrink * state.whitened[i] + math.sqrt(shrink) * rng.standard_normal()
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            state.weights[i] -= state.factor[j, i] * state.weights[j]
        state.weights[i] /= state.factor[i, i]
