"""Inverse calibration, InvCal (Rüping, 2010): support vector regression of mean scores on the log odds of shares.

It minimises ½|w|² + C Σ_k (ξ_k + ξ*_k), where the mean score of group k may be off its target
y_k = -log(1/p_k - 1) by ε without cost, and by ξ_k or ξ*_k beyond. The mean score is linear in the mean of the
members' images, so this is ε-SVR with one example a group, under the kernel between those means: the mean of
K(x, x') over all pairs of members. scikit-learn solves it exactly. Rüping lets ε differ by group, to be one
tolerance of the shares; here it is one tolerance of the log odds, which is nearly the same where shares are alike.
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from benchmarks.rivals.bags import Bags, read_bags
from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.kernels import KERNELS
from benchmarks.rivals.tuned import TunedRival

SETTINGS = tuple(product(("linear", "rbf"), 10.0 ** np.arange(-1, 4), (0.0, 0.1, 0.3)))
MAX_STEPS = 100_000


def fit_inverse_calibration(
    setting: tuple[str, float, float], X: np.ndarray, shares: pd.Series, groups: np.ndarray
) -> Decide:
    """Fit with one kernel, cost and tolerance."""
    name, cost, tolerance = setting
    kernel, bags = KERNELS[name], read_bags(shares, groups)
    average = bags.averaging()
    machine = SVR(kernel="precomputed", C=cost, epsilon=tolerance, max_iter=MAX_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a setting that is not solved is judged as it is
        machine.fit(average @ kernel(X, X) @ average.T, target(bags))
    weights = machine.dual_coef_[0] @ average[machine.support_]
    return lambda new: kernel(new, X) @ weights + machine.intercept_[0]


def target(bags: Bags) -> np.ndarray:
    """Log odds of the shares; shares of 0 and 1 are taken half a member inwards, where the odds are finite."""
    half = 0.5 / bags.sizes
    return logit(np.clip(bags.share, half, 1.0 - half))


class InverseCalibration(TunedRival):
    """Kernel, cost and tolerance tuned on group error."""

    name = "inverse calibration"
    settings = SETTINGS
    fit_one = staticmethod(fit_inverse_calibration)
