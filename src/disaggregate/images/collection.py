"""From pictures to individuals in groups: the regions of all pictures in one table, with the picture of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from disaggregate.images.captions import read_captions
from disaggregate.images.features import region_features
from disaggregate.images.read_images import list_images, read_image
from disaggregate.images.regions import Method, segment


@dataclass(frozen=True)
class Regions:
    """The regions of a collection of pictures.

    Attributes
    ----------
    features : DataFrame of n_regions rows
        One row per region, picture after picture.
    groups : ndarray of shape (n_regions,)
        The picture of each region, from 0.
    labels : list of ndarray
        The region of each pixel, one array per picture, counted from 0 in each.
    captions : list of frozenset of str, or None
        The distinct words of each picture; None in place of the words of a picture without a caption.
    """

    features: pd.DataFrame
    groups: NDArray[np.int64]
    labels: list[NDArray[np.int64]]
    captions: list[frozenset[str] | None] | None = None

    @property
    def index(self) -> pd.MultiIndex:
        """The picture, and the region in it, of each row."""
        within = np.concatenate([np.arange(labels.max() + 1) for labels in self.labels])
        return pd.MultiIndex.from_arrays([self.groups, within], names=["image", "region"])


def collect_regions(
    images: Any,
    captions: Iterable[Iterable[str] | None] | None = None,
    *,
    method: Method = "slic",
    n_regions: int = 12,
) -> Regions:
    """Segment pictures into regions and compute features of the regions.

    Parameters
    ----------
    images : sequence of arrays or paths
        The pictures; see :func:`segment`.
    captions : sequence of collections of words, optional
        The words of each picture, or None for a picture without a caption.
    method, n_regions
        Segmentation; see :func:`segment`.

    Returns
    -------
    Regions
        Features, groups and labels of all regions.
    """
    pictures = list_images(images)
    words = None if captions is None else _words_of_each(captions, len(pictures))
    labels, tables = [], []
    for number, image in enumerate(pictures):
        try:
            picture = read_image(image)
        except ValueError as error:
            raise ValueError(f"images[{number}]: {error}") from error
        labels.append(segment(picture, method, n_regions))
        tables.append(region_features(picture, labels[-1]))
    groups = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    return Regions(pd.concat(tables, ignore_index=True), groups, labels, words)


def _words_of_each(captions: Iterable[Iterable[str] | None], n_pictures: int) -> list[frozenset[str] | None]:
    words = list(read_captions(captions).values())
    if len(words) != n_pictures:
        raise ValueError(
            f"captions must have one entry per picture, but got {len(words)} captions for {n_pictures} pictures. "
            "Put None where a picture has no caption."
        )
    return words
