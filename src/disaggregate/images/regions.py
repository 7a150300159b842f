"""Regions: a picture is cut into patches of like colour, the individuals of a captioned picture."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from disaggregate.images.cuts import normalised_cuts
from disaggregate.images.read_images import read_image, scikit_image

Method: TypeAlias = Literal["slic", "ncut"]

# Weight of nearness against likeness of colour in SLIC, and the smallest region as a share of the average one
# that was requested: a sun in a wide sky must stay a region of its own.
COMPACTNESS = 20.0
SMALLEST = 0.1
# Normalised cuts join what a finer SLIC cut apart. A difference in Lab colour of 10 is one that everybody sees.
FINE_PER_REGION = 4
CLEAR_DIFFERENCE = 10.0


def segment(image: Any, method: Method = "slic", n_regions: int = 12) -> NDArray[np.int64]:
    """Segment a picture into regions.

    Parameters
    ----------
    image : array or path
        A picture: (height, width, 3) of unsigned integers, or of floats from 0 to 1; or greyscale.
    method : {"slic", "ncut"}, default="slic"
        "slic" clusters pixels by colour and place (Achanta et al., 2012), into regions of like size. "ncut" joins
        small ones by normalised cuts (Shi & Malik, 2000), into regions as large as their colour reaches.
    n_regions : int, default=12
        Approximate number of regions.

    Returns
    -------
    ndarray of shape (height, width)
        The region of each pixel, from 0 to n - 1. The same picture gives the same regions.
    """
    if method not in ("slic", "ncut"):
        raise ValueError(f'method must be "slic" or "ncut", but got {method!r}.')
    if not isinstance(n_regions, Integral) or isinstance(n_regions, bool) or n_regions < 1:
        raise ValueError(f"n_regions must be a whole number of 1 or more, but got {n_regions!r}. Try 12.")
    picture = read_image(image)
    if method == "slic":
        return _slic(picture, int(n_regions), SMALLEST)
    fine = _slic(picture, FINE_PER_REGION * int(n_regions), FINE_PER_REGION * SMALLEST)
    return _numbered(normalised_cuts(_affinities(picture, fine), int(n_regions))[fine])


def region_means(values: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Average the last axis of ``values``, shape (height, width, n_values), over each region."""
    pixels = np.bincount(labels.ravel())
    sums = [np.bincount(labels.ravel(), weights=layer.ravel()) for layer in np.moveaxis(values, -1, 0)]
    return np.column_stack(sums) / pixels[:, None]


def _slic(picture: NDArray[np.float64], n_regions: int, smallest: float) -> NDArray[np.int64]:
    return _numbered(
        scikit_image("segmentation").slic(
            picture,
            n_segments=n_regions,
            compactness=COMPACTNESS,
            min_size_factor=smallest,
            start_label=0,
            channel_axis=-1,
        )
    )


def _affinities(picture: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weigh neighbouring regions by how alike their mean colours are, and all others by 0."""
    colour = region_means(scikit_image("color").rgb2lab(picture), labels)
    beside = np.stack([labels[:, 1:], labels[:, :-1]]).reshape(2, -1)
    below = np.stack([labels[1:], labels[:-1]]).reshape(2, -1)
    one, other = np.concatenate([beside, below], axis=1)
    difference = np.linalg.norm(colour[one] - colour[other], axis=1)
    affinity = np.eye(len(colour))
    affinity[one, other] = affinity[other, one] = np.exp(-np.square(difference / CLEAR_DIFFERENCE))
    return affinity


def _numbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber regions from 0 without gaps."""
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape).astype(np.int64)
