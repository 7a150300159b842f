"""Tables in from files and dataframes, at once or in chunks of bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from disaggregate.tables.csv_files import iter_csv, read_csv
from disaggregate.tables.dataframes import pandas_of
from disaggregate.tables.errors import TableError
from disaggregate.tables.formats import format_of
from disaggregate.tables.parquet_files import iter_parquet, read_parquet
from disaggregate.tables.schema import Schema, apply_schema, schema_of
from disaggregate.tables.words import nearest
from disaggregate.tables.writing import write_rows

__all__ = ["TableError", "apply_schema", "iter_table", "read_table", "schema_of", "write_rows"]


def read_table(source: Any, schema: Schema | None = None) -> pd.DataFrame:
    """Read a table into a pandas dataframe.

    Parameters
    ----------
    source : path, pandas or polars dataframe
        A file ends in .csv, .csv.gz, .tsv, .tsv.gz (UTF-8, a header, the same number of fields in every line) or
        .parquet. In a CSV, columns of codes such as 007 stay text, text that is ISO dates throughout becomes
        dates, and an empty field, NA, NaN or null is a missing value.
    schema : mapping of str to str, optional
        What some of the columns hold, as :func:`schema_of` tells it of an earlier table.
    """
    if not isinstance(source, (str, os.PathLike)):
        table = apply_schema(pandas_of(source), schema) if schema else pandas_of(source)
        if not len(table) or not len(table.columns):
            raise TableError(f"the dataframe is empty: shape {table.shape}; give one row a person or group.")
        return table
    path = _existing(source)
    if format_of(path) == "csv":
        return read_csv(path, schema or {})
    return apply_schema(read_parquet(path), schema or {})


def iter_table(
    path: str | os.PathLike[str],
    rows: int,
    schema: Schema | None = None,
    counted: Callable[[int], object] | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a file a chunk of rows at a time; memory does not grow with the file.

    Parameters
    ----------
    path : path
        A CSV or Parquet file.
    rows : int
        Largest number of rows of a chunk.
    schema : mapping of str to str, optional
        What columns hold, as :func:`schema_of` tells it of an earlier table: an id "007" that was text stays
        text in every chunk. Other columns come as they are written: in a CSV as text.
    counted : callable, optional
        Is told the number of rows of the file before the first chunk, for a progress bar.

    Returns
    -------
    iterator of DataFrame
        The index goes on from chunk to chunk.
    """
    if rows < 1:
        raise TableError(f"rows must be 1 or more, got {rows}.")
    file = _existing(path)
    if format_of(file) == "csv":
        return iter_csv(file, rows, schema or {}, counted)
    return (apply_schema(chunk, schema or {}) for chunk in iter_parquet(file, rows, counted))


def _existing(source: str | os.PathLike[str]) -> Path:
    try:
        path = Path(source).expanduser()
    except RuntimeError as error:
        raise TableError(f"{source} names the home of an unknown user; give the whole path.") from error
    format_of(path)
    if path.is_file():
        return path
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the path of one file.")
    folder = path.parent
    meant = nearest(path.name, [file.name for file in folder.iterdir()]) if folder.is_dir() else None
    hint = f"did you mean {folder / meant}?" if meant else "check the path."
    raise TableError(f"there is no file {path}; {hint}")
