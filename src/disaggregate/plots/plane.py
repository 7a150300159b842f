"""Individuals as points in the plane: the two features of a table and their names."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from disaggregate.groups.forms import is_dataframe


class Plane(NamedTuple):
    """Points of two features, with the names to write along the axes."""

    points: NDArray[np.float64]
    names: tuple[str, str]


def as_plane(X: Any) -> Plane:
    """Read two numeric features; anything else cannot be drawn in the plane."""
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] != 2:
        came = f"{shape[1]} features" if len(shape) == 2 else f"an array of shape {shape}"
        raise ValueError(
            f"This plot draws individuals in the plane and needs X with exactly 2 features, but got {came}. "
            "Pass the two columns to draw, with a model that was fitted on those two."
        )
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"This plot needs 2 numeric features, but X could not be read as numbers: {error}. "
            "Encode categories as numbers first."
        ) from error
    if not len(points) or not np.isfinite(points).all():
        raise ValueError(
            "This plot needs at least one row and only finite numbers in X, but got "
            f"{len(points)} rows, {np.count_nonzero(~np.isfinite(points))} values not finite. "
            "Drop or fill the rows with missing values."
        )
    return Plane(points, _axis_names(X))


def point_area(n: int) -> float:
    """Return the area of a mark such that n of them can be distinguished."""
    return float(np.clip(500.0 / np.sqrt(n), 9.0, 36.0))


def like_input(points: NDArray[np.float64], X: Any) -> Any:
    """Give new points the form of X, so that a model fitted on named columns sees its names again."""
    return type(X)(dict(zip(X.columns, points.T, strict=True))) if is_dataframe(X) else points


def _axis_names(X: Any) -> tuple[str, str]:
    if is_dataframe(X):
        return str(X.columns[0]), str(X.columns[1])
    return "feature 1", "feature 2"
