"""Forest plots: estimates with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disaggregate.plots.canvas import axes_or_new, write_beside
from disaggregate.plots.districts import COLOURS
from disaggregate.plots.results import INTERVAL, arms, key_columns, require_results, suppressed_rows
from disaggregate.tables.rounding import in_digits, worthwhile_digits
from disaggregate.tables.suppression import SUPPRESSED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES_PER_ROW = 0.27
MOST_INCHES = 40.0
_FEWEST_DIGITS = 2


def subgroup_forest(table: pd.DataFrame, *, reference: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw each row's estimate and interval, the first row on top, with the numbers beside them.

    Parameters
    ----------
    table : DataFrame
        Result of ``subgroups(...)``, ``effects(...)`` or ``contrast(...)``: columns that identify the row,
        then ``estimate`` and, among others, ``conf_low`` and ``conf_high``.
    reference : float, optional
        Position of a reference line, such as the overall rate. By default none for rates, and for
        contrasts the value without a difference: 0, or 1 for ratios.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of sufficient height.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    require_results(table, INTERVAL, "subgroups(...) or effects(...)")
    ax = _high_enough(len(table)) if ax is None else ax
    line = _no_difference(table) if reference is None else reference
    if line is not None:
        ax.axvline(line, color="0.6", linewidth=1.0, linestyle="dashed", zorder=0)
    rows = np.arange(len(table))
    ax.errorbar(table["estimate"], rows, xerr=arms(table), fmt="o", markersize=5, color=COLOURS[0], elinewidth=1.6)
    ax.set_yticks(rows, _labels(table))
    ax.set(ylim=(len(table) - 0.4, -0.6), xlabel=_what(table))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", color="0.92")
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    _write_numbers(ax, table)
    return ax


def _high_enough(n_rows: int) -> Axes:
    ax = axes_or_new(None)
    figure = ax.get_figure(root=True)
    if figure is not None:
        figure.set_figheight(min(MOST_INCHES, 1.1 + INCHES_PER_ROW * n_rows))
    return ax


def _labels(table: pd.DataFrame) -> list[str]:
    """Put what a row is into words; what every row has in common need not be said."""
    keys = key_columns(table)
    shown = [name for name in keys if name == keys[-1] or table[name].astype(str).nunique() > 1]
    texts = [table[name].astype(object).where(table[name].notna(), "missing").astype(str) for name in shown]
    between = ": " if keys == ["term", "contrast"] else ", "
    return [between.join(parts) for parts in zip(*texts, strict=True)] if texts else ["all"] * len(table)


def _what(table: pd.DataFrame) -> str:
    if "contrast" not in table:
        return "estimated share"
    if (table["contrast"] == "dY/dX").all():
        return "change in probability by unit"
    return "ratio of shares" if _no_difference(table) == 1.0 else "change in probability"


def _no_difference(table: pd.DataFrame) -> float | None:
    if "contrast" not in table:
        return None
    return 1.0 if table["contrast"].astype(str).str.contains(" / ", regex=False).all() else 0.0


def _write_numbers(ax: Axes, table: pd.DataFrame) -> None:
    rows, suppressed = table[list(INTERVAL)].to_numpy(dtype=np.float64), suppressed_rows(table)
    for index, (row, digits) in enumerate(zip(rows, worthwhile_digits(table, _FEWEST_DIGITS), strict=True)):
        estimate, low, high = (in_digits(value, digits) for value in row)
        label = f"{estimate}  [{low}, {high}]" if np.isfinite(row[0]) else SUPPRESSED if suppressed[index] else ""
        if label:
            write_beside(ax, label, index, distance=8)
