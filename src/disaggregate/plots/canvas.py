"""Where a plot is drawn: matplotlib is an extra, so it is imported here and only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MISSING_MATPLOTLIB = "Plots need matplotlib, which is not installed. Run: pip install 'disaggregate[plots]'"


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the given Axes, or those of a new pyplot figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(MISSING_MATPLOTLIB) from error
    return pyplot.subplots(figsize=(6.4, 5.0), layout="constrained")[1]


def write_beside(ax: Axes, text: str, y: float, distance: float) -> None:
    """Write a text to the right of the Axes, at a height in units of the data and so many points away."""
    ax.annotate(
        text,
        (1.0, y),
        xycoords=ax.get_yaxis_transform(),
        xytext=(distance, 0),
        textcoords="offset points",
        verticalalignment="center",
        fontsize="small",
        annotation_clip=False,
    )


def new_figure(width: float, height: float) -> Figure:
    """Return a figure to write to a file: it needs no display, and pyplot does not keep it."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(MISSING_MATPLOTLIB) from error
    return Figure(figsize=(width, height), layout="constrained")
