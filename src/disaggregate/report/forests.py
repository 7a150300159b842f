"""From a dataframe of estimates to rows of a forest."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from disaggregate.report.axis import Axis, axis_over
from disaggregate.report.elements import Interval
from disaggregate.report.percentages import points, share
from disaggregate.tables.suppression import NOTE, SUPPRESSED, is_suppressed

NOTHING = "\N{EM DASH}"
_ENDS = ["estimate", "conf_low", "conf_high"]


def common_axis(tables: Iterable[pd.DataFrame], *, signed: bool = False) -> Axis:
    """Make one axis for all estimates that are compared.

    Parameters
    ----------
    tables : iterable of DataFrame
        With columns ``estimate, conf_low, conf_high``.
    signed : bool, default=False
        Whether they are differences.
    """
    values = [table[_ENDS].to_numpy(dtype=float).ravel() for table in tables]
    within = (-1.0, 1.0) if signed else (0.0, 1.0)
    return axis_over(np.concatenate(values) if values else [], signed=signed, within=within)


def rates(table: pd.DataFrame, labels: Iterable[str], axis: Axis, beside: Iterable[str] = ()) -> list[Interval]:
    """Make rows of shares; ``beside`` is what else is known of each."""
    return _rows(table, labels, axis, share, list(beside))


def changes(table: pd.DataFrame, labels: Iterable[str], axis: Axis) -> list[Interval]:
    """Make rows of differences, in points."""
    return _rows(table, labels, axis, points, [])


def _rows(
    table: pd.DataFrame,
    labels: Iterable[str],
    axis: Axis,
    written: Callable[[float, float, float], tuple[str, str]],
    beside: list[str],
) -> list[Interval]:
    notes = table.get(NOTE, pd.Series("", index=table.index))
    others = beside or [""] * len(table)
    rows = []
    for label, ends, note, other in zip(labels, table[_ENDS].to_numpy(dtype=float), notes, others, strict=True):
        if not np.isfinite(ends).all():
            nothing = SUPPRESSED if is_suppressed(note) else NOTHING
            rows.append(Interval(label, None, None, None, nothing, "", None, other))
            continue
        estimate, low, high = (axis.position(end) for end in ends)
        value, between = written(*ends)
        rows.append(Interval(label, estimate, low, high, value, between, None, other))
    return rows
