"""The accepted ways to say what each group reported, read into one mapping from group to report."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

Reports = dict[Hashable, Any]


def row_groups(groups: Any, n_rows: int | None = None) -> list[Hashable]:
    """Read one group id a row from a list, array, or pandas or polars column.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Group ids.
    n_rows : int, optional
        The number of rows that there must be.
    """
    ids = as_list(groups, "groups")
    if n_rows is not None and len(ids) != n_rows:
        raise ValueError(
            f"groups has {len(ids)} entries but X has {n_rows} rows; give one group id for each row of X."
        )
    if not ids:
        raise ValueError("groups is empty; give one group id for each row of X.")
    for row, group in enumerate(ids):
        if is_missing(group):
            raise ValueError(f"groups[{row}] is missing ({group!r}); drop the row or give it a group.")
        if not isinstance(group, Hashable):
            raise ValueError(
                f"groups[{row}] is {group!r}, which cannot name a group (it is not hashable); "
                "use numbers, strings or tuples."
            )
    return ids


def reports_by_group(reports: Any, ids: Sequence[Hashable], row_index: Any = None) -> Reports:
    """Read reports given by group, or one a row, into a dict with exactly the groups in ``ids``.

    Parameters
    ----------
    reports : mapping, Series, two-column dataframe or array-like
        Share or evidence by group id; or one value for each row, equal inside a group.
    ids : sequence of hashable
        Group id of each row.
    row_index : pandas Index, optional
        Labels of the rows of X, which tell a Series by row from a Series by group.
    """
    if is_dataframe(reports):
        names, values = two_columns(reports)
        by_group = _by_group(names, values)
    elif isinstance(reports, Mapping):
        by_group = dict(reports)
    elif isinstance(reports, pd.Series) and not _series_is_by_row(reports, ids, row_index):
        by_group = _by_group(as_list(reports.index, "y"), as_list(reports, "y"))
    else:
        by_group = _by_row(as_list(reports, "y"), ids)
    _require_same_groups(by_group, ids)
    return by_group


def as_list(column: Any, name: str) -> list:
    """Take any one-dimensional column as a list of Python values."""
    if hasattr(column, "to_list"):
        return column.to_list()
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got an array of shape {column.shape}.")
        return column.tolist()
    if isinstance(column, str) or not hasattr(column, "__iter__"):
        raise ValueError(f"{name} must be a list, array or dataframe column, got {type(column).__name__}.")
    return list(column)


def is_dataframe(value: Any) -> bool:
    """Tell whether ``value`` is a pandas or polars dataframe."""
    return hasattr(value, "columns") and hasattr(value, "shape") and hasattr(value, "dtypes")


def two_columns(frame: Any) -> tuple[list, list]:
    """Read a dataframe of two columns, [group, share]."""
    columns = list(frame.columns)
    if len(columns) != 2:
        raise ValueError(
            f"y as a dataframe must have two columns, the group and its share, in this order; got {columns}."
        )
    return as_list(frame[columns[0]], "y"), as_list(frame[columns[1]], "y")


def is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' NA or NaT from values."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _series_is_by_row(series: pd.Series, ids: Sequence[Hashable], row_index: Any) -> bool:
    """Tell a Series with one value a row from one with one value a group."""
    if len(series) != len(ids):
        return False
    labels = series.index.tolist()
    if set(labels) != set(ids):
        return True
    # Only groups of one come here: the labels are the rows' and the groups' at the same time.
    rows = row_index.tolist() if row_index is not None else list(range(len(ids)))
    if labels == rows and labels != list(ids):
        raise ValueError(
            "y is a Series whose index could be the rows or the groups, and the two readings differ; "
            "give y.to_dict() for one value a group, or y.to_numpy() for one value a row."
        )
    return False


def _by_group(names: Sequence[Hashable], values: Sequence) -> Reports:
    by_group: Reports = {}
    for name, value in zip(names, values, strict=True):
        if name in by_group and not _equal(by_group[name], value):
            raise ValueError(f"group {name!r} has two shares, {by_group[name]!r} and {value!r}; keep one.")
        by_group[name] = value
    return by_group


def _by_row(values: Sequence, ids: Sequence[Hashable]) -> Reports:
    if len(values) != len(ids):
        raise ValueError(
            f"y has {len(values)} entries but there are {len(ids)} rows; give a mapping from group to share, "
            "or one share for each row."
        )
    by_group: Reports = {}
    for row, (group, value) in enumerate(zip(ids, values, strict=True)):
        known = by_group.setdefault(group, value)
        if not _equal(known, value):
            raise ValueError(
                f"shares differ within group {group!r}: {known!r}, and {value!r} at row {row}; "
                "every member of a group must carry the group's share."
            )
    return by_group


def _equal(one: Any, other: Any) -> bool:
    return (is_missing(one) and is_missing(other)) or one == other


def _require_same_groups(by_group: Reports, ids: Sequence[Hashable]) -> None:
    present = dict.fromkeys(ids)
    without = [name for name in present if name not in by_group]
    if without:
        raise ValueError(
            f"{_listed(without)} in groups but without a share in y; add one, or give "
            "disaggregate.evidence.Unknown() where nothing was reported."
        )
    unknown = [name for name in by_group if name not in present]
    if unknown:
        raise ValueError(
            f"{_listed(unknown)} in y but in no row of groups; drop it, or check how the ids are spelt."
        )


def _listed(names: list) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"group {shown} is" if len(names) == 1 else f"groups {shown}{more} are"
