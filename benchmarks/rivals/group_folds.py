"""Tuning without labels, by the error in the shares of groups that were left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd


def best_setting(
    settings: Sequence[Any],
    fit: Callable[[Any, np.ndarray, pd.Series, np.ndarray], Callable[[np.ndarray], np.ndarray]],
    X: np.ndarray,
    shares: pd.Series,
    groups: np.ndarray,
    n_folds: int = 5,
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
    names = shares.index.to_numpy()
    n_folds = min(n_folds, len(names))
    fold_of = dict(zip(names, np.arange(len(names)) % n_folds, strict=True))
    fold = np.array([fold_of[group] for group in groups])
    errors = np.zeros(len(settings))
    for place, setting in enumerate(settings):
        for held_out in range(n_folds):
            inside = fold != held_out
            kept = shares[[name for name in names if fold_of[name] != held_out]]
            decide = fit(setting, X[inside], kept, groups[inside])
            positive = pd.Series(decide(X[~inside]) > 0.0).groupby(groups[~inside]).mean()
            errors[place] += np.abs(positive - shares[positive.index]).sum()
    return settings[int(np.argmin(errors))]
