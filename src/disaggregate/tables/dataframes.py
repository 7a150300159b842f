"""Dataframes of either library become pandas dataframes, and results become dataframes of either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.groups.forms import is_dataframe
from disaggregate.tables.problems import TableError

CONTAINERS = ("default", "pandas", "polars")


def pandas_of(frame: Any) -> pd.DataFrame:
    """Take a pandas dataframe as it is, and copy a polars one without the help of pyarrow.

    Parameters
    ----------
    frame : pandas or polars dataframe
        Any columns; no two may have the same name.
    """
    if hasattr(frame, "collect"):
        raise TableError(f"a {type(frame).__name__} holds no rows yet; pass its .collect().")
    if not is_dataframe(frame):
        raise TableError(
            "a table must be the path of a CSV or Parquet file, or a pandas or polars dataframe, "
            f"got {type(frame).__name__}."
        )
    require_distinct([*frame.columns], "the dataframe")
    if isinstance(frame, pd.DataFrame):
        return without_half_floats(frame)
    return pd.DataFrame({name: _pandas_column(frame[name]) for name in frame.columns})


def without_half_floats(table: pd.DataFrame) -> pd.DataFrame:
    """Widen columns of float16, which pandas can neither sort nor group by; others stay as they are."""
    halves = [name for name, kind in table.dtypes.items() if kind == np.float16]
    return table.astype(dict.fromkeys(halves, np.float64)) if halves else table


def require_distinct(names: list, where: str) -> None:
    """Check that no two columns have the same name, also once zero bytes at its end are lost."""
    zero = [name for name in names if isinstance(name, str) and "\0" in name]
    if zero:
        raise TableError(f"{where} has a column whose name holds a zero byte, {zero[0]!r}; rename it.")
    repeated = {name: times for name, times in Counter(names).items() if times > 1}
    if repeated:
        listed = ", ".join(f"{name!r} ({times} times)" for name, times in repeated.items())
        raise TableError(f"{where} has columns of the same name: {listed}; rename or drop all but one.")


def dataframe_of(columns: Mapping[str, Any]) -> pd.DataFrame:
    """Make a dataframe of columns of equal length; group ids of any type stay as they are."""
    table = {}
    for name, values in columns.items():
        is_ids = isinstance(values, (list, tuple))
        table[name] = pd.Series(list(values), dtype=object).infer_objects() if is_ids else values
    return pd.DataFrame(table)


def require_container(name: Any) -> None:
    """Check that a name is one of the kinds of output."""
    if name not in CONTAINERS:
        raise ValueError(f"transform must be one of {', '.join(map(repr, CONTAINERS))}; got {name!r}.")


def in_container(values: np.ndarray, columns: Sequence[Hashable], X: Any, kind: str) -> Any:
    """Return a matrix as it is, or as a dataframe.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        The numbers.
    columns : sequence of hashable
        Names of its columns; polars has them as text.
    X : dataframe or array-like
        What was predicted; a pandas dataframe gives its index.
    kind : {"default", "pandas", "polars"}
        What to return.
    """
    if kind == "pandas":
        index = X.index if isinstance(X, (pd.DataFrame, pd.Series)) else None
        return pd.DataFrame(values, columns=list(columns), index=index)
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(values, schema=[str(name) for name in columns], orient="row")
    return values


def _pandas_column(column: Any) -> Any:
    dtype = column.dtype
    if dtype.is_integer() and column.null_count():
        return pd.array(column.to_list(), dtype="Int64")
    is_plain_time = dtype.is_temporal() and getattr(dtype, "time_zone", None) is None
    if dtype.is_integer() or dtype.is_float() or is_plain_time:
        return column.to_numpy()
    return pd.Series(column.to_list(), dtype=object).infer_objects()
