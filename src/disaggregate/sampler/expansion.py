"""Scale moves that carry the latent scores or the fit along with delta2."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.sampler.collapsed import collapsed_likelihood
from disaggregate.sampler.model import LOG_SCALE_BOUND, Prior, SparseData, State
from disaggregate.sampler.weights_and_scale import slice_step

SHIFT_WIDTH = 0.5


def expand_scores(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Multiply Z by a common factor drawn from its conditional, the weights integrated out.

    Z given gamma and delta2 has density exp(-(Z'Z - s Z'P_g Z)/2) times the evidence, which only sees
    signs; along g Z the square of g is therefore Gamma(N/2, rate (Z'Z - s Z'P_g Z)/2).
    """
    shrink = state.scale[0] / (1.0 + state.scale[0])
    explained = shrink * np.sum(state.whitened[: state.size[0]] ** 2)
    whole = state.scores @ state.scores
    # Z'P_g Z is at most Z'Z; where the two are equal, rounding could leave nothing, and Z would go to infinity.
    rate = 0.5 * max(whole - explained, whole / (1.0 + state.scale[0]), 1e-300)
    factor = math.sqrt(rng.standard_gamma(0.5 * len(state.scores)) / rate)
    for scaled in (state.scores, state.products, state.whitened, state.candidate_products):
        scaled *= factor


def slice_fit_scale(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Multiply f by e^r and delta2 by e^2r, with r drawn by slice sampling, labels and scores summed out.

    The weights keep their prior density along this line, so only the prior of delta2 and the likelihood of
    the evidence matter. The scores must be drawn anew afterwards.
    """
    size = state.size[0]
    if size == 0:
        return
    present = math.log(state.scale[0])

    def log_density(shift: float) -> float:
        log_scale = present + 2.0 * shift
        if abs(log_scale) > LOG_SCALE_BOUND:
            return -math.inf
        log_likelihood = collapsed_likelihood(data.evidence, state.scores, math.exp(shift) * state.fitted)
        return -0.5 * prior.mu * log_scale - 0.5 * prior.nu * math.exp(-log_scale) + log_likelihood

    shift = slice_step(log_density, 0.0, SHIFT_WIDTH, rng)
    state.scale[0] = math.exp(present + 2.0 * shift)
    state.weights[:size] *= math.exp(shift)
    state.fitted[:] *= math.exp(shift)
