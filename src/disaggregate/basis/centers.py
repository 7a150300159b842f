"""Where the kernels sit: on every individual, on landmarks, or where the caller says."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np


def choose_centers(X: np.ndarray, centers: Any, generator: np.random.Generator) -> np.ndarray:
    """Return the centres, one a row.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Training individuals.
    centers : "all", int or array-like of shape (n_centers, n_features)
        Every individual, as in the paper; this many k-means++ landmarks; or the centres themselves.
    generator : numpy.random.Generator
        Draws the landmarks.
    """
    if isinstance(centers, str):
        if centers != "all":
            raise ValueError(f'centers must be "all", a number or an array of points, got {centers!r}.')
        return X
    if isinstance(centers, Integral) and not isinstance(centers, bool):
        return _landmarks(X, int(centers), generator)
    return _given(X, centers)


def _landmarks(X: np.ndarray, n_centers: int, generator: np.random.Generator) -> np.ndarray:
    if n_centers < 1:
        raise ValueError(f'centers must be 1 or more, got {n_centers}; use "all" for every individual.')
    if n_centers >= len(X):
        return X
    from sklearn.cluster import kmeans_plusplus  # slow to import, and few fits need it

    seed = int(generator.integers(2**31 - 1))
    with np.errstate(over="ignore"):
        _, rows = kmeans_plusplus(X, n_centers, random_state=seed)
    return X[np.sort(rows)]


def _given(X: np.ndarray, centers: Any) -> np.ndarray:
    try:
        points = np.array(centers, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f'centers must be "all", a number or an array of points; {error}.') from error
    if points.ndim != 2 or points.shape[1] != X.shape[1] or len(points) == 0:
        raise ValueError(
            f"centers as an array must have shape (n_centers, {X.shape[1]}), one column for each feature of X; "
            f"got {points.shape}."
        )
    if not np.isfinite(points).all():
        raise ValueError("centers contains NaN or infinite values; every centre must be a finite point.")
    return points
