"""Centres of the kernels: all individuals, landmarks, or given points."""

from __future__ import annotations

import math
import os
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

# Landmarks are chosen among this many rows at most: more would take longer and look the same.
ENOUGH_ROWS = 50_000

# With centers="auto" kernels sit on all rows up to this many, and beyond on so many landmarks: a Gaussian process
# keeps 300 directions at most, which these span as well.
ALL_ROWS, LANDMARKS = 2000, 1000

# Square matrices, of a row and a column per individual, that a fit with a kernel on each holds at once.
_MATRICES = 3


class Centers(NamedTuple):
    """The centres, and their weights.

    Attributes
    ----------
    points : ndarray of shape (n_centers, n_features)
        One per row.
    weights : ndarray of shape (n_centers,) or None
        How many individuals are nearest to each landmark, over the average; None where all centres count alike.
    """

    points: np.ndarray
    weights: np.ndarray | None = None


def choose_centers(
    X: np.ndarray, centers: Any, generator: np.random.Generator, weights: np.ndarray | None = None
) -> Centers:
    """Choose the centres.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Training individuals.
    centers : "auto", "all", int or array-like of shape (n_centers, n_features)
        Every individual while that is cheap, and landmarks beyond; every individual, as in the paper; this many
        k-means++ landmarks; or the centres themselves.
    generator : numpy.random.Generator
        Draws the landmarks.
    weights : ndarray of shape (n_rows,), optional
        What each of ``X`` stands for, where these are landmarks themselves.
    """
    if isinstance(centers, str) and centers == "auto":
        centers = LANDMARKS if len(X) > ALL_ROWS else "all"
    if isinstance(centers, str):
        if centers != "all":
            raise ValueError(f'centers must be "auto", "all", a number or an array of points, got {centers!r}.')
        _require_memory(len(X))
        return Centers(X, weights)
    if isinstance(centers, Integral) and not isinstance(centers, bool):
        return _landmarks(X, int(centers), generator, weights)
    return Centers(_given(X, centers))


def _require_memory(n_rows: int) -> None:
    needed, there = _MATRICES * 8 * n_rows**2, memory()
    if needed > there:
        raise ValueError(
            f'centers="all" puts a kernel on each of the {n_rows:,} individuals and would need some '
            f"{needed / 2**30:,.0f} GB of memory, but this machine has {there / 2**30:,.0f}: use "
            'centers="auto", or a number of landmarks, such as centers=500.'
        )


def memory() -> float:
    """Bytes of memory of this machine, infinite where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def _landmarks(
    X: np.ndarray, n_centers: int, generator: np.random.Generator, weights: np.ndarray | None
) -> Centers:
    """Spread landmarks over the individuals: they are farther out than most of these, so their weights differ."""
    if n_centers < 1:
        raise ValueError(f'centers must be 1 or more, got {n_centers}; use "all" for every individual.')
    if n_centers >= len(X):
        return Centers(X, weights)
    from sklearn.cluster import kmeans_plusplus  # slow to import, and few fits need it
    from sklearn.metrics import pairwise_distances_argmin

    if len(X) > ENOUGH_ROWS:
        chosen = np.sort(generator.choice(len(X), max(ENOUGH_ROWS, n_centers), replace=False))
        X, weights = X[chosen], None if weights is None else weights[chosen]
    seed = int(generator.integers(2**31 - 1))
    with np.errstate(over="ignore", invalid="ignore"):
        _, rows = kmeans_plusplus(X, n_centers, random_state=seed)
        points = X[np.sort(rows)]
        owned = np.bincount(pairwise_distances_argmin(X, points), weights, len(points)).astype(np.float64)
    kept = owned > 0.0  # equal individuals are one landmark
    return Centers(points[kept], owned[kept] / owned[kept].mean())


def _given(X: np.ndarray, centers: Any) -> np.ndarray:
    try:
        points = np.array(centers, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f'centers must be "auto", "all", a number or an array of points; {error}.') from error
    if points.ndim != 2 or points.shape[1] != X.shape[1] or len(points) == 0:
        raise ValueError(
            f"centers as an array must have shape (n_centers, {X.shape[1]}), one column for each feature of X; "
            f"got {points.shape}."
        )
    if not np.isfinite(points).all():
        raise ValueError("centers contains NaN or infinite values; every centre must be a finite point.")
    return points
