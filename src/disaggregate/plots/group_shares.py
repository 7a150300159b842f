"""What groups reported against what the posterior implies for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disaggregate.plots.canvas import axes_or_new
from disaggregate.plots.districts import COLOURS
from disaggregate.plots.plane import point_area
from disaggregate.plots.results import arms, require_results, suppressed_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LABELS = 8


def group_shares(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the implied share of each group against its reported share, with credible intervals.

    Groups whose interval does not contain the reported share are highlighted and, the farthest off first, have
    their names beside them: there the features cannot explain the report, or its confidence is low.

    Parameters
    ----------
    table : DataFrame
        As ``model.group_table()`` returns it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    require_results(table, ("group", "reported", "implied", "conf_low", "conf_high"), "model.group_table()")
    known = table[table["reported"].notna()]
    if known.empty:
        raise ValueError(
            "No group in the table reports a share, so there is nothing to compare with; got all NaN."
        )
    misses = ~known["reported"].between(known["conf_low"] - 1e-9, known["conf_high"] + 1e-9)

    ax = axes_or_new(ax)
    _draw_diagonal(ax, known)
    _draw_groups(ax, known[~misses], COLOURS[0], "o", "interval contains the report", len(known))
    _draw_groups(ax, known[misses], COLOURS[1], "D", "interval misses it", len(known))
    _name_groups(ax, known[misses])
    silent = len(table) - len(known)
    if silent:
        why = (
            "suppressed or without a reported share" if any(suppressed_rows(table)) else "without a reported share"
        )
        ax.errorbar([], [], fmt="none", label=f"{why}, not drawn ({silent})")
    ax.set(xlabel="reported share", ylabel="implied share")
    ax.legend(loc="best", framealpha=0.9, fontsize="small")
    return ax


def _draw_diagonal(ax: Axes, known: pd.DataFrame) -> None:
    values = known[["reported", "implied", "conf_low", "conf_high"]].to_numpy()
    margin = max(0.02, 0.06 * float(np.ptp(values)))
    ends = float(values.min()) - margin, float(values.max()) + margin
    ax.plot(ends, ends, color="0.6", linewidth=1.0, linestyle="dashed", zorder=0, label="as reported")
    ax.set(xlim=ends, ylim=ends, aspect="equal")


def _draw_groups(ax: Axes, groups: pd.DataFrame, colour: str, mark: str, label: str, n: int) -> None:
    if groups.empty:
        return
    ax.errorbar(
        groups["reported"],
        groups["implied"],
        yerr=arms(groups, "implied"),
        fmt=mark,
        markersize=np.sqrt(point_area(n)),
        color=colour,
        ecolor=colour,
        elinewidth=1.0,
        markeredgecolor="white",
        markeredgewidth=0.6,
        label=f"{label} ({len(groups)})",
    )


def _name_groups(ax: Axes, groups: pd.DataFrame) -> None:
    points = zip(groups["group"], groups["reported"], groups["implied"], strict=True)
    for name, reported, implied in sorted(points, key=lambda point: -abs(point[2] - point[1]))[:MOST_LABELS]:
        ax.annotate(str(name), (reported, implied), xytext=(6, 4), textcoords="offset points", fontsize="small")
