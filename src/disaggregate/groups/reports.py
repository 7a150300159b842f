"""The accepted ways to say what each group reported, read into one mapping from group to report."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.groups.forms import as_list, is_dataframe, is_missing

Reports = dict[Hashable, Any]


def row_groups(groups: Any, n_rows: int | None = None) -> list[Hashable]:
    """Read one group id per row from a list, array, or pandas or polars column.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Group ids.
    n_rows : int, optional
        The number of rows that there must be.
    """
    ids = _as_ids(as_list(groups, "groups"), "groups")
    if n_rows is not None:
        _require_one_per_row(ids, n_rows)
    if not ids:
        raise ValueError("groups is empty; give one group id for each row of X.")
    return ids


def known_groups(groups: Any, n_rows: int) -> list[Hashable | None] | None:
    """Read the group ids of people to predict, None where one is missing, or where there are none at all.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or None
        Group ids.
    n_rows : int
        The number of rows that there must be.
    """
    if groups is None:
        return None
    values = as_list(groups, "groups")
    _require_one_per_row(values, n_rows)
    return [None if is_missing(value) else _as_ids([value], "groups")[0] for value in values]


def _require_one_per_row(ids: Sequence, n_rows: int) -> None:
    if len(ids) != n_rows:
        raise ValueError(
            f"groups has {len(ids)} entries but X has {n_rows} rows; give one group id for each row of X."
        )


def reports_by_group(reports: Any, ids: Sequence[Hashable], row_labels: Sequence | None = None) -> Reports:
    """Read reports given by group, or one per row, into a dict with exactly the groups in ``ids``.

    Parameters
    ----------
    reports : mapping, Series, two-column dataframe or array-like
        Share or evidence by group id; or one value for each row, equal inside a group.
    ids : sequence of hashable
        Group id of each row.
    row_labels : sequence, optional
        Labels of the rows, which distinguish a Series by row from a Series by group.
    """
    if reports is None:
        raise ValueError("y is None; give what each group reports, by group or one share for each row.")
    if is_dataframe(reports):
        by_group = _by_group(*two_columns(reports))
    elif isinstance(reports, Mapping):
        by_group = _by_group(list(reports), list(reports.values()))
    elif isinstance(reports, pd.Series) and not _series_is_by_row(reports, ids, row_labels):
        by_group = _by_group(reports.index.to_list(), reports.to_list())
    else:
        by_group = _by_row(as_list(reports, "y"), ids)
    _require_same_groups(by_group, ids)
    return by_group


def two_columns(frame: Any) -> tuple[list, list]:
    """Read a dataframe of two columns, [group, share]."""
    columns = list(frame.columns)
    if len(columns) != 2 or columns[0] == columns[1]:
        raise ValueError(
            f"y as a dataframe must have two columns, the group and its share, in this order; got {columns}."
        )
    return as_list(frame[columns[0]], "y"), as_list(frame[columns[1]], "y")


def _as_ids(values: Iterable, name: str) -> list[Hashable]:
    """Check that values can name groups; NumPy's scalars become the Python values that they stand for."""
    ids = []
    for position, value in enumerate(values):
        group = _plain(value) if isinstance(value, np.generic) else value
        if is_missing(group):
            raise ValueError(f"{name}[{position}] is missing ({value!r}); drop the row or give it a group.")
        if not _is_hashable(group):
            raise ValueError(
                f"{name}[{position}] is {value!r}, which cannot name a group (it is not hashable); "
                "use numbers, strings or tuples."
            )
        ids.append(group)
    return ids


def _plain(value: np.generic) -> Any:
    plain = value.item()
    if isinstance(plain, int) and isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    if isinstance(plain, int) and isinstance(value, np.timedelta64):
        return pd.Timedelta(value)
    return plain


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _series_is_by_row(series: pd.Series, ids: Sequence[Hashable], row_labels: Sequence | None) -> bool:
    """Return whether a Series has one value per row, not one per group, judged by its index."""
    labels = series.index.to_list()
    if len(labels) != len(ids):
        if set(ids).isdisjoint(labels):
            raise ValueError(
                f"y is a Series of {len(labels)} values whose index names no group, and there are {len(ids)} "
                "rows; give one value for each row, or use the group ids as its index."
            )
        return False
    rows = list(range(len(ids)) if row_labels is None else row_labels)
    if set(labels) == set(ids):  # the labels name every group, and perhaps the rows at the same time
        is_ambiguous = labels == rows and labels != list(ids)
    else:
        is_ambiguous = labels != rows and not set(ids).isdisjoint(labels)
    if is_ambiguous:
        raise ValueError(
            "y is a Series whose index could name the rows or the groups, and the two readings differ; "
            "give y.to_dict() for one value per group, or y.to_numpy() for one value per row."
        )
    return set(labels) != set(ids)


def _by_group(names: Sequence, values: Sequence) -> Reports:
    by_group: Reports = {}
    for name, value in zip(_as_ids(names, "the groups of y"), values, strict=True):
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
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    return bool(np.all(one == other))


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
