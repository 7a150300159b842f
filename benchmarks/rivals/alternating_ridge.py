"""Alternating kernel ridge: regress on group means, label the highest scores of each group, regress on those."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from benchmarks.rivals.bags import read_bags
from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.kernels import KERNELS
from benchmarks.rivals.tuned import TunedRival

SETTINGS = tuple(product(("linear", "rbf"), 10.0 ** np.arange(-2, 4)))
ALTERNATIONS = 50


def fit_alternating_ridge(
    setting: tuple[str, float], X: np.ndarray, shares: pd.Series, groups: np.ndarray
) -> Decide:
    """Fit with one kernel and one penalty."""
    name, penalty = setting
    kernel, bags = KERNELS[name], read_bags(shares, groups)
    gram, average = kernel(X, X) + 1.0, bags.averaging()
    by_groups = average @ gram @ average.T + penalty / len(X) * np.eye(len(average))
    weights = average.T @ np.linalg.solve(by_groups, 2.0 * bags.share - 1.0)
    solver = np.linalg.inv(gram + penalty * np.eye(len(X)))
    labels = np.zeros(len(X), dtype=bool)
    for _ in range(ALTERNATIONS):
        new = bags.highest(gram @ weights, bags.counts)
        if np.array_equal(new, labels):
            break
        labels = new
        weights = solver @ np.where(labels, 1.0, -1.0)
    return lambda new_X: (kernel(new_X, X) + 1.0) @ weights


class AlternatingRidge(TunedRival):
    """Kernel and penalty tuned on group error."""

    name = "alternating kernel ridge"
    settings = SETTINGS
    fit_one = staticmethod(fit_alternating_ridge)
