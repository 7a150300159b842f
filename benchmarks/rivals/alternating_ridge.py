"""Alternating kernel ridge: regress on group means, label the highest scores of each group, regress on those."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from benchmarks.rivals.group_folds import best_setting

SETTINGS = list(product(("linear", "rbf"), 10.0 ** np.arange(-2, 4)))
ALTERNATIONS = 50


class AlternatingRidge:
    """Kernel and penalty tuned on group error."""

    name = "alternating kernel ridge"

    def fit(self, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> AlternatingRidge:
        """Choose kernel and penalty, and fit."""
        self.setting_ = best_setting(SETTINGS, fit_alternating_ridge, X, shares, groups)
        self._decide = fit_alternating_ridge(self.setting_, X, shares, groups)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Positive for the positive class."""
        return self._decide(X)


def fit_alternating_ridge(
    setting: tuple[str, float], X: np.ndarray, shares: pd.Series, groups: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Fit with one kernel and one penalty."""
    name, penalty = setting
    kernel = (lambda a, b: linear_kernel(a, b) / X.shape[1]) if name == "linear" else rbf_kernel
    gram = kernel(X, X) + 1.0
    names, place = np.unique(groups, return_inverse=True)
    average = np.equal.outer(np.arange(len(names)), place) / np.bincount(place)[:, None]
    share = shares[names].to_numpy()
    by_groups = average @ gram @ average.T + penalty / len(X) * np.eye(len(names))
    weights = average.T @ np.linalg.solve(by_groups, 2.0 * share - 1.0)
    solver = np.linalg.inv(gram + penalty * np.eye(len(X)))
    labels = np.zeros(len(X))
    for _ in range(ALTERNATIONS):
        new = _highest(gram @ weights, share, place)
        if np.array_equal(new, labels):
            break
        labels = new
        weights = solver @ (2.0 * labels - 1.0)
    return lambda new_X: (kernel(new_X, X) + 1.0) @ weights


def _highest(score: np.ndarray, share: np.ndarray, place: np.ndarray) -> np.ndarray:
    labels = np.zeros(len(score))
    for group, wanted in enumerate(share):
        members = np.flatnonzero(place == group)
        order = members[np.argsort(-score[members], kind="stable")]
        labels[order[: round(wanted * len(members))]] = 1.0
    return labels
