"""Some of many, evenly spread."""

from __future__ import annotations

import numpy as np


def even_choice(n: int, most: int) -> np.ndarray:
    """Return the places of at most so many of ``n`` things in a row, the first and the last among them.

    Parameters
    ----------
    n : int
        How many there are.
    most : int
        How many are wanted at most.
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
