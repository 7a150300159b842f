"""Kernel logistic regression on the likelihood of the groups' counts, with labels summed out exactly.

Of all rivals the nearest to ours: the same likelihood but for the link, maximised with a penalty instead of
averaged over. EM climbs it step by step for a linear model; here L-BFGS follows its gradient, from several starts,
because there are several maxima.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.rivals.bags import Bags, read_bags
from benchmarks.rivals.count_likelihood import count_likelihood
from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.kernels import KERNELS
from benchmarks.rivals.tuned import TunedRival

SETTINGS = tuple(product(("linear", "rbf"), 10.0 ** np.arange(-3, 2)))
STARTS = 3
DROPPED = 1e-6  # directions with a smaller part of the largest eigenvalue


def fit_bag_likelihood(setting: tuple[str, float], X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Decide:
    """Fit with one kernel and penalty; the starts are always the same."""
    name, penalty = setting
    kernel, bags = KERNELS[name], read_bags(shares, groups)
    gram = kernel(X, X)
    whiten = _whitening(gram)
    loss = penalised_loss(np.column_stack([gram @ whiten, np.ones(len(X))]), bags, penalty)
    rng = np.random.default_rng(0)
    n_weights = whiten.shape[1] + 1
    starts = [np.zeros(n_weights)] + [rng.normal(size=n_weights) for _ in range(STARTS - 1)]
    ends = [minimize(loss, start, jac=True, method="L-BFGS-B") for start in starts]
    theta = min(ends, key=lambda end: end.fun).x
    weights = whiten @ theta[:-1]
    return lambda new: kernel(new, X) @ weights + theta[-1]


def penalised_loss(
    features: np.ndarray, bags: Bags, penalty: float
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """Minus the log likelihood with a penalty on all weights but the last, the intercept; and its gradient."""
    penalties = np.append(np.full(features.shape[1] - 1, penalty), 0.0)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        score = features @ theta
        log_likelihood, given_count = count_likelihood(score, bags)
        value = 0.5 * penalties @ theta**2 - log_likelihood
        return value, penalties * theta - features.T @ (given_count - expit(score))

    return loss


def _whitening(gram: np.ndarray) -> np.ndarray:
    """Coordinates in which the norm of the function is the length of the weights."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > DROPPED * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])


class BagLikelihood(TunedRival):
    """Kernel and penalty tuned on group error."""

    name = "count likelihood"
    settings = SETTINGS
    fit_one = staticmethod(fit_bag_likelihood)
