"""Simulated people in groups, for measurements of time and memory."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr


def people(n_rows: int, size: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, group of each row, and true labels; groups differ in their make-up."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n_rows) // size
    X = rng.standard_normal((n_rows, n_features))
    X += (0.6 * rng.standard_normal((groups[-1] + 1, n_features)))[groups]
    return X, groups, rng.random(n_rows) < ndtr(truth(X))


def truth(X: np.ndarray) -> np.ndarray:
    """Return the true f of each row."""
    return 1.2 * X[:, 0] - 0.8 * X[:, 1] + np.sin(2.0 * X[:, 2]) - 0.3


def shares_of(groups: np.ndarray, positives: np.ndarray, counts: np.ndarray | None = None) -> dict[int, float]:
    """Share of positives of each group, of rows that count once or as many people as they stand for."""
    totals = np.bincount(groups, weights=counts)
    return dict(enumerate((np.bincount(groups, weights=positives) / totals).tolist()))
