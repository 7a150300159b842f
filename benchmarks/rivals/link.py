"""Probabilities from scores, by the logistic curve under which the shares are most likely."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.rivals.bags import read_bags
from benchmarks.rivals.count_likelihood import count_likelihood


class Link(NamedTuple):
    """Probability ``expit(slope * score + offset)``."""

    slope: float
    offset: float

    def __call__(self, score: np.ndarray) -> np.ndarray:
        """Turn scores into probabilities of the positive class."""
        return expit(self.slope * score + self.offset)


def fit_link(score: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Link:
    """Find slope and offset by the likelihood of the groups' counts.

    A few shares tell little of the slope: its logarithm, for scores of unit spread, has a normal prior of mean 0
    and standard deviation ½. That also keeps the slope positive.

    Parameters
    ----------
    score : ndarray of shape (n_rows,)
        Scores by fits that did not see the row's group; those of a fit that saw it would be too sure.
    shares, groups
        The reports.
    """
    bags = read_bags(shares, groups)
    spread = float(score.std()) or 1.0
    unit = score / spread

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        slope = np.exp(theta[0])
        log_likelihood, given_count = count_likelihood(slope * unit + theta[1], bags)
        residual = given_count - expit(slope * unit + theta[1])
        gradient = np.array([slope * (unit @ residual), residual.sum()])
        return 2.0 * theta[0] ** 2 - log_likelihood, np.array([4.0 * theta[0], 0.0]) - gradient

    log_slope, offset = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(-7, 7), (-20, 20)]).x
    return Link(float(np.exp(log_slope)) / spread, float(offset))
