"""Two bags, after Quadrianto, Smola, Caetano & Le (2008): one of negatives only, one mixed, and its share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.tasks.random_groups import N_FOLDS, load, standardised
from benchmarks.tasks.split import Split

# Our name of each data set that their table has.
PUBLISHED_NAME = {
    "ionosphere": "iono",
    "pima": "pima",
    "sonar": "sonar",
    "heart_statlog": "heart",
    "breast_w": "brea",
    "australian": "aust",
}
PURE, MIXED = 0, 1


def two_bags(name: str, seed: int, data: Path) -> Iterator[Split]:
    """Five folds; in each, half of the training negatives are the pure bag, everybody else is the mixed one."""
    X, y = load(name, data)
    rng = np.random.default_rng(seed)
    for fold, (train, test) in enumerate(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y)):
        negative = rng.permutation(train[y[train] == 0])
        pure = negative[: len(negative) // 2]
        groups = np.where(np.isin(train, pure), PURE, MIXED)
        shares = pd.Series(y[train]).groupby(groups).mean()
        X_train, X_test = standardised(X, train, test)
        yield Split(f"two bags, {name}", 0, seed, fold, X_train, groups, shares, y[train], X_test, y[test])
