"""Identification: how much of the variance of each feature lies between groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from disaggregate.groups.forms import is_dataframe
from disaggregate.groups.reports import row_groups
from disaggregate.tables.between_groups import sums_of_squares
from disaggregate.tables.counts import Counts, read_counts
from disaggregate.tables.people import column, is_category, levels_of, numbers, require_columns

FloatArray = NDArray[np.float64]

_HARDLY = 0.05
_SOMEWHAT = 0.2
_FEW_GROUPS = 5
_FEW_CONTRASTS = 3.0


def between_group_share(people: Any, groups: ArrayLike, counts: ArrayLike | None = None) -> pd.DataFrame:
    """Tabulate, for each feature, how much of its spread lies between groups.

    Reports of groups see a feature only through its group means. For an effect on a straight line, the share of
    a feature's variance that lies between groups is about the share of what everybody's own label would have
    said about it; the rest is filled in by the model's assumptions.

    Parameters
    ----------
    people : dataframe or array of shape (n_rows, n_features)
        Features. Categories are judged by their levels, each level weighing as its variance.
    groups : array-like of shape (n_rows,)
        Group of each row.
    counts : array-like of shape (n_rows,), optional
        How many people each row stands for, one by default: it counts as so many rows.

    Returns
    -------
    DataFrame
        Columns ``feature``; ``between``, the share of the variance that lies between groups;
        ``effective_groups``, how many equally contrasting groups would carry the same contrast, which is few when
        a few groups stand apart from all others; and ``says``, the same in words.
    """
    table = people if is_dataframe(people) else _as_frame(people)
    require_columns(table, [])
    ids = row_groups(groups, len(table))
    codes, _ = pd.factorize(pd.Series(ids, dtype=object))
    n_each = read_counts(counts, len(table))
    rows = [_spread_of(table, name, codes, n_each) for name in table.columns]
    between, effective = np.array(rows).T
    says = [_in_words(share, n, len(np.unique(codes[n_each > 0]))) for share, n in rows]
    names = list(table.columns)
    return pd.DataFrame({"feature": names, "between": between, "effective_groups": effective, "says": says})


def _as_frame(features: Any) -> pd.DataFrame:
    values = np.asarray(features)
    if values.ndim != 2:
        raise ValueError(
            f"people must be a dataframe, or an array of shape (n_rows, n_features); got {values.shape}."
        )
    return pd.DataFrame(values, columns=[f"feature {index + 1}" for index in range(values.shape[1])])


def _spread_of(table: Any, name: str, codes: NDArray[np.intp], counts: Counts) -> tuple[float, float]:
    """Share of the variance between groups, and effective number of groups that carry it."""
    values = _as_numbers(table, name)
    known = np.isfinite(values).all(axis=1) & (counts > 0)
    if not known.any():
        return 0.0, 0.0
    found = sums_of_squares(values[known], codes[known], counts[known])
    if found is None:
        return 0.0, 0.0
    between = float(found.between.sum())
    effective = between**2 / float(np.sum(found.between**2)) if between > 1e-12 * found.total else 0.0
    return between / found.total, effective


def _as_numbers(table: Any, name: str) -> FloatArray:
    """Columns of numbers: the feature itself, or an indicator of each level; missing levels are in none."""
    values = column(table, name)
    if not is_category(values):
        return numbers(table, name)[:, None]
    indicators = [(values == level).to_numpy(dtype=np.float64, na_value=0.0) for level in levels_of(values)]
    return np.column_stack(indicators) if indicators else np.zeros((len(values), 1))


def _in_words(share: float, effective: float, n_groups: int) -> str:
    if n_groups == 1:
        return "there is one group only: it carries no information about any feature"
    if effective == 0.0:
        return "groups do not differ in this: its effect rests on the model's assumptions alone"
    if share < _HARDLY:
        return "groups hardly differ in this: its effect rests on the model's assumptions"
    caveat = _caveat(effective, n_groups)
    if share < _SOMEWHAT:
        return f"groups differ somewhat in this{caveat}: its effect is partly learned, partly assumed"
    return f"groups differ in this{caveat}: the reports carry information about its effect"


def _caveat(effective: float, n_groups: int) -> str:
    if n_groups <= _FEW_GROUPS:
        return f", though there are only {n_groups} of them"
    if effective < _FEW_CONTRASTS:
        return f", though mostly {'one' if effective < 1.5 else f'some {effective:.0f}'} of them"
    return ""
