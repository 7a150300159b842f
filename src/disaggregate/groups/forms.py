"""The forms in which values come: lists, arrays, and columns and dataframes of pandas or polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd


def as_list(column: Any, name: str) -> list:
    """Take any one-dimensional column as a list of values."""
    if is_dataframe(column):
        if len(column.columns) != 1:
            raise ValueError(f"{name} must be one column, got a dataframe with columns {list(column.columns)}.")
        column = column[column.columns[0]]
    if hasattr(column, "to_list"):
        return column.to_list()
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got an array of shape {column.shape}.")
        is_time = column.dtype.kind in "mM"  # whose tolist() turns nanoseconds into whole numbers
        return list(column) if is_time else column.tolist()
    if isinstance(column, (str, Mapping)) or not hasattr(column, "__iter__"):
        raise ValueError(f"{name} must be a list, array or dataframe column, got {type(column).__name__}.")
    return list(column)


def index_labels(rows: Any) -> list | None:
    """Labels of the rows of a pandas dataframe or Series, None for anything else."""
    return rows.index.to_list() if isinstance(rows, (pd.DataFrame, pd.Series)) else None


def is_dataframe(value: Any) -> bool:
    """Return whether ``value`` is a pandas or polars dataframe."""
    return hasattr(value, "columns") and hasattr(value, "shape") and hasattr(value, "dtypes")


def is_missing(value: Any) -> bool:
    """Return whether this is None, NaN, or pandas' NA or NaT."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))
