"""The formats of files, told by how a name ends."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from disaggregate.tables.errors import TableError

Format = Literal["csv", "parquet"]

_ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".parquet": "parquet",
}


def format_of(path: Path) -> Format:
    """Tell the format of a file by its name; capitals do not matter."""
    name = path.name.lower()
    for ending, known in _ENDINGS.items():
        if name.endswith(ending):
            return known
    raise TableError(f"{path} must end in one of {', '.join(_ENDINGS)}; save the table as one of these.")


def is_zipped(path: Path) -> bool:
    """Tell whether a file is compressed."""
    return path.name.lower().endswith(".gz")


def separator(path: Path) -> str:
    """Return what stands between the fields of a CSV file: a tab in a .tsv file, else a comma."""
    return "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ","
