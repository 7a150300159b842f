"""Calibration plots, for known labels."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from disaggregate.plots.canvas import axes_or_new
from disaggregate.plots.districts import COLOURS
from disaggregate.posterior.summaries import interval_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]

# How high the histogram of the probabilities may reach.
HISTOGRAM_HEIGHT = 0.18


def calibration_plot(
    y: ArrayLike, probability: ArrayLike, *, n_bins: int = 10, level: float = 0.9, ax: Axes | None = None
) -> Axes:
    """Draw the observed share of positives against the predicted probability, in bins of equally many people.

    Parameters
    ----------
    y : array of 0 and 1, shape (n,)
        True labels.
    probability : array of shape (n,)
        Predicted probabilities of a positive.
    n_bins : int, default=10
        Number of bins.
    level : float, default=0.9
        Probability of the intervals of the observed shares, which depend on the number of people in a bin alone.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    labels, predicted = _read(y, probability)
    if not isinstance(n_bins, Integral) or n_bins < 1:
        raise ValueError(f"n_bins must be an integer of at least 1, but got {n_bins!r}. Try n_bins=10.")
    tails = interval_ends(level)
    order = np.argsort(predicted, kind="stable")
    bins = np.array_split(order, min(n_bins, len(order)))
    means = np.array([predicted[rows].mean() for rows in bins])
    shares = np.array([labels[rows].mean() for rows in bins])
    low, high = np.array([_interval(labels[rows], tails) for rows in bins]).T

    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1.0, linestyle="dashed", label="calibrated")
    bars = np.stack([shares - low, high - shares]).clip(min=0.0)
    ax.errorbar(
        means, shares, yerr=bars, fmt="o-", markersize=5, linewidth=1.0, color=COLOURS[0], label="observed share"
    )
    _draw_histogram(ax, predicted)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set(xlabel="predicted probability", ylabel="observed share")
    ax.legend(loc="upper left", framealpha=0.9, fontsize="small")
    return ax


def _interval(labels: NDArray[np.bool_], tails: tuple[float, float]) -> tuple[float, float]:
    """Jeffreys' interval of a share; it reaches 0 or 1 where none or all are positive."""
    k, n = int(labels.sum()), len(labels)
    low, high = betaincinv(k + 0.5, n - k + 0.5, tails)
    return (0.0 if k == 0 else float(low)), (1.0 if k == n else float(high))


def _draw_histogram(ax: Axes, predicted: FloatArray) -> None:
    counts, edges = np.histogram(predicted, bins=25, range=(0.0, 1.0))
    heights = HISTOGRAM_HEIGHT * counts / counts.max()
    ax.bar(
        edges[:-1],
        heights,
        np.diff(edges),
        align="edge",
        color="0.85",
        zorder=0,
        label="how many are predicted so",
    )


def _read(y: ArrayLike, probability: ArrayLike) -> tuple[NDArray[np.bool_], FloatArray]:
    labels, predicted = np.asarray(y), np.asarray(probability, dtype=np.float64)
    if predicted.ndim != 1 or not len(predicted) or not ((predicted >= 0.0) & (predicted <= 1.0)).all():
        raise ValueError(
            f"probability must hold one probability from 0 to 1 per person, but got shape {predicted.shape}. "
            "Use predict_proba(X)[:, 1]."
        )
    if labels.shape != predicted.shape or not np.isin(labels, (0, 1)).all():
        raise ValueError(
            f"y must hold one label, 0 or 1, for each of the {len(predicted)} probabilities, but got shape "
            f"{labels.shape} with values such as {np.unique(labels)[:5].tolist()}."
        )
    return labels.astype(bool), predicted
