"""The predicted probability over the plane of two features."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from disaggregate.plots.canvas import axes_or_new
from disaggregate.plots.plane import as_plane, like_input, point_area

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# ColorBrewer's PuOr is safe for the common kinds of colour blindness, and palest where the model is unsure.
COLOURS = "PuOr"
LEVELS = np.linspace(0.0, 1.0, 11)
MARGIN = 0.08


class HasPredictProba(Protocol):
    """Any classifier whose second column of probabilities is that of a positive."""

    def predict_proba(self, X: Any) -> Any:
        """Return one row of probabilities per individual."""


def probability_surface(
    model: HasPredictProba,
    X: Any,
    y: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    resolution: int = 120,
    colorbar: bool = True,
) -> Axes:
    """Draw the predicted probability over the plane of two features, and the individuals on top of it.

    Parameters
    ----------
    model : fitted classifier
        A model of two features with ``predict_proba``.
    X : array or DataFrame of shape (n, 2)
        Individuals; they span the plane and are drawn as points.
    y : array of 0 and 1, optional
        True labels, to compare with the probabilities. Without them all points have one colour.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    resolution : int, default=120
        Points of the grid along each feature.
    colorbar : bool, default=True
        Whether to add the scale of probabilities beside the Axes.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    plane = as_plane(X)
    positive = None if y is None else _as_labels(y, len(plane.points))
    if not isinstance(resolution, Integral) or resolution < 2:
        raise ValueError(
            f"resolution must be an integer of at least 2, but got {resolution!r}. Try resolution=120."
        )

    ax = axes_or_new(ax)
    across, up = (np.linspace(*_with_margin(column), resolution) for column in plane.points.T)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(across, up)])
    # Rounding may carry an average of probabilities just past 1, where no colour is defined.
    probability = np.asarray(model.predict_proba(like_input(grid, X)))[:, 1].clip(0.0, 1.0)
    probability = probability.reshape(resolution, resolution)

    filled = ax.contourf(across, up, probability, levels=LEVELS, cmap=COLOURS, alpha=0.85)
    if probability.min() < 0.5 < probability.max():
        ax.contour(across, up, probability, levels=[0.5], colors="black", linewidths=1.5, linestyles="dashed")
        ax.plot([], [], color="black", linewidth=1.5, linestyle="dashed", label="probability 0.5")
    _draw_individuals(ax, plane.points, positive)
    if colorbar:
        ax.figure.colorbar(filled, ax=ax, ticks=LEVELS[::2], label="probability of a positive")
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    ax.legend(loc="best", framealpha=0.9, fontsize="small")
    return ax


def _with_margin(column: NDArray[np.float64]) -> tuple[float, float]:
    lowest, highest = float(column.min()), float(column.max())
    margin = MARGIN * (highest - lowest) or 1.0
    return lowest - margin, highest + margin


def _as_labels(y: ArrayLike, n: int) -> NDArray[np.bool_]:
    labels = np.asarray(y)
    if labels.shape != (n,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(
            f"y must hold one label, 0 or 1, for each of the {n} rows of X, but got shape {labels.shape} "
            f"with values such as {np.unique(labels)[:5].tolist()}. Leave y out if the labels are not known."
        )
    return labels.astype(bool)


def _draw_individuals(ax: Axes, points: NDArray[np.float64], positive: NDArray[np.bool_] | None) -> None:
    area = point_area(len(points))

    def draw(of: NDArray[np.float64], marker: str, fill: str, edge: str, label: str) -> None:
        ax.scatter(of[:, 0], of[:, 1], s=area, marker=marker, c=fill, edgecolors=edge, label=label)

    if positive is None:
        draw(points, "o", "black", "white", "individual")
        return
    # Shape and fill differ as well as colour, so that the labels survive grey print.
    draw(points[positive], "o", "#2d004b", "white", "true label 1")
    draw(points[~positive], "s", "white", "#7f3b08", "true label 0")
