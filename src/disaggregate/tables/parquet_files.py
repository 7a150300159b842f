"""Parquet files, through pyarrow: an extra, imported here and only when such a file is read or written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from disaggregate.tables.dataframes import require_distinct, without_half_floats
from disaggregate.tables.problems import TableError

MISSING = "Parquet files need pyarrow, which is not installed. Run: pip install 'disaggregate[parquet]'"

_UNNAMED_INDEX = "__index_level_"


def arrow(part: str = "") -> Any:
    """Return pyarrow or a part of it, such as "parquet"."""
    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError as error:
        raise ImportError(MISSING) from error


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a whole Parquet file."""
    with _opened(path) as file, errors_in_words(path):
        return _pandas_of(file.read())


def iter_parquet(path: Path, rows: int, counted: Callable[[int], object] | None = None) -> Iterator[pd.DataFrame]:
    """Read a Parquet file at most so many rows at a time, never across two of its row groups at once.

    Parameters
    ----------
    path : Path
        The file.
    rows : int
        Largest number of rows of a chunk.
    counted : callable, optional
        Is given the number of rows of the file before the first chunk.
    """
    first = 0
    with _opened(path) as file:
        if counted is not None:
            counted(file.metadata.num_rows)
        batches = file.iter_batches(batch_size=rows)
        while (batch := _next(path, batches)) is not None:
            chunk = _pandas_of(batch)
            chunk.index = pd.RangeIndex(first, first + len(chunk))
            first += len(chunk)
            yield chunk


@contextmanager
def errors_in_words(path: Path) -> Iterator[None]:
    """Say of which file it is that cannot be read."""
    try:
        yield
    except (OSError, arrow().ArrowException) as error:
        raise TableError(f"{path} cannot be read as Parquet: {error}".rstrip(".") + ".") from error


def named_columns(names: list[str]) -> list[str]:
    """Leave out an index of pandas that has no name; a named one is a column, so that it can play a role."""
    return [name for name in names if not name.startswith(_UNNAMED_INDEX)]


def _opened(path: Path) -> Any:
    with errors_in_words(path):
        file = arrow("parquet").ParquetFile(path)
    require_distinct(file.schema_arrow.names, str(path))
    if not file.metadata.num_rows:
        raise TableError(f"{path} has columns but no rows; give one row per person or group.")
    return file


def _next(path: Path, batches: Iterator[Any]) -> Any:
    with errors_in_words(path):
        return next(batches, None)


def _pandas_of(rows: Any) -> pd.DataFrame:
    table = rows.to_pandas(date_as_object=False, ignore_metadata=True)
    return without_half_floats(table[named_columns(list(table.columns))])
