"""The groups as arrays: who is in which, and what is reported of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd


class Bags(NamedTuple):
    """Groups in the order of their names.

    Attributes
    ----------
    place : ndarray of int, shape (n_rows,)
        The group of each row.
    sizes, share, counts : ndarray of shape (n_groups,)
        Members, reported share, and the count of positives that is nearest to it.
    """

    place: np.ndarray
    sizes: np.ndarray
    share: np.ndarray
    counts: np.ndarray

    def averaging(self) -> np.ndarray:
        """Matrix of shape (n_groups, n_rows) that takes means over groups."""
        return np.equal.outer(np.arange(len(self.sizes)), self.place) / self.sizes[:, None]

    def ranked(self, score: np.ndarray) -> np.ndarray:
        """Rows of each group from the highest score to the lowest; short groups are filled up with ``n_rows``."""
        order = np.lexsort((-score, self.place))
        rank = np.arange(len(order)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        rows = np.full((len(self.sizes), self.sizes.max()), len(order))
        rows[self.place[order], rank] = order
        return rows

    def highest(self, score: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Find which rows have the highest scores of their group, as many as are counted."""
        rows = self.ranked(score)
        is_high = np.zeros(len(score), dtype=bool)
        is_high[rows[np.arange(rows.shape[1]) < counts[:, None]]] = True
        return is_high


def read_bags(shares: pd.Series, groups: np.ndarray) -> Bags:
    """Look up the share of each group that has rows."""
    names, place = np.unique(groups, return_inverse=True)
    sizes = np.bincount(place)
    share = shares[names].to_numpy(dtype=float)
    return Bags(place, sizes, share, np.rint(share * sizes).astype(int))
