"""How exact a report may be where that is learned: a grid of confidences, around the one of all groups."""

from __future__ import annotations

import math

import numpy as np

# Learned confidence. A report is anything at all with the probability of the tail; else its own confidence is one
# of these, around the one of all groups. Until it is known it is taken to be that of the paper.
TAIL = 0.1
CONFIDENCES = 10.0 ** np.arange(0.0, 5.5, 0.5)
_LOG_STEP = 0.5 * math.log(10.0)
UNTIL_KNOWN = 1000.0


def mixing_weights(log_confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Distribution of the confidence of a single report, given that of all groups.

    Weights are those of a cubic B-spline; beyond the ends of the grid nothing changes.

    Parameters
    ----------
    log_confidence : float
        Logarithm of the confidence chi of all groups.

    Returns
    -------
    cells : ndarray of int, shape (4,)
        Indices into ``CONFIDENCES``.
    weights : ndarray of shape (4,)
        Their probabilities.
    """
    x = min(max(log_confidence / _LOG_STEP, 0.0), len(CONFIDENCES) - 1.0)
    cell = int(x)
    u = x - cell
    weights = np.array([(1.0 - u) ** 3, 3.0 * u**3 - 6.0 * u**2 + 4.0, 3.0 * (u + u**2 - u**3) + 1.0, u**3]) / 6.0
    return np.clip(np.arange(cell - 1, cell + 3), 0, len(CONFIDENCES) - 1), weights
