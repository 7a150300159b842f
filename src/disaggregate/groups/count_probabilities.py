"""Probabilities of counts in a group: draws without replacement, and the counts nearest to a share."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaln, xlog1py, xlogy


def nearest_counts(fraction: np.ndarray, share: float, n: int) -> np.ndarray:
    """Limit of the paper's Beta as confidence grows: the counts of least divergence KL(k/n || share)."""
    if share in (0.0, 1.0):
        return np.where(fraction == share, 0.0, -np.inf)
    beside = np.array([math.floor(n * share), math.ceil(n * share)]) / n
    return np.where(_divergence(fraction, share) <= _divergence(beside, share).min() + 1e-12, 0.0, -np.inf)


def _divergence(fraction: np.ndarray, share: float) -> np.ndarray:
    return (
        xlogy(fraction, fraction)
        + xlog1py(1.0 - fraction, -fraction)
        - xlogy(fraction, share)
        - xlog1py(1.0 - fraction, -share)
    )


def _log_choose(total: float | np.ndarray, chosen: float | np.ndarray) -> np.ndarray:
    """Log binomial coefficient, -inf outside 0 <= chosen <= total."""
    possible = (np.asarray(chosen) >= 0) & (np.asarray(chosen) <= np.asarray(total))
    inside = np.where(possible, chosen, 0)
    # Through the Beta function, which keeps its digits where the factorials of large groups cancel.
    value = -betaln(inside + 1.0, total - inside + 1.0) - np.log1p(total)
    return np.where(possible, value, -np.inf)


def log_hypergeometric(
    drawn_positives: int | np.ndarray, size: int, positives: int | np.ndarray, drawn: float
) -> np.ndarray:
    """Log probability of drawing so many positives in a sample without replacement."""
    return (
        _log_choose(positives, drawn_positives)
        + _log_choose(size - positives, drawn - np.asarray(drawn_positives))
        - _log_choose(size, drawn)
    )
