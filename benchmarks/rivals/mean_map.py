"""Mean map (Quadrianto, Smola, Caetano & Le, 2008): class means from group means, then a log-linear model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.tuned import TunedRival

PENALTIES = tuple(10.0 ** np.arange(-5, 3))


def fit_mean_map(penalty: float, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Decide:
    """Fit with one penalty."""
    features = np.column_stack([X, np.ones(len(X))])
    table = pd.DataFrame(features).groupby(groups)
    means, sizes = table.mean(), table.size()
    share = shares[means.index].to_numpy()
    mix = np.column_stack([share, 1.0 - share])
    weight = np.sqrt(sizes.to_numpy())[:, None]
    class_means = np.linalg.lstsq(mix * weight, means.to_numpy() * weight, rcond=None)[0]
    positive = float(np.average(share, weights=sizes))
    moment = positive * class_means[0] - (1.0 - positive) * class_means[1]

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        score = features @ theta
        value = np.mean(np.logaddexp(score, -score)) - theta @ moment + 0.5 * penalty * theta @ theta
        return value, features.T @ np.tanh(score) / len(X) - moment + penalty * theta

    theta = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B").x
    return lambda new: np.column_stack([new, np.ones(len(new))]) @ theta


class MeanMap(TunedRival):
    """Linear mean map with the penalty tuned on group error."""

    name = "mean map"
    settings = PENALTIES
    fit_one = staticmethod(fit_mean_map)
