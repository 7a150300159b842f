"""Contraction: the share of the prior variance of an estimate that the reports removed.

Chains that agree and informative data are two things. The first is about the computation, this is about the
second. The posterior contraction of a quantity is 1 - posterior variance / prior variance: the share of its prior
variance that the reports removed. Where they removed little, the estimate and its interval are those of the prior.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

FloatArray = NDArray[np.float64]

CONTRACTION, RESTS_ON = "contraction", "rests_on"

ON_GROUPS = "groups"
ON_BOTH = "groups and prior"
ON_PRIOR = "prior"

# From these contractions on an estimate rests on the groups, or on both: its interval is less than a third, or
# less than 0.7, of the prior's.
_MOSTLY, _PARTLY = 0.9, 0.5

# Rates nearer to 0 or 1 than this are almost certain.
_LEAST_RATE = 1e-6


def contraction(posterior: FloatArray, prior: FloatArray) -> FloatArray:
    """Share of the prior variance of some quantities that the reports removed, from 0 to 1.

    Variances are those of a normal law with the same quartiles: scales have priors with heavy tails, whose own
    variance would be decided by a few draws.

    Parameters
    ----------
    posterior, prior : ndarray of shape (n_draws, n_quantities)
        Draws; of the prior as many as there happen to be.

    Returns
    -------
    ndarray of shape (n_quantities,)
        NaN where the prior leaves nothing open, or a quantity is not known.
    """
    after, before = _spread(posterior), _spread(prior)
    with np.errstate(divide="ignore", invalid="ignore"):
        removed = 1.0 - (after / before) ** 2
    return np.where(before > 0.0, np.clip(removed, 0.0, 1.0), np.nan)


def total_contraction(posterior: FloatArray, prior: FloatArray) -> float:
    """Contraction of the variances of all quantities together; NaN where the prior leaves nothing open."""
    after, before = (float(np.sum(_spread(draws) ** 2)) for draws in (posterior, prior))
    return min(max(1.0 - after / before, 0.0), 1.0) if before > 0.0 else np.nan


def rate_contraction(posterior: FloatArray, prior: FloatArray, weight: FloatArray) -> FloatArray:
    """Contraction of rates of subgroups, as far as they differ from the rate of all subgroups together.

    Any report determines the rate of everybody, and with it a subgroup's rate roughly. What has to be learned
    is how the subgroup differs, on the probit scale, so that rare outcomes are judged as common ones are. A single
    subgroup is judged by its own rate.

    Parameters
    ----------
    posterior, prior : ndarray of shape (n_draws, n_subgroups)
        Draws of the rates.
    weight : ndarray of shape (n_subgroups,)
        How much each subgroup counts in the rate of everybody.
    """
    return contraction(_differences(posterior, weight), _differences(prior, weight))


def change_contraction(
    posterior: tuple[FloatArray, FloatArray], prior: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Contraction of changes of rates, on the probit scale.

    Parameters
    ----------
    posterior, prior : tuple of ndarray, each of shape (n_draws, n_changes)
        Draws of the rates after and before each change.
    """
    (after, before), (prior_after, prior_before) = posterior, prior
    return contraction(_probit(after) - _probit(before), _probit(prior_after) - _probit(prior_before))


def in_words(values: FloatArray) -> list[str]:
    """Say of each contraction whether the estimate rests on the groups, on the prior, or on both."""
    return [_in_words(float(value)) for value in values]


def _in_words(value: float) -> str:
    if np.isnan(value):
        return ""
    if value >= _MOSTLY:
        return ON_GROUPS
    return ON_BOTH if value >= _PARTLY else ON_PRIOR


def _spread(draws: FloatArray) -> FloatArray:
    low, high = np.quantile(draws, [0.25, 0.75], axis=0)
    return high - low


def _differences(draws: FloatArray, weight: FloatArray) -> FloatArray:
    is_there = (weight != 0.0) & np.isfinite(draws).all(axis=0)
    if is_there.sum() < 2:
        return _probit(draws)
    everybody = draws[:, is_there] @ (weight[is_there] / weight[is_there].sum())
    return _probit(draws) - _probit(everybody)[:, None]


def _probit(rates: FloatArray) -> FloatArray:
    return ndtri(np.clip(rates, _LEAST_RATE, 1.0 - _LEAST_RATE))
