"""Labelled data cut into random groups: features standardised, groups made inside the training fold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.tasks.split import Split

UCI = ("vote", "heart_statlog", "australian", "breast_w", "pima", "ionosphere", "sonar", "colic")
N_FOLDS = 5


def load(name: str, data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Features and 0/1 labels; missing values become the median of their column."""
    if name == "digits":
        X, digit = load_digits(return_X_y=True)
        return X, (digit >= 5).astype(int)
    path = data / "uci" / f"{name}.tsv.gz"
    if not path.exists():
        raise SystemExit(f"{path} is missing: give the folder that holds uci/ with --data.")
    table = pd.read_csv(path, sep="\t")
    y = table.pop("target").to_numpy()
    return table.fillna(table.median()).to_numpy(dtype=float), (y == y.max()).astype(int)


def standardised(X: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows, on the scale of the training rows."""
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test])


def random_groups(name: str, size: int, seed: int, data: Path) -> Iterator[Split]:
    """Five folds; in each the training rows are shuffled into groups of one size."""
    X, y = load(name, data)
    rng = np.random.default_rng(seed)
    for fold, (train, test) in enumerate(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y)):
        train = rng.permutation(train)
        groups = np.arange(len(train)) // size
        shares = pd.Series(y[train]).groupby(groups).mean()
        X_train, X_test = standardised(X, train, test)
        yield Split(name, size, seed, fold, X_train, groups, shares, y[train], X_test, y[test])
