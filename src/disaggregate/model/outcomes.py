"""Several outcomes: K - 1 scores, the softmax link, and the components of all scores together.

The K scores of a person have no meaning beyond their differences, so the model has K - 1 independent ones, g,
along orthonormal contrasts H of the outcomes:

    f = UNIT H' g,   Pr(y = k) = softmax(f)_k

This is what K independent scores with the same prior would be, without their common part, which no report feels.
UNIT makes a scale delta2 mean what it does with two outcomes and the probit link: logits are about 1.7 times
probits, and the two logits of K = 2 are +-g / sqrt(2).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import softmax

from disaggregate.model.components import Components

UNIT = 1.702 / math.sqrt(2.0)


def contrasts(n_outcomes: int) -> np.ndarray:
    """Return orthonormal contrasts, shape (n_outcomes - 1, n_outcomes): rows that add up to zero (Helmert)."""
    rows = np.zeros((n_outcomes - 1, n_outcomes))
    for a in range(n_outcomes - 1):
        rows[a, : a + 1] = 1.0
        rows[a, a + 1] = -(a + 1.0)
        rows[a] /= math.sqrt((a + 1.0) * (a + 2.0))
    return rows


def logits_of(scores: np.ndarray) -> np.ndarray:
    """Logits f of scores g, from shape (..., n_outcomes - 1) to (..., n_outcomes)."""
    return UNIT * (scores @ contrasts(scores.shape[-1] + 1))


def scores_of(logits: np.ndarray) -> np.ndarray:
    """Scores g of logits f, from shape (..., n_outcomes) to (..., n_outcomes - 1)."""
    return logits @ contrasts(logits.shape[-1]).T / UNIT


def probabilities_of(logits: np.ndarray) -> np.ndarray:
    """Probability of each outcome, along the last axis."""
    return softmax(logits, axis=-1)


def stacked(one: Components, n_outcomes: int, are_weights: bool = False) -> Components:
    """Repeat the components of one score for each contrast, all with the same scales.

    A separate constant comes last among the columns of its contrast; see :func:`column_order`. Without context and
    intercepts there are no offsets of groups at all.

    Parameters
    ----------
    one : Components
        Of a single score.
    n_outcomes : int
        K.
    are_weights : bool, default=False
        Whether intercepts of groups are weights, context by group of their own scale, and not integrated out.
    """
    times, order = n_outcomes - 1, column_order(one)
    context, place_groups = one.context, one.n_places if are_weights else 0
    n_context = context.shape[1]
    if place_groups:
        context = np.hstack([context, np.eye(place_groups)])
    own = [one.deviation[one.n_columns :], np.ones(place_groups)]
    own_scale = [one.scale_of[one.n_columns :], np.full(place_groups, len(one.priors) - 1)]
    n_columns, has_offsets = times * one.n_columns, bool(n_context or one.n_places)
    return Components(
        n_columns=n_columns,
        context=np.kron(np.eye(times), context) if has_offsets else np.zeros((0, 0)),
        n_places=0 if are_weights else times * one.n_places,
        deviation=np.concatenate([np.tile(one.deviation[order], times), np.tile(np.concatenate(own), times)]),
        scale_of=np.concatenate([np.tile(one.scale_of[order], times), np.tile(np.concatenate(own_scale), times)]),
        priors=one.priors,
        spread=np.zeros(n_columns + times * (n_context + place_groups)),
        n_errors=one.n_errors,
    )


def column_order(one: Components) -> np.ndarray:
    """Order of the columns of one score among those of its contrast: a separate constant goes to the end."""
    return np.roll(np.arange(one.n_columns), -int(one.has_level))
