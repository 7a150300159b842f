"""Survey weights as whole units, so that a weighted share is a count over another total."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Rounding may move the weighted share of labels that are tossed by a fair coin by this standard deviation.
TOLERANCE = 0.0025

# Average units per member that are tried; the last is taken when none is good enough.
_FINENESS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
_UNITS_OF_THE_LIGHTEST = range(1, 9)


def whole_units(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round the weights of one group's members to the fewest units that represent them well.

    Equal weights are one unit each, and weights that stand in small whole ratios are met exactly. Every member
    has one unit at least.

    Parameters
    ----------
    weights : ndarray of shape (n_members,)
        Positive.
    """
    scales = [fineness / weights.mean() for fineness in _FINENESS]
    finest = scales[-1]
    scales += [units / weights.min() for units in _UNITS_OF_THE_LIGHTEST]
    for scale in sorted(scale for scale in scales if scale <= finest):
        units = np.maximum(np.rint(weights * scale), 1.0)
        if rounding_deviation(weights, units) <= TOLERANCE:
            break
    return units.astype(np.int64)


def rounding_deviation(weights: NDArray[np.float64], units: NDArray) -> float:
    """Return the standard deviation of the error of a weighted share when labels are tossed by a fair coin."""
    return 0.5 * float(np.linalg.norm(units / units.sum() - weights / weights.sum()))


def largest_rounding_error(weights: NDArray[np.float64], units: NDArray) -> float:
    """Find the largest error of a weighted share over all labels of the group."""
    return 0.5 * float(np.abs(units / units.sum() - weights / weights.sum()).sum())


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return Kish's effective number of members: as many equal ones would be as informative."""
    return float(weights.sum() ** 2 / (weights**2).sum())
