"""EM with logistic regression: labels given the counts, exactly, then a regression on their expectations.

It climbs the likelihood of the counts under a linear model, from the regression on the shares themselves.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.rivals.bags import read_bags
from benchmarks.rivals.count_likelihood import count_likelihood
from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.tuned import TunedRival

PENALTIES = tuple(10.0 ** np.arange(-2, 4))
STEPS = 200
ENOUGH = 1e-4  # gain in the log likelihood


def fit_em_logistic(penalty: float, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Decide:
    """Fit with one penalty."""
    bags = read_bags(shares, groups)
    features = np.column_stack([X, np.ones(len(X))])
    expected = bags.share[bags.place]
    theta, objective = np.zeros(features.shape[1]), -np.inf
    for _ in range(STEPS):
        theta = _regress(features, expected, penalty, theta)
        log_likelihood, expected = count_likelihood(features @ theta, bags)
        new = log_likelihood - 0.5 * penalty * theta[:-1] @ theta[:-1]
        if new - objective < ENOUGH:
            break
        objective = new
    return lambda new: np.column_stack([new, np.ones(len(new))]) @ theta


def _regress(features: np.ndarray, expected: np.ndarray, penalty: float, start: np.ndarray) -> np.ndarray:
    """Logistic regression on labels that are known in expectation; the intercept is not penalised."""
    penalties = np.append(np.full(features.shape[1] - 1, penalty), 0.0)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        score = features @ theta
        value = np.logaddexp(0.0, score).sum() - expected @ score + 0.5 * penalties @ theta**2
        return value, features.T @ (expit(score) - expected) + penalties * theta

    return minimize(loss, start, jac=True, method="L-BFGS-B").x


class EMLogistic(TunedRival):
    """Penalty tuned on group error."""

    name = "EM logistic regression"
    settings = PENALTIES
    fit_one = staticmethod(fit_em_logistic)
