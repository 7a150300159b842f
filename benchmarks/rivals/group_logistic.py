"""Logistic regression of groups' shares on their mean features: people are then scored as if each were a group."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.tuned import TunedRival

PENALTIES = tuple(10.0 ** np.arange(-5, 3))


def fit_group_logistic(penalty: float, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Decide:
    """Fit with one penalty, which leaves the intercept alone."""
    table = pd.DataFrame(X).groupby(groups)
    means, weight = table.mean(), table.size().to_numpy() / len(X)
    features = np.column_stack([means.to_numpy(), np.ones(len(means))])
    share = shares[means.index].to_numpy()
    penalised = np.append(np.full(X.shape[1], penalty), 0.0)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        score = features @ theta
        error = 1.0 / (1.0 + np.exp(-score)) - share
        value = weight @ (np.logaddexp(0.0, score) - share * score) + 0.5 * penalised @ theta**2
        return value, features.T @ (weight * error) + penalised * theta

    theta = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x
    return lambda new: np.column_stack([new, np.ones(len(new))]) @ theta


class GroupLogistic(TunedRival):
    """Logistic regression on group means with the penalty tuned on group error."""

    name = "logistic of group means"
    settings = PENALTIES
    fit_one = staticmethod(fit_group_logistic)
