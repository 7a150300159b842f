"""Tables in from files and dataframes, at once or in chunks of bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import infer_dtype

from disaggregate.tables.amounts import AmountForms, read_amounts
from disaggregate.tables.csv_files import iter_csv, read_csv
from disaggregate.tables.dataframes import pandas_of
from disaggregate.tables.excel_files import read_excel
from disaggregate.tables.formats import format_of, split_sheet
from disaggregate.tables.messages import nearest
from disaggregate.tables.parquet_files import iter_parquet, read_parquet
from disaggregate.tables.problems import Problem, TableError
from disaggregate.tables.reading import Read, Reading
from disaggregate.tables.row_numbers import numbered
from disaggregate.tables.schema import Schema, apply_schema, schema_of
from disaggregate.tables.writing import write_rows

__all__ = ["TableError", "apply_schema", "iter_table", "read_table", "read_with_notes", "schema_of", "write_rows"]


def read_table(source: Any, schema: Schema | None = None, reading: Reading | None = None) -> pd.DataFrame:
    """Read a table into a pandas dataframe.

    Parameters
    ----------
    source : path, pandas or polars dataframe
        A file ends in .csv, .csv.gz, .tsv, .tsv.gz, .txt (a header, the same number of fields in every line),
        .parquet or .xlsx; a sheet of a workbook is ``book.xlsx#Results``. The encoding, separator and decimal mark
        of a text file are found out. Columns of codes such as 007 stay text, text that is ISO dates throughout
        becomes dates, amounts such as $45,500 or 56.4 % become numbers, and an empty field, NA, NaN or null is a
        missing value.
    schema : mapping of str to str, optional
        What some of the columns hold, as :func:`schema_of` returns it for an earlier table.
    reading : Reading, optional
        What the owner says of how the table is written.
    """
    return read_with_notes(source, schema, reading).table


def read_with_notes(source: Any, schema: Schema | None = None, reading: Reading | None = None) -> Read:
    """Read a table as :func:`read_table` does, and say what was done to read it."""
    said, kinds = reading or Reading(), schema or {}
    if not isinstance(source, (str, os.PathLike)):
        return _with_amounts(_of_dataframe(source), kinds, said, "the dataframe")
    path, sheet = _existing(source)
    if format_of(path) == "parquet":
        return _with_amounts(read_parquet(path), kinds, said, path.name)
    if format_of(path) == "csv":
        return read_csv(path, kinds, said)
    table, notes = read_excel(path, sheet)
    return _with_amounts(numbered(table), kinds, said, path.name, notes)


def _of_dataframe(source: Any) -> pd.DataFrame:
    table = pandas_of(source)
    if not len(table) or not len(table.columns):
        raise TableError(f"the dataframe is empty: shape {table.shape}; give one row per person or group.")
    return table


def _may_hold_amounts(column: pd.Series) -> bool:
    """Return whether a column has texts, or texts and numbers."""
    if column.dtype.kind in "biufcmM" or isinstance(column.dtype, pd.CategoricalDtype):
        return False
    return infer_dtype(column, skipna=True) in ("string", "mixed-integer", "mixed")


def _with_amounts(
    table: pd.DataFrame, schema: Schema, reading: Reading, where: str, notes: Sequence[Problem] = ()
) -> Read:
    """Read texts such as $45,500 as numbers, in a table whose other columns have their types already."""
    forms = AmountForms(where, reading.decimal, None)
    for name in table.columns:
        column = table[name]
        if schema.get(name, "number") == "number" and _may_hold_amounts(column):
            forms.look(name, column)
    settled, about_amounts = forms.resolve()
    if settled:
        table = table.assign(**{name: read_amounts(table[name], decimal) for name, decimal in settled.items()})
    percent = frozenset(name for name in settled if True in forms.forms[name].percent)
    return Read(apply_schema(table, schema) if schema else table, (*notes, *about_amounts), percent)


def iter_table(
    path: str | os.PathLike[str],
    rows: int,
    schema: Schema | None = None,
    counted: Callable[[int], object] | None = None,
    reading: Reading | None = None,
    on_problems: Callable[[Sequence[Problem]], object] | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a file a chunk of rows at a time; memory does not grow with the file.

    Parameters
    ----------
    path : path
        A CSV, Parquet or Excel file; of the latter memory holds the whole table.
    rows : int
        Largest number of rows of a chunk.
    schema : mapping of str to str, optional
        What columns hold, as :func:`schema_of` returns it for an earlier table: an id "007" that was text stays
        text in every chunk. Other columns come as they are written: in a CSV as text.
    counted : callable, optional
        Called with the number of rows of the file before the first chunk, for a progress bar.
    reading : Reading, optional
        What the owner says of how the file is written.
    on_problems : callable, optional
        Called with what was done to read the file, before the first chunk.

    Returns
    -------
    iterator of DataFrame
        The index continues from chunk to chunk.
    """
    if rows < 1:
        raise TableError(f"rows must be 1 or more, got {rows}.")
    file, _ = _existing(path)
    if format_of(file) == "csv":
        return iter_csv(file, rows, schema or {}, counted, reading or Reading(), on_problems)
    if format_of(file) == "excel":
        return _chunks(read_with_notes(path, schema, reading), rows, counted, on_problems)
    return (apply_schema(chunk, schema or {}) for chunk in iter_parquet(file, rows, counted))


def _chunks(
    read: Read,
    rows: int,
    counted: Callable[[int], object] | None,
    on_problems: Callable[[Sequence[Problem]], object] | None,
) -> Iterator[pd.DataFrame]:
    """Cut a table that is in memory."""
    if counted is not None:
        counted(len(read.table))
    if on_problems is not None:
        on_problems(read.notes)
    return (read.table.iloc[first : first + rows] for first in range(0, len(read.table), rows))


def _existing(source: str | os.PathLike[str]) -> tuple[Path, str | None]:
    try:
        path, sheet = split_sheet(Path(source).expanduser())
    except RuntimeError as error:
        raise TableError(f"{source} names the home of an unknown user; give the whole path.") from error
    format_of(path)
    if path.is_file():
        return path, sheet
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the path of one file.")
    folder = path.parent
    meant = nearest(path.name, [file.name for file in folder.iterdir()]) if folder.is_dir() else None
    hint = f"did you mean {folder / meant}?" if meant else "check the path."
    raise TableError(f"there is no file {path}; {hint}")
