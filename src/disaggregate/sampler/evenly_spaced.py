"""Evenly spaced indices."""

from __future__ import annotations

import numpy as np


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """Return at most ``most`` evenly spaced indices of ``n`` items, the first and the last among them.

    Parameters
    ----------
    n : int
        How many there are.
    most : int
        How many are wanted at most.
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
