"""The data of a fit: individuals, groups and reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import pandas as pd

from disaggregate.groups.evidence import Evidence
from disaggregate.groups.reports import row_groups
from disaggregate.plots.canvas import axes_or_new
from disaggregate.plots.plane import as_plane, point_area

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, safe for the common kinds of colour blindness. Eight colours and seven marks have
# no common factor, so 56 groups go by before a pair comes again.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A900")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
MOST_IN_LEGEND = 12
MOST_INSIDE = 5


def group_scatter(
    X: Any,
    groups: Any,
    shares: Mapping[Any, Any] | pd.Series | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw individuals coloured and marked by their group, with the reports in the legend.

    Parameters
    ----------
    X : array or DataFrame of shape (n, 2)
        Individuals.
    groups : array of shape (n,)
        The group of each.
    shares : mapping or Series, optional
        From group to its reported share or evidence. Groups that are not in it have no report.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    plane = as_plane(X)
    group_of_row = row_groups(groups, len(plane.points))
    ids = _sorted_if_possible(group_of_row)
    reports = None if shares is None else _reports(shares, ids)
    rows_of: dict[Any, list[int]] = {group: [] for group in ids}
    for row, group in enumerate(group_of_row):
        rows_of[group].append(row)

    ax = axes_or_new(ax)
    for code, (group, rows) in enumerate(rows_of.items()):
        members = plane.points[rows]
        label = _legend_line(group, len(members), reports)
        ax.scatter(
            members[:, 0],
            members[:, 1],
            s=point_area(len(plane.points)),
            marker=MARKS[code % len(MARKS)],
            c=COLOURS[code % len(COLOURS)],
            edgecolors="white",
            linewidths=0.6,
            label=label if code < MOST_IN_LEGEND else None,
        )
    if len(ids) > MOST_IN_LEGEND:
        ax.plot([], [], linestyle="none", label=f"and {len(ids) - MOST_IN_LEGEND} more groups")
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    _draw_legend(ax, len(ids))
    return ax


def _draw_legend(ax: Axes, n_groups: int) -> None:
    """Put a short legend among the points and a long one beside them, where it hides no point."""
    if n_groups <= MOST_INSIDE:
        ax.legend(loc="best", framealpha=0.9, fontsize="small")
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")


def _sorted_if_possible(ids: Iterable[Any]) -> list[Any]:
    distinct = list(dict.fromkeys(ids))
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def _reports(shares: Mapping[Any, Any] | pd.Series, ids: list[Any]) -> dict[Any, Any]:
    reports = dict(shares.items())
    if not any(group in reports for group in ids):
        raise ValueError(
            f"shares must name the groups that individuals are in, such as {ids[:3]}, but got "
            f"{list(reports)[:3]}. Use the same ids, of the same type, in groups and in shares."
        )
    return reports


def _legend_line(group: Any, n: int, reports: dict[Any, Any] | None) -> str:
    people = f"{group}: {n} {'person' if n == 1 else 'people'}"
    return people if reports is None else f"{people}, {_report_in_words(reports.get(group), n)}"


def _report_in_words(report: Any, n: int) -> str:
    share = report.reported_share(n) if isinstance(report, Evidence) else report
    if isinstance(share, Real) and not math.isnan(share):
        return f"{100 * float(share):.3g} % reported"
    return str(report) if isinstance(report, Evidence) else "no report"
