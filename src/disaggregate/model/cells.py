"""Overdispersion of cells: the rate of a cell varies around the probability from features and place.

The rate of a cell whose people have the probability p is beta distributed:

    rate ~ Beta(p / phi, (1 - p) / phi)

So the count of r people is beta-binomial. Any two of them have the correlation rho = phi / (1 + phi), and the
count has mean r p and variance r p (1 - p) (1 + (r - 1) rho). Single people, r = 1, are as without. phi is a scale
among those of :mod:`disaggregate.model.components`. Groups whose counts are summed over exactly are small: there
the chance of single people hides what cells differ by, and it is left out.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, expit, gammaln, log_ndtr, ndtr


def correlation_of(log_scale: np.ndarray) -> np.ndarray:
    """Correlation rho of two people of a cell, from log phi."""
    found: np.ndarray = expit(log_scale)
    return found


def inflation(people: np.ndarray, correlation: float) -> np.ndarray:
    """Ratio of the variance of a cell's count to the binomial variance."""
    found: np.ndarray = 1.0 + (people - 1.0) * correlation
    return found


def skew_inflation(people: np.ndarray, correlation: float) -> np.ndarray:
    """Return the same for the third central moment."""
    found: np.ndarray = inflation(people, correlation) * (1.0 + (2.0 * people - 1.0) * correlation)
    return found / (1.0 + correlation)


def log_all(scores: np.ndarray, people: np.ndarray, correlation: float) -> tuple[float, np.ndarray, float]:
    """Log probability that all people of some cells are positive, and its gradient in f and in rho.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        f.
    people : ndarray of shape (n_rows,)
        How many there are in each cell.
    correlation : float
        rho, above 0.
    """
    precision = 1.0 / correlation - 1.0
    log_p = log_ndtr(scores)
    positive = precision * ndtr(scores)
    by_score = np.exp(-0.5 * scores**2 - 0.5 * np.log(2.0 * np.pi) - log_p)
    # Gamma(a + r) / Gamma(a) with a next to 0 is Gamma(a + r) / Gamma(a + 1) times a.
    value = gammaln(positive + people) - gammaln(positive + 1.0) + np.log(precision) + log_p
    value -= gammaln(precision + people) - gammaln(precision)
    rise = digamma(positive + people) - digamma(positive + 1.0)
    by_precision = ndtr(scores) * rise + 1.0 / precision - digamma(precision + people) + digamma(precision)
    return (
        float(value.sum()),
        by_score * (positive * rise + 1.0),
        -float(by_precision.sum()) / correlation**2,
    )
