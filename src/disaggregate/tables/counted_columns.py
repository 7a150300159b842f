"""Encoded columns of a table of cells: what the people would give if each of them had a row."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from disaggregate.tables.encoded_columns import CategoryColumn, NumberColumn, category_column, level_of

FloatArray = NDArray[np.float64]


def counted_number(name: str, values: pd.Series, counts: NDArray[np.int64], *, is_date: bool) -> NumberColumn:
    """Learn how to fill and scale a number, or a date in days.

    Parameters
    ----------
    name : str
        The feature.
    values : Series
        A value per row, NaN where it is missing.
    counts : ndarray of shape (n_rows,)
        People per row; rows of count 0 do not matter.
    is_date : bool
        Whether it is a date.
    """
    numbers, people = values.to_numpy(dtype=np.float64)[counts > 0], counts[counts > 0]
    known, share = ~np.isnan(numbers), people / people.sum()
    missing = float(share[~known].sum())
    fill = _median(numbers[known], people[known]) if known.any() else 0.0
    filled = np.where(known, numbers, fill)
    mean = float(filled @ share)
    spread = float(np.sqrt((filled - mean) ** 2 @ share))
    return NumberColumn(
        name=name,
        is_date=is_date,
        fill=fill,
        mean=mean,
        # A feature that was constant carries no information, whatever values it may take later.
        weight=1.0 / spread if len(np.unique(numbers[known])) > 1 and spread > 0.0 else 0.0,
        missing=missing if 0 < known.sum() < len(known) else None,
    )


def counted_category(name: str, values: pd.Series, counts: NDArray[np.int64], fewest: int) -> CategoryColumn:
    """Learn which levels of a category have a column of their own.

    Parameters
    ----------
    name : str
        The feature.
    values : Series
        A level per row, None where it is missing.
    counts : ndarray of shape (n_rows,)
        People per row.
    fewest : int
        Levels that fewer people have are pooled.
    """
    codes, met = pd.factorize(values.to_numpy(dtype=object), use_na_sentinel=False)
    people = np.bincount(codes, weights=counts, minlength=len(met))
    n_people = {level_of(level): int(n) for level, n in zip(met, people, strict=True)}
    levels = sorted(n_people, key=lambda level: (level is None, level or ""))
    pooled = [level for level in levels if n_people[level] < fewest]
    return category_column(name, [level for level in levels if level not in pooled], pooled, n_people)


def _median(values: FloatArray, counts: NDArray[np.int64]) -> float:
    """Return the median of all people: the middle one, or the mean of the two in the middle."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(counts[order])
    middle = np.searchsorted(below, [(below[-1] - 1) // 2, below[-1] // 2], side="right")
    return float(values[order][middle].mean())
