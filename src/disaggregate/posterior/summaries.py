"""Draws of some quantities summed up: estimate, standard error, interval, with error of the survey's design."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

FloatArray = NDArray[np.float64]

# The normal law has negligible weight beyond this many standard deviations.
_FARTHEST = 10.0


def summarise(
    draws: FloatArray,
    level: float,
    design_variance: FloatArray | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> dict[str, FloatArray]:
    """Sum up the draws of each quantity.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, n_quantities)
        Posterior draws.
    level : float
        Probability of the intervals.
    design_variance : ndarray of shape (n_quantities,), optional
        Variance of each estimate over the samples that the survey might have drawn.
    bounds : tuple of float
        Between which the quantities lie.

    Returns
    -------
    dict
        Columns ``estimate`` (mean of the draws), ``std_error``, ``conf_low`` and ``conf_high``; with a design
        variance also ``std_error_posterior`` and ``std_error_design``, whose squares add up to that of
        ``std_error``. The interval is then that of a draw plus a normal error of the design.
    """
    tails = interval_ends(level)
    posterior = draws.std(axis=0)
    design = np.zeros_like(posterior) if design_variance is None else np.sqrt(design_variance)
    low, high = _intervals(draws, design, tails)
    columns = {
        "estimate": draws.mean(axis=0),
        "std_error": np.hypot(posterior, design),
        "conf_low": np.clip(low, *bounds),
        "conf_high": np.clip(high, *bounds),
    }
    if design_variance is None:
        return columns
    return {**columns, "std_error_posterior": posterior, "std_error_design": design}


def _intervals(draws: FloatArray, design: FloatArray, tails: tuple[float, float]) -> FloatArray:
    ends = np.quantile(draws, tails, axis=0)
    for index in np.flatnonzero(design):
        ends[:, index] = [_blurred_quantile(draws[:, index], design[index], tail) for tail in tails]
    return ends


def _blurred_quantile(draws: FloatArray, spread: float, tail: float) -> float:
    """Quantile of a draw plus normal noise: where the average of the normal laws around the draws reaches it."""
    if not (np.isfinite(spread) and np.all(np.isfinite(draws))):
        return np.nan
    margin = _FARTHEST * spread
    ends = draws.min() - margin, draws.max() + margin
    return float(brentq(lambda end: np.mean(ndtr((end - draws) / spread)) - tail, *ends, xtol=1e-10))


def interval_ends(level: float) -> tuple[float, float]:
    """Return the probabilities below the two ends of the central interval that holds this probability."""
    if not (isinstance(level, Real) and 0.0 < level < 1.0):
        raise ValueError(f"level must lie between 0 and 1, such as 0.9; got {level!r}.")
    return 0.5 - level / 2.0, 0.5 + level / 2.0
