"""How many people each row of a fit stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Beyond it sums of counts could overflow.
_LARGEST = 2**40


def read_row_counts(counts: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Check counts, one per row and each a whole number of 1 or more; None when there are none.

    Parameters
    ----------
    counts : array-like of shape (n_rows,) or None
        How many people each row stands for.
    n_rows : int
        Number of rows of X.
    """
    if counts is None:
        return None
    values = as_numbers("counts", counts)
    if values.shape != (n_rows,):
        raise ValueError(f"counts must hold one number for each of the {n_rows} rows of X; got {values.shape}.")
    bad = ~((values >= 1.0) & (values <= _LARGEST) & (values == np.floor(values)))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"counts must be whole numbers of 1 or more, got {values[row]} in row {row}; leave empty cells out of "
            "the fit."
        )
    return values.astype(np.int64)


def as_numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Make an array of numbers, or raise ValueError that names the argument.

    Parameters
    ----------
    name : str
        The argument.
    values : array-like
        Its value.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from error
