"""Predictions as dataframes, for those who choose them with scikit-learn's ``set_output``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

CONTAINERS = ("default", "pandas", "polars")


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
        import pandas as pd

        index = X.index if isinstance(X, (pd.DataFrame, pd.Series)) else None
        return pd.DataFrame(values, columns=list(columns), index=index)
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(values, schema=[str(name) for name in columns], orient="row")
    return values
