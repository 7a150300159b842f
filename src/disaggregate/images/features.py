"""Features of regions: colour, texture, shape and position, one row per region."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from disaggregate.images.read_images import read_image, scikit_image
from disaggregate.images.regions import region_means

ENTROPY_RADIUS = 3


def region_features(image: Any, labels: Any) -> pd.DataFrame:
    """Compute features of each region of a picture; all are finite, even for a region of one pixel.

    Parameters
    ----------
    image : array or path
        A picture: (height, width, 3) of unsigned integers, or of floats from 0 to 1; or greyscale.
    labels : array of shape (height, width)
        The region of each pixel, from 0 to n - 1, as :func:`segment` returns it.

    Returns
    -------
    DataFrame
        One row per region. Colour: mean and standard deviation of lightness, green to red and blue to yellow
        (Lab). Texture: mean and standard deviation of the gradient of lightness, mean local entropy. Shape:
        area (its share of the picture), eccentricity, solidity and extent (its share of its convex hull and
        of its bounding box). Position: centre from 0 to 1, from the left and from the top.
    """
    picture = read_image(image)
    regions = _read_labels(labels, picture.shape[:2])
    colour = scikit_image("color").rgb2lab(picture)
    gradient = scikit_image("filters").sobel(colour[:, :, 0])
    moving = np.dstack([colour, gradient])
    mean, std = _mean_and_std(moving, regions)
    features = {}
    for column, name in enumerate(("lightness", "green_red", "blue_yellow", "gradient")):
        features[f"{name}_mean"] = mean[:, column]
        features[f"{name}_std"] = std[:, column]
    features["entropy"] = region_means(_local_entropy(colour[:, :, 0])[:, :, None], regions)[:, 0]
    return pd.DataFrame(features | _shape_and_position(regions)).rename_axis("region")


def _mean_and_std(
    values: NDArray[np.float64], regions: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    mean = region_means(values, regions)
    return mean, np.sqrt(region_means(np.square(values - mean[regions]), regions))


def _local_entropy(lightness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy, in bits, of the lightness around each pixel."""
    shades = np.round(lightness.clip(0.0, 100.0) * 2.55).astype(np.uint8)
    disk = scikit_image("morphology").disk(ENTROPY_RADIUS)
    entropy: NDArray[np.float64] = scikit_image("filters.rank").entropy(shades, disk)
    return entropy


def _shape_and_position(regions: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    # scikit-image takes 0 for the background.
    wanted = ("area", "eccentricity", "solidity", "extent", "centroid")
    shape = scikit_image("measure").regionprops_table(regions + 1, properties=wanted)
    height, width = regions.shape
    return {
        "area": shape["area"] / regions.size,
        "eccentricity": shape["eccentricity"],
        "solidity": shape["solidity"],
        "extent": shape["extent"],
        "centre_x": (shape["centroid-1"] + 0.5) / width,
        "centre_y": (shape["centroid-0"] + 0.5) / height,
    }


def _read_labels(labels: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    regions = np.asarray(labels)
    if regions.shape != shape or not np.issubdtype(regions.dtype, np.integer):
        raise ValueError(
            f"labels must hold the whole number of a region for each pixel of the picture, shape {shape}, but "
            f"got {regions.dtype} of shape {regions.shape}. segment(image) makes such labels."
        )
    found = np.unique(regions)
    if not np.array_equal(found, np.arange(len(found))):
        raise ValueError(
            f"labels must number the regions 0, 1, 2 and so on without a gap, but got {found[:5].tolist()} and so "
            "on. np.unique(labels, return_inverse=True)[1].reshape(labels.shape) numbers them so."
        )
    return regions.astype(np.int64)
