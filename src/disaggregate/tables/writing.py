"""Tables out to files, chunk by chunk: the file appears when it is complete, or not at all."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from disaggregate.storage.atomic_files import atomic_write
from disaggregate.tables.formats import format_of, is_zipped, separator
from disaggregate.tables.formulas import without_formulas
from disaggregate.tables.parquet_files import arrow
from disaggregate.tables.problems import TableError

_Write = Callable[[pd.DataFrame], None]


def write_rows(path: str | os.PathLike[str], chunks: Iterable[pd.DataFrame], *, raw: bool = True) -> int:
    """Write a table that comes in chunks, as CSV or Parquet, and return its number of rows.

    The rows go to a hidden file beside ``path``, which takes its name at the end. When anything goes wrong on
    the way, an interrupt among it, no file is left and an earlier one of that name stays as it was.

    Parameters
    ----------
    path : str or path
        Ends in .csv, .csv.gz, .tsv, .tsv.gz or .parquet.
    chunks : iterable of DataFrame
        At least one; all with the same columns. Their index is not written.
    raw : bool, default=True
        Whether texts are written as they are; else those that a spreadsheet would take for a formula get an
        apostrophe in front. Parquet files hold no formulas.
    """
    target = Path(path).expanduser()
    opened = _parquet if format_of(target, to_write=True) == "parquet" else _csv
    if not target.parent.is_dir():
        raise TableError(f"there is no folder {target.parent} to write {target.name} to; make it first.")
    with _table_or_nothing(target) as partial, opened(partial, target) as write:
        is_tame = raw or format_of(target, to_write=True) == "parquet"
        return _write_all(chunks if is_tame else map(without_formulas, chunks), write)


def _write_all(chunks: Iterable[pd.DataFrame], write: _Write) -> int:
    columns: list | None = None
    n_rows = 0
    for chunk in chunks:
        columns = list(chunk.columns) if columns is None else columns
        if list(chunk.columns) != columns:
            raise TableError(f"chunks must have the same columns, got {columns} and then {list(chunk.columns)}.")
        write(chunk)
        n_rows += len(chunk)
    if columns is None:
        raise TableError("there is nothing to write: no chunk was given, not even one with columns and no rows.")
    return n_rows


@contextmanager
def _table_or_nothing(target: Path) -> Iterator[Path]:
    try:
        with atomic_write(target) as partial:
            yield partial
    except OSError as error:
        raise TableError(f"{target} cannot be written: {error}.") from error


@contextmanager
def _csv(partial: Path, target: Path) -> Iterator[_Write]:
    is_first = True
    with _text_file(partial, zipped=is_zipped(target)) as file:

        def write(chunk: pd.DataFrame) -> None:
            nonlocal is_first
            chunk.to_csv(file, sep=separator(target), header=is_first, index=False, lineterminator="\n")
            is_first = False

        yield write


@contextmanager
def _text_file(path: Path, *, zipped: bool) -> Iterator[IO[str]]:
    with path.open("wb") as raw, _bytes_file(raw, zipped) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # it flushes its buffer, and leaves closing to its owner


def _bytes_file(raw: Any, zipped: bool) -> AbstractContextManager[Any]:
    # Without the time of day inside, equal tables are equal files.
    return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if zipped else raw


@contextmanager
def _parquet(partial: Path, target: Path) -> Iterator[_Write]:
    library, parquet = arrow(), arrow("parquet")
    writer = None

    def write(chunk: pd.DataFrame) -> None:
        nonlocal writer
        try:
            if writer is None:
                writer = parquet.ParquetWriter(partial, _schema(library, chunk))
            writer.write_table(library.Table.from_pandas(chunk, schema=writer.schema, preserve_index=False))
        except library.ArrowException as error:
            raise TableError(
                f"{target} cannot hold these rows: {error}; the first chunk settles the type of each column. "
                "Make the types agree, or write a CSV."
            ) from error

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def _schema(library: Any, chunk: pd.DataFrame) -> Any:
    """Settle the types by the first chunk; a column without values may become text later."""
    fields = library.Schema.from_pandas(chunk, preserve_index=False)
    return library.schema(
        [field.with_type(library.string()) if field.type == library.null() else field for field in fields]
    )
