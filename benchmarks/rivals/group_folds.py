"""Tuning without labels, by the error in the shares of groups that were left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

Decide = Callable[[np.ndarray], np.ndarray]
Fit = Callable[[Any, np.ndarray, pd.Series, np.ndarray], Decide]


def best_setting(
    settings: Sequence[Any], fit: Fit, X: np.ndarray, shares: pd.Series, groups: np.ndarray, n_folds: int = 5
) -> Any:
    """Return the setting whose fits have the least absolute error in left-out shares.

    Parameters
    ----------
    settings : sequence
        What to choose from.
    fit : callable
        Takes a setting and the data of some groups; returns a decision function.
    X, shares, groups
        The data of all groups.
    n_folds : int, default=5
        Folds over groups.
    """
    errors = []
    for setting in settings:
        score = left_out_scores(setting, fit, X, shares, groups, n_folds)
        positive = pd.Series(score > 0.0).groupby(groups).mean()
        errors.append(np.abs(positive - shares[positive.index]).sum())
    return settings[int(np.argmin(errors))]


def left_out_scores(
    setting: Any, fit: Fit, X: np.ndarray, shares: pd.Series, groups: np.ndarray, n_folds: int = 5
) -> np.ndarray:
    """Score each row by a fit without its group, or of two groups without the row; parameters as above."""
    fold = _folds(shares, groups, n_folds)
    score = np.empty(len(X))
    for held_out in np.unique(fold):
        inside = fold != held_out
        kept = shares[shares.index.isin(groups[inside])]
        score[~inside] = fit(setting, X[inside], kept, groups[inside])(X[~inside])
    return score


def _folds(shares: pd.Series, groups: np.ndarray, n_folds: int) -> np.ndarray:
    """Deal out the groups.

    Of two groups neither tells anything without the other: then their members are dealt out, and each part of a
    group is taken to have its share.
    """
    if len(shares) > 2:
        fold_of = pd.Series(np.arange(len(shares)) % n_folds, index=shares.index)
        return fold_of[groups].to_numpy()
    return pd.Series(groups).groupby(groups).cumcount().to_numpy() % n_folds
