"""Row counts and survey weights: checks of the arguments with one number per row."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from disaggregate.groups.evidence import Evidence
from disaggregate.tables.kinds import numbers_of
from disaggregate.tables.roles import Roles

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
    wanted = "whole numbers of 1 or more", "leave empty cells out of the fit"
    return _read("counts", counts, n_rows, _are_counts, *wanted).astype(np.int64)


def read_sample_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Check survey weights, one per row and each above zero; None when there are none.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,) or None
        How many people each row stands for.
    n_rows : int
        Number of rows of X.
    """
    if sample_weight is None:
        return None
    wanted = "finite numbers above zero", "leave rows of weight 0 out of the fit"
    return _read("sample_weight", sample_weight, n_rows, _are_weights, *wanted)


def require_no_weights(weights: NDArray[np.float64] | None) -> None:
    """Refuse unequal weights beside labels, where they could not mean a share."""
    if weights is not None and np.ptp(weights) > 0.0:
        raise ValueError(
            "sample_weight says how much each member counts in its group's share, but plain labels are groups of "
            "one, in which it changes nothing; leave it out."
        )


def weights_in_shares(
    people: pd.DataFrame, roles: Roles, ids: list[Hashable], evidence: dict[Hashable, Evidence]
) -> np.ndarray | None:
    """Find how much each person counts: the survey weight where the group reports a share, else one."""
    if roles.weight is None:
        return None
    takes_weights = [evidence[group].takes_weights for group in ids]
    return np.where(takes_weights, numbers_of(people[roles.weight]), 1.0)


def _are_counts(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (values >= 1.0) & (values <= _LARGEST) & (values == np.floor(values))


def _are_weights(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isfinite(values) & (values > 0.0)


def _read(
    name: str,
    given: Any,
    n_rows: int,
    are_sound: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
    expected: str,
    advice: str,
) -> NDArray[np.float64]:
    """Read one number per row, or raise ValueError for the first row whose number is not what was expected.

    Parameters
    ----------
    name, expected, advice : str
        The argument, what it must hold, and what to do about a row that does not.
    given : array-like
        Its value.
    n_rows : int
        Number of rows of X.
    are_sound : callable
        Whether each number is as expected.
    """
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from error
    if numbers.ndim != 1:
        raise ValueError(f"{name} must hold one number per row; got shape {numbers.shape}.")
    if len(numbers) != n_rows:
        raise ValueError(f"{name} has {len(numbers)} numbers but X has {n_rows} rows; give one per row.")
    sound = are_sound(numbers)
    if not sound.all():
        row = int(np.argmin(sound))
        raise ValueError(f"{name} must hold {expected}, got {numbers[row]} in row {row}; {advice}.")
    return numbers
