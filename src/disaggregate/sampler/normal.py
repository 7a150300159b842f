"""Truncated normal draws that stay exact however far out the bound lies."""

from __future__ import annotations

import numpy as np

# Where shifted-exponential proposals become as good as folded normal ones.
FOLD_UP_TO = 0.65


def draw_positive_normal(mean: float, rng: np.random.Generator) -> float:
    """Draw from N(mean, 1) given that the draw is positive.

    Rejection with an acceptance of at least one half everywhere. Far in the tail the draw itself is
    proposed, not the distance from the mean: adding a huge mean back would cancel it.
    """
    bound = -mean
    if bound <= 0.0:
        while True:
            noise = rng.standard_normal()
            if noise > bound:
                return mean + noise
    if bound < FOLD_UP_TO:
        while True:
            noise = abs(rng.standard_normal())
            if noise > bound:
                return mean + noise
    while True:
        excess = rng.standard_exponential() / bound
        if excess > 0.0 and rng.standard_exponential() > 0.5 * excess * excess:
            return excess
