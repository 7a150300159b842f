"""The formats of files, recognised by the ends of their names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from disaggregate.tables.problems import TableError

Format = Literal["csv", "parquet", "excel"]

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
}
_READ_ONLY: dict[str, Format] = {".txt": "csv", ".tab": "csv", ".xlsx": "excel", ".xlsm": "excel"}
_TABS = (".tsv", ".tab")


def format_of(path: Path, *, to_write: bool = False) -> Format:
    """Find the format of a file by its name; capitals do not matter.

    Parameters
    ----------
    path : Path
        The file, without a sheet.
    to_write : bool, default=False
        Whether it is to be written, which not all formats can be.
    """
    name = path.name.lower()
    endings = _ENDINGS if to_write else {**_ENDINGS, **_READ_ONLY}
    for ending, known in endings.items():
        if name.endswith(ending):
            return known
    if path.is_dir():
        raise TableError(
            f"{path} is a folder, where one table is expected: give one of its files. `disaggregate fit` and "
            "`predict` take folders of Parquet files."
        )
    old = " (an .xls file of old Excel: save it as .xlsx)" if name.endswith(".xls") else ""
    raise TableError(f"{path} must end in one of {', '.join(endings)}{old}; save the table as one of these.")


def is_table(path: Path) -> bool:
    """Return whether a file has the name of a table that can be read."""
    return path.name.lower().endswith(tuple({**_ENDINGS, **_READ_ONLY}))


def split_sheet(path: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """Split ``book.xlsx#Results`` into the file and the sheet, None where none is named.

    Parameters
    ----------
    path : path
        A file that has the whole name goes first.
    """
    whole = Path(path)
    name, mark, sheet = whole.name.rpartition("#")
    is_book = mark and name.lower().endswith((".xlsx", ".xlsm"))
    return (whole.with_name(name), sheet) if is_book and not whole.exists() else (whole, None)


def is_zipped(path: Path) -> bool:
    """Return whether a file is compressed."""
    return path.name.lower().endswith(".gz")


def separator(path: Path) -> str:
    """Return what usually stands between the fields of a text file: a tab in a .tsv file, else a comma."""
    return "\t" if path.name.lower().removesuffix(".gz").endswith(_TABS) else ","
