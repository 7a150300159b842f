"""The shares of several outcomes, as bars that are divided among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disaggregate.plots.canvas import axes_or_new
from disaggregate.plots.forest import INCHES_PER_ROW, MOST_INCHES
from disaggregate.plots.results import key_columns, require_results, suppressed_rows
from disaggregate.posterior.outcomes import OUTCOME
from disaggregate.tables.suppression import SUPPRESSED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# As in the report; beyond eight outcomes colours come again.
COLOURS_OF_OUTCOMES = ("#1f5fbf", "#e3a23c", "#8b95a7", "#2f8f6b", "#a4508b", "#79b3d9", "#7a5c3e", "#c7c2b0")
_DARK = {"#1f5fbf", "#2f8f6b", "#a4508b", "#7a5c3e"}

# Parts that are narrower have no number inside.
_NARROW = 0.06


def outcome_bars(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw a bar per subgroup, divided among the outcomes, with their shares in per cent.

    Intervals are not drawn; ``subgroup_forest`` of one outcome's rows has them.

    Parameters
    ----------
    table : DataFrame
        Result of ``subgroups`` for an analysis or a model with more than two outcomes: columns of the
        subgroups, ``outcome`` and ``estimate``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of sufficient height.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    require_results(table, (OUTCOME, "estimate"), "subgroups(...) of a fit with more than two outcomes")
    outcomes = list(dict.fromkeys(table[OUTCOME]))
    shares = table["estimate"].to_numpy(dtype=float).reshape(-1, len(outcomes))
    labels = _labels(table.iloc[:: len(outcomes)])
    if ax is None:
        ax = axes_or_new(None)
        figure = ax.get_figure(root=True)
        if figure is not None:
            figure.set_figheight(min(MOST_INCHES, 1.5 + 1.4 * INCHES_PER_ROW * len(labels)))
    rows, left = np.arange(len(labels)), np.zeros(len(labels))
    for number, outcome in enumerate(outcomes):
        colour = COLOURS_OF_OUTCOMES[number % len(COLOURS_OF_OUTCOMES)]
        width = np.nan_to_num(shares[:, number])
        ax.barh(rows, width, left=left, color=colour, edgecolor="white", height=0.75, label=str(outcome))
        for row in np.flatnonzero(width >= _NARROW).tolist():
            ax.text(
                left[row] + width[row] / 2.0,
                row,
                f"{100.0 * width[row]:.0f}",
                horizontalalignment="center",
                verticalalignment="center",
                fontsize="small",
                color="white" if colour in _DARK else "black",
            )
        left += width
    for row in np.flatnonzero(suppressed_rows(table.iloc[:: len(outcomes)])).tolist():
        ax.text(0.01, row, SUPPRESSED, verticalalignment="center", fontsize="small", color="0.4")
    ax.set_yticks(rows, labels)
    ax.set(xlim=(0.0, 1.0), ylim=(len(labels) - 0.4, -0.6), xlabel="share")
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False, fontsize="small")
    return ax


def _labels(rows: pd.DataFrame) -> list[str]:
    keys = [name for name in key_columns(rows) if name != OUTCOME]
    texts = [rows[name].astype(object).where(rows[name].notna(), "missing").astype(str) for name in keys]
    return [", ".join(parts) for parts in zip(*texts, strict=True)] if texts else ["Everybody"] * len(rows)
