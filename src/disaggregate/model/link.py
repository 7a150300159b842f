"""The probit link: Pr(y = 1 given f) = Phi(f), eqs. (3) and (8)."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

_ONE_BY_ROOT_TWO_PI = 1.0 / np.sqrt(2.0 * np.pi)


def probability(scores: np.ndarray) -> np.ndarray:
    """Return Phi(f)."""
    return ndtr(scores)


def probability_slope(scores: np.ndarray) -> np.ndarray:
    """Return its derivative, the normal density at f."""
    with np.errstate(over="ignore"):
        return _ONE_BY_ROOT_TWO_PI * np.exp(-0.5 * np.square(scores))
