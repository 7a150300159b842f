"""A folder of Parquet files as one table of people that is never in memory as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.tables.dataframes import without_half_floats
from disaggregate.tables.encoding import Encoder
from disaggregate.tables.parquet_files import arrow, errors_in_words, named_columns
from disaggregate.tables.problems import TableError
from disaggregate.tables.schema import Schema, apply_schema


def is_folder(source: Any) -> bool:
    """Return whether this is a folder, not a file or a dataframe."""
    return isinstance(source, (str, os.PathLike)) and Path(source).expanduser().is_dir()


@dataclass(frozen=True)
class PeopleFolder:
    """The files of a folder, in the order of their paths, and how many rows each has.

    Attributes
    ----------
    root : Path
        The folder. Names such as ``district=7`` count below it, not above.
    files : tuple of Path
        The files.
    starts : ndarray of shape (n_files + 1,)
        Number of the first row of each.
    """

    root: Path
    files: tuple[Path, ...]
    starts: np.ndarray

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> PeopleFolder:
        """Look at all ``*.parquet`` files under a folder; a name such as ``district=7`` on the way is a column."""
        folder = Path(path).expanduser().resolve()
        files = tuple(sorted(file for file in folder.rglob("*.parquet") if file.is_file()))
        if not files:
            raise TableError(f"{folder} holds no file that ends in .parquet; give a folder of such, or one file.")
        return cls(folder, files, np.concatenate([[0], np.cumsum([_n_rows(file) for file in files])]))

    def __len__(self) -> int:
        return int(self.starts[-1])

    def column(self, name: str) -> pd.Series:
        """Read one column of all files."""
        parts = [read_rows(self.root, file, None, [name])[name] for file in self.files]
        return pd.concat(parts, ignore_index=True)

    def names(self) -> list[str]:
        """List the columns of the first file, those in the names of folders after them."""
        first = self.files[0]
        return [*named_columns(arrow("parquet").read_schema(first).names), *columns_from_path(self.root, first)]

    def take(self, rows: np.ndarray, columns: Sequence[str]) -> pd.DataFrame:
        """Read some rows, by their numbers over all files, in any order."""
        order = np.argsort(rows, kind="stable")
        position = np.empty_like(order)
        position[order] = np.arange(len(order))
        parts = [read_rows(self.root, file, own, columns) for file, own in self.parts(np.asarray(rows)[order])]
        return pd.concat(parts, ignore_index=True).iloc[position].reset_index(drop=True)

    def parts(self, rows: np.ndarray) -> Iterator[tuple[Path, np.ndarray]]:
        """Say in which files rows lie that are in order, and where in them."""
        cuts = np.searchsorted(rows, self.starts)
        for file, start, first, last in zip(self.files, self.starts, cuts[:-1], cuts[1:], strict=False):
            if last > first:
                yield file, rows[first:last] - start


def _n_rows(file: Path) -> int:
    with errors_in_words(file):
        return int(arrow("parquet").read_metadata(file).num_rows)


def read_rows(root: Path, file: Path, rows: np.ndarray | None, columns: Sequence[str]) -> pd.DataFrame:
    """Read some rows and columns of a file, and of it only the row groups that hold them.

    Parameters
    ----------
    root : Path
        The folder of all files.
    file : Path
        The file.
    rows : ndarray of int or None
        Rows in their order; None for all.
    columns : sequence of str
        Columns.
    """
    from_path = {name: value for name, value in columns_from_path(root, file).items() if name in columns}
    stored = [name for name in columns if name not in from_path]
    with errors_in_words(file), arrow("parquet").ParquetFile(file) as opened:
        missing = [name for name in stored if name not in opened.schema_arrow.names]
        if missing:
            raise TableError(
                f"{file} has no column {missing[0]!r}; every file of a folder needs the same columns."
            )
        if rows is None:
            table = opened.read(columns=stored).to_pandas(date_as_object=False, ignore_metadata=True)
            n_rows = opened.metadata.num_rows
        else:
            table, n_rows = _rows_of(opened, rows, stored), len(rows)
    table = table if stored else pd.DataFrame(index=range(n_rows))
    return without_half_floats(table.assign(**from_path)[list(columns)])


def _rows_of(opened: Any, rows: np.ndarray, columns: list[str]) -> pd.DataFrame:
    sizes = [opened.metadata.row_group(position).num_rows for position in range(opened.metadata.num_row_groups)]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    cuts = np.searchsorted(rows, starts)
    parts = [
        opened.read_row_group(position, columns=columns).take(rows[first:last] - starts[position])
        for position, (first, last) in enumerate(pairwise(cuts))
        if last > first
    ]
    return arrow().concat_tables(parts).to_pandas(date_as_object=False, ignore_metadata=True)


def columns_from_path(root: Path, file: Path) -> dict[str, str]:
    """Columns in the names of folders below the root, such as ``district=7``; those above it are ignored."""
    pairs = (part.split("=", 1) for part in file.relative_to(root).parent.parts if "=" in part)
    return {name: value for name, value in pairs if name}


@dataclass(frozen=True)
class FolderSource:
    """Rows of a partition that are read from their files whenever they are needed.

    See ``sampler.dense.partition.PartitionSource``.

    Attributes
    ----------
    index : int
        Which partition it is.
    folder : PeopleFolder
        The files that hold its rows, and no others.
    rows : ndarray of int
        Which rows of these files, in the partition's order.
    encoder : Encoder
        Encodes people as features.
    schema : dict
        What the columns hold.
    group_reports : Reports
        What the groups report.
    """

    index: int
    folder: PeopleFolder
    rows: np.ndarray
    encoder: Encoder
    schema: Schema
    group_reports: Any

    def features(self) -> np.ndarray:
        """Read the features."""
        return encoded(self.folder, self.rows, self.encoder, self.schema)

    def reports(self) -> Any:
        """Return what the groups report."""
        return self.group_reports


@dataclass(frozen=True)
class LazyFeatures:
    """The features of all rows, read by row number when they are needed."""

    folder: PeopleFolder
    kept: np.ndarray
    encoder: Encoder
    schema: Schema

    def __len__(self) -> int:
        return len(self.kept)

    def __getitem__(self, rows: Any) -> np.ndarray:
        return encoded(self.folder, self.kept[rows], self.encoder, self.schema)


def encoded(folder: PeopleFolder, rows: np.ndarray, encoder: Encoder, schema: Schema) -> np.ndarray:
    """Features of some rows."""
    return encoder.transform(apply_schema(folder.take(rows, encoder.features), schema))


def narrowed(folder: PeopleFolder, rows: np.ndarray) -> tuple[PeopleFolder, np.ndarray]:
    """Leave out the files that hold none of some rows; return the rest, and the numbers of the rows in it."""
    file_of = np.searchsorted(folder.starts, rows, side="right") - 1
    needed = np.unique(file_of)
    sizes = np.diff(folder.starts)[needed]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    moved = rows - folder.starts[file_of] + starts[np.searchsorted(needed, file_of)]
    return PeopleFolder(folder.root, tuple(folder.files[position] for position in needed), starts), moved
