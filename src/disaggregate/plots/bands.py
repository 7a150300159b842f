"""Predictions along a grid of a feature, with bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from disaggregate.plots.canvas import axes_or_new
from disaggregate.plots.districts import COLOURS, MARKS
from disaggregate.plots.results import INTERVAL, arms, key_columns, require_results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = ("solid", "dashed", "dotted", "dashdot")
SPREAD = 0.5


def effect_bands(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the average probability along a feature: a line with a band for numbers, points with bars for levels.

    Parameters
    ----------
    table : DataFrame
        As ``predictions`` returns it. The first column is the horizontal axis; each value of a second one has a
        line.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    require_results(table, INTERVAL, "predictions(...)")
    keys = key_columns(table)
    if len(keys) not in (1, 2):
        raise ValueError(
            f"This plot draws predictions along one column, or two, but the table has {len(keys)} before its "
            f"estimates: {keys}. Call predictions with one or two variables, or draw a part of the table."
        )
    parts = [(None, table)] if len(keys) == 1 else list(table.groupby(keys[1], observed=True))
    if len(parts) > len(COLOURS):
        raise ValueError(
            f"This plot has {len(COLOURS)} colours for lines, but {keys[1]!r} has {len(parts)} values. Give "
            f"fewer, such as predictions(..., {{{keys[0]!r}: None, {keys[1]!r}: [a few values]}})."
        )

    ax = axes_or_new(ax)
    draw = _draw_lines if _is_numeric(table[keys[0]]) else _draw_points
    draw(ax, keys[0], parts)
    ax.set(xlabel=keys[0], ylabel="average probability")
    ax.set_ylim(max(-0.02, ax.get_ylim()[0]), min(1.02, ax.get_ylim()[1]))
    ax.spines[["top", "right"]].set_visible(False)
    if len(keys) == 2:
        ax.legend(title=keys[1], loc="best", framealpha=0.9, fontsize="small")
    return ax


def _is_numeric(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)


def _draw_lines(ax: Axes, along: str, parts: list[tuple[Any, pd.DataFrame]]) -> None:
    for index, (name, part) in enumerate(parts):
        ordered = part.sort_values(along)
        colour = COLOURS[index]
        ax.fill_between(
            ordered[along], ordered["conf_low"], ordered["conf_high"], color=colour, alpha=0.2, linewidth=0.0
        )
        style = LINES[index % len(LINES)]
        ax.plot(ordered[along], ordered["estimate"], color=colour, linestyle=style, label=_label(name))


def _draw_points(ax: Axes, along: str, parts: list[tuple[Any, pd.DataFrame]]) -> None:
    levels = list(dict.fromkeys(part_level for _, part in parts for part_level in part[along]))
    offsets = np.linspace(-0.5, 0.5, len(parts) + 2)[1:-1] * SPREAD
    for index, (name, part) in enumerate(parts):
        ax.errorbar(
            [levels.index(level) + offsets[index] for level in part[along]],
            part["estimate"],
            yerr=arms(part),
            fmt=MARKS[index % len(MARKS)],
            markersize=6,
            elinewidth=1.6,
            color=COLOURS[index],
            label=_label(name),
        )
    ax.set_xticks(range(len(levels)), [str(level) for level in levels])
    ax.set_xlim(-0.6, len(levels) - 0.4)


def _label(name: Any) -> str | None:
    if name is None:
        return None
    return f"{name:.4g}" if isinstance(name, float) else str(name)
