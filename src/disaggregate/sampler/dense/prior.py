"""Draws from the prior, in the form of a chain's: what the model would say without any report."""

from __future__ import annotations

import numpy as np

from disaggregate.model.components import Components, draw_from_prior, scores_at
from disaggregate.sampler.dense.chains import DenseDraws


def draws_from_prior(components: Components, n_draws: int, rng: np.random.Generator) -> DenseDraws:
    """Draw weights, intercepts of groups and scales from the prior.

    Parameters
    ----------
    components : Components
        What weights mean, and their priors.
    n_draws : int
        How many.
    rng : numpy.random.Generator
        Draws them.
    """
    position = np.stack([draw_from_prior(components, rng) for _ in range(n_draws)])
    scores = scores_at(components, position)
    places = scores.deviation[:, None] * rng.standard_normal((n_draws, components.n_places))
    n_weights = components.n_weights
    nothing = np.zeros(0)
    return DenseDraws(
        weights=np.hstack([scores.weights, places]),
        scales=np.exp(position[:, n_weights : n_weights + len(components.priors)]),
        label_sums=nothing,
        share_tallies=nothing,
        log_ratios=np.zeros((n_draws, 0, 2)),
        swap_rates=nothing,
    )
