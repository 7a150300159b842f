"""Numbers with as many digits as their intervals are worth, so that a small one does not seem to be zero."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_MOST_DIGITS = 9
_DIGITS_MORE = 2
_LOW = "conf_low"


def worthwhile_digits(table: pd.DataFrame, fewest: int) -> NDArray[np.int64]:
    """Digits after the point, for each row, that show one or two digits of half its interval.

    Rows have as many digits as the usual half width is worth, where that shows one or two of their own, else two.

    Parameters
    ----------
    table : DataFrame
        With columns ``conf_low`` and ``conf_high``.
    fewest : int
        Digits of wide intervals, and where the width is not known.
    """
    width = (table["conf_high"] - table["conf_low"]).to_numpy(dtype=float) / 2.0
    known = np.isfinite(width) & (width > 0.0)
    digits = np.full(len(table), fewest)
    if known.any():
        own, usual = (1 - np.floor(np.log10(half)) for half in (width[known], np.median(width[known])))
        will_do = (own - 1 <= usual) & (usual <= own)
        digits[known] = np.clip(np.where(will_do, usual, own), fewest, _MOST_DIGITS)
    return digits


def in_digits(value: float, digits: int) -> str:
    """Write a number with so many digits after the point, and up to two more where it would seem to be zero.

    Parameters
    ----------
    value : float
        Number.
    digits : int
        Digits after the point.
    """
    if value and round(value, digits) == 0.0:
        index = int(-np.floor(np.log10(abs(value))))
        if index <= digits + _DIGITS_MORE:
            return f"{value:.{index}f}"
        value = 0.0  # beside its interval it is nothing
    return f"{value + 0.0:,.{digits}f}"  # adding zero takes the sign from a zero


def rounded(table: pd.DataFrame, fewest: int) -> pd.DataFrame:
    """Round predictions to the digits that their own intervals are worth, and two more so that sums stay true.

    Parameters
    ----------
    table : DataFrame
        Columns ``probability``, ``conf_low`` and ``conf_high``, or three per outcome with its name after them.
    fewest : int
        As for :func:`worthwhile_digits`.
    """
    result = table.copy()
    for name in [str(name) for name in table if str(name).startswith(_LOW)]:
        outcome = name.removeprefix(_LOW)
        columns = [f"{start}{outcome}" for start in ("probability", _LOW, "conf_high")]
        result[columns] = _rounded(table[columns].to_numpy(dtype=float), fewest)
    return result


def _rounded(values: NDArray[np.float64], fewest: int) -> NDArray[np.float64]:
    width = (values[:, 2] - values[:, 1]) / 2.0
    known = np.isfinite(width) & (width > 0.0)
    own = np.full(len(values), fewest, dtype=np.int64)
    own[known] = np.clip(1 - np.floor(np.log10(width[known])), fewest, _MOST_DIGITS).astype(np.int64)
    scale = 10.0 ** (own + _DIGITS_MORE)[:, np.newaxis]
    return np.rint(values * scale) / scale
