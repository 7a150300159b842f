"""Where a word is: a picture whose regions are tinted by the probability that they show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from disaggregate.images.read_images import read_image
from disaggregate.plots.canvas import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The tint runs evenly from dark to glowing, safe for colour blindness; the picture below it is grey, so that every
# colour that is seen is a probability.
COLOURS = "inferno"
TINT = 0.6
DARKEST = 0.3
LIGHTNESS_OF_COLOURS = np.array([0.2126, 0.7152, 0.0722])


def word_overlay(
    image: Any,
    labels: ArrayLike,
    probability: ArrayLike,
    ax: Axes | None = None,
    title: str | None = None,
    *,
    colorbar: bool = True,
) -> Axes:
    """Draw a picture in grey with its regions tinted by the probability that they show a word.

    Parameters
    ----------
    image : array or path
        The picture.
    labels : array of shape (height, width)
        The region of each pixel, from 0.
    probability : array of shape (n_regions,)
        The probability of each region, as ``WordFinder.find`` returns it with the labels.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    title : str, optional
        Title, such as the word.
    colorbar : bool, default=True
        Whether to add the scale of probabilities beside the Axes.

    Returns
    -------
    matplotlib Axes
        The Axes that were drawn on.
    """
    picture = read_image(image)
    regions, shares = _read_regions(labels, probability, picture.shape[:2])

    ax = axes_or_new(ax)
    ax.imshow(_faded_to_grey(picture), vmin=0.0, vmax=1.0, cmap="gray")
    tint = ax.imshow(shares[regions], cmap=COLOURS, vmin=0.0, vmax=1.0, alpha=TINT, interpolation="nearest")
    _draw_borders(ax, regions)
    if colorbar:
        ax.figure.colorbar(tint, ax=ax, label="probability of the word")
    ax.set(xticks=[], yticks=[])
    if title is not None:
        ax.set_title(title)
    return ax


def _faded_to_grey(picture: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take colours out, and black: a tint must show on the darkest region too."""
    faded: NDArray[np.float64] = DARKEST + (1.0 - DARKEST) * (picture @ LIGHTNESS_OF_COLOURS)
    return faded


def _draw_borders(ax: Axes, regions: NDArray[np.int64]) -> None:
    """Draw a line along each side of a pixel that has another region beyond it."""
    from matplotlib.collections import LineCollection

    # Pixels are squares of side 1 around whole numbers.
    down, across = np.nonzero(regions[:, 1:] != regions[:, :-1])
    upright = _segments(across + 0.5, down - 0.5, across + 0.5, down + 0.5)
    down, across = np.nonzero(regions[1:] != regions[:-1])
    level = _segments(across - 0.5, down + 0.5, across + 0.5, down + 0.5)
    lines = LineCollection(list(np.concatenate([upright, level])), colors="0.85", linewidths=0.6, capstyle="round")
    ax.add_collection(lines, autolim=False)


def _segments(x0: ArrayLike, y0: ArrayLike, x1: ArrayLike, y1: ArrayLike) -> NDArray[np.float64]:
    return np.stack([np.column_stack([x0, y0]), np.column_stack([x1, y1])], axis=1)


def _read_regions(
    labels: ArrayLike, probability: ArrayLike, shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    regions = np.asarray(labels)
    if regions.shape != shape or not np.issubdtype(regions.dtype, np.integer) or regions.min() < 0:
        raise ValueError(
            f"labels must hold the number of a region, from 0, for each pixel of the picture, shape {shape}, but "
            f"got {regions.dtype} of shape {regions.shape}. Use the labels that find(image, word) returned."
        )
    shares = np.asarray(probability, dtype=np.float64)
    n_regions = int(regions.max()) + 1
    if shares.shape != (n_regions,) or not np.isfinite(shares).all():
        raise ValueError(
            f"probability must hold a finite number for each of the {n_regions} regions in labels, but got shape "
            f"{shares.shape}. Use the probability that find(image, word) returned with the labels."
        )
    return regions, shares
