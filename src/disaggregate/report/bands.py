"""Numbers in bands, so that subgroups are large enough: "under 35", "35 to 49" and so on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

MOST_LEVELS = 15
_N_BANDS = 4


def in_bands(column: pd.Series) -> pd.Series | None:
    """Return an ordered category of up to four bands with about as many people each; None where there are none.

    Parameters
    ----------
    column : Series of numbers
        A feature. Numbers of few different values stay as they are.
    """
    values = column.to_numpy(dtype=float, na_value=np.nan)
    known = values[np.isfinite(values)]
    different = np.unique(known)
    if len(different) < 2:
        return None
    if len(different) <= MOST_LEVELS:
        return pd.Series(pd.Categorical(column, ordered=True), index=column.index)
    edges = _edges(known)
    if not len(edges):
        return None
    whole = bool((known == np.floor(known)).all())
    labels = _labels(edges, whole)
    codes = np.where(np.isfinite(values), np.searchsorted(edges, values, side="right"), -1)
    return pd.Series(pd.Categorical.from_codes(codes, labels, ordered=True), index=column.index)


def _edges(values: np.ndarray) -> np.ndarray:
    """Quartiles, rounded to two digits of what lies between them, each inside the range."""
    quartiles = np.quantile(values, np.arange(1, _N_BANDS) / _N_BANDS)
    spread = float(quartiles[-1] - quartiles[0]) or float(np.ptp(values))
    unit = 10.0 ** np.floor(np.log10(spread / 2.0))
    rounded = np.unique(np.round(quartiles / unit) * unit)
    inside: np.ndarray = rounded[(rounded > values.min()) & (rounded <= values.max())]
    return inside


def _labels(edges: np.ndarray, whole: bool) -> list[str]:
    step = 1.0 if whole else 0.0
    inner = [
        f"{_written(low)} to {_written(high - step)}" if high - step > low else _written(low)
        for low, high in pairwise(edges)
    ]
    return [f"under {_written(edges[0])}", *inner, f"{_written(edges[-1])} or more"]


def _written(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.10g}"
