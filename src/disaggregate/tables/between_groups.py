"""How much of a column's variance lies between groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.tables.counts import Counts

# Rounding in the mean of equal numbers must not pass for variance.
_ROUNDING = 1e-20


class SumsOfSquares(NamedTuple):
    """Sums of squares over people, of all columns together.

    Attributes
    ----------
    between : ndarray of shape (n_groups,)
        What each group with people adds to that between groups.
    total : float
        That of all people.
    """

    between: np.ndarray
    total: float


def sums_of_squares(columns: np.ndarray, groups: np.ndarray, counts: Counts) -> SumsOfSquares | None:
    """Divide the variance of columns between groups; None where they are constant, or overflow.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        Finite numbers.
    groups : ndarray of int, shape (n_rows,)
        Group of each row, from 0.
    counts : ndarray of shape (n_rows,)
        People per row.
    """
    sizes = np.bincount(groups, weights=counts)
    with np.errstate(over="ignore", invalid="ignore"):
        centred = columns - np.average(columns, axis=0, weights=counts)
        total = float(counts @ np.sum(centred**2, axis=1))
        sums = np.column_stack([np.bincount(groups, weights=counts * part) for part in centred.T])
        between = np.sum(sums[sizes > 0] ** 2 / sizes[sizes > 0, np.newaxis], axis=1)
        is_constant = total <= _ROUNDING * float(counts @ np.sum(columns**2, axis=1))
    return None if is_constant or not np.isfinite(total) else SumsOfSquares(between, total)
