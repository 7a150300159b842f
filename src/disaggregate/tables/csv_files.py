"""CSV files: every line is looked at before any is believed, then pandas reads them, at once or in chunks."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import pandas as pd

from disaggregate.tables.dataframes import require_distinct
from disaggregate.tables.errors import TableError
from disaggregate.tables.formats import is_zipped, separator
from disaggregate.tables.kinds import is_text
from disaggregate.tables.schema import Schema, apply_schema

_CODE = re.compile(r"0\d+")  # 007 is the name of something, not a number
_MAY_HOLD_CODE = re.compile(r'(?:^|[,\t"])0\d')
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
# The older way of reading floats may miss the last digit, and shares are compared digit by digit.
_EXACT = {"float_precision": "round_trip"} if _PANDAS < (3, 1) else {}
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")


# Longer than any row that somebody meant, and what a gzipped table may be at most: real ones shrink by 20 or so.
_LONGEST_LINE = 2**24
_ALWAYS_ALLOWED = 2**26
_MOST_TIMES = 100


class Scan(NamedTuple):
    """What a first reading of a CSV file found: its columns, those that hold codes such as 007, and its rows."""

    columns: list[str]
    codes: list[str]
    n_rows: int


def read_csv(path: Path, schema: Schema) -> pd.DataFrame:
    """Read a whole CSV file.

    Columns that the schema does not name are read as pandas sees them, except that codes such as 007 stay text
    and that text in which every value is an ISO date becomes dates.

    Parameters
    ----------
    path : Path
        The file; UTF-8.
    schema : mapping of str to str
        What some of the columns hold.
    """
    scan = scan_csv(path)
    as_text = dict.fromkeys([*scan.codes, *(name for name in schema if name in scan.columns)], str)
    table = _parsed(path, scan, dtype=as_text, low_memory=False)
    _require_rows(path, scan, len(table))
    read = apply_schema(table, schema)
    for name in set(table.columns) - {*schema, *scan.codes}:
        column = _dates_if_all_are(table[name])
        if column is not table[name]:
            read[name] = column
    return read


def iter_csv(
    path: Path, rows: int, schema: Schema, counted: Callable[[int], object] | None = None
) -> Iterator[pd.DataFrame]:
    """Read a CSV file so many rows at a time.

    Parameters
    ----------
    path : Path
        The file; UTF-8.
    rows : int
        Rows of a chunk.
    schema : mapping of str to str
        What some of the columns hold; the others stay text, as they are written.
    counted : callable, optional
        Is told the number of rows of the file before the first chunk.
    """
    scan = scan_csv(path)  # a broken last line is to be told before hours of work on the others
    if counted is not None:
        counted(scan.n_rows)
    n_rows = 0
    with _parsed(path, scan, dtype=str, chunksize=rows) as chunks:
        for chunk in chunks:
            n_rows += len(chunk)
            yield apply_schema(chunk, schema)
    _require_rows(path, scan, n_rows)


def scan_csv(path: Path) -> Scan:
    """Check that every line is text and has as many fields as the first, and find columns of codes."""
    try:
        with _open(path) as file:
            return _scan(path, cast("IO[bytes]", file))
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{path} cannot be read: {error}.") from error


def _scan(path: Path, file: IO[bytes]) -> Scan:
    lines = _Lines(path, file)
    records = _records(path, lines)
    _, columns = next(records, (1, []))
    _require_header(path, columns)
    codes: set[int] = set()
    n_records = 0
    for line, record in records:
        if len(record) != len(columns):
            _refuse_ragged(path, line, record, columns)
        if lines.may_hold_code:
            codes.update(place for place, field in enumerate(record) if _CODE.fullmatch(field))
            lines.may_hold_code = False
        n_records += 1
    if not n_records:
        raise TableError(f"{path} has a header but no rows; give one row a person or group.")
    return Scan(columns, [columns[place] for place in sorted(codes)], n_records)


def _parsed(path: Path, scan: Scan, **how: Any) -> Any:
    """Let pandas read the file, with the names of columns that we have read."""
    try:
        return pd.read_csv(path, names=scan.columns, header=0, **how, **_style(path))
    except (ValueError, OverflowError) as error:
        raise TableError(f"{path} cannot be read: {error}.") from error


def _require_rows(path: Path, scan: Scan, n_rows: int) -> None:
    if n_rows != scan.n_rows:
        raise TableError(
            f"{path} can be read in two ways, as {scan.n_rows} or as {n_rows} rows; {_quoting(path)} End lines "
            "alike, and leave none empty."
        )


class _Lines:
    """Lines of a file as text, counted, with a note of those that may hold a code."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self.file = file
        self.number = 0
        self.n_bytes = 0
        self.most_bytes = _most_bytes(path)
        self.may_hold_code = False

    def __iter__(self) -> Iterator[str]:
        while line := self.file.readline(_LONGEST_LINE + 1):
            self.number += 1
            self._require_bounded(line)
            text = self._decoded(line)
            if _MAY_HOLD_CODE.search(text):
                self.may_hold_code = True
            yield text

    def _require_bounded(self, line: bytes) -> None:
        if len(line) > _LONGEST_LINE:
            raise TableError(
                f"{self.path}, line {self.number}: longer than {_LONGEST_LINE:,} bytes; expected one row a line."
            )
        self.n_bytes += len(line)
        if self.n_bytes > self.most_bytes:
            raise TableError(
                f"{self.path} unpacks to more than {self.most_bytes:,} bytes, far more than a packed table does; "
                "if you trust it, unpack it and give the unpacked file."
            )

    def _decoded(self, line: bytes) -> str:
        try:
            text = line.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise TableError(
                f"{self.path} is not UTF-8 text: byte 0x{line[error.start]:02x} at line {self.number}, "
                f"byte {error.start + 1} of the line; save the file as UTF-8."
            ) from error
        if "\0" in text:
            raise TableError(f"{self.path}, line {self.number}: holds a zero byte, as no text does; take it out.")
        return text


def _records(path: Path, lines: _Lines) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line that has any, with its number; a quoted field may span several lines."""
    reader = csv.reader(lines, delimiter=separator(path), strict=True)
    while True:
        line = lines.number + 1
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise TableError(f"{path}, line {line}: {error}; {_quoting(path)}") from error
        if record is None:
            return
        if record:
            yield line, record


def _open(path: Path) -> Any:
    return gzip.open(path, "rb") if is_zipped(path) else path.open("rb")


def _most_bytes(path: Path) -> int:
    n_bytes = path.stat().st_size
    return max(_ALWAYS_ALLOWED, _MOST_TIMES * n_bytes) if is_zipped(path) else max(_ALWAYS_ALLOWED, n_bytes)


def _style(path: Path) -> dict[str, Any]:
    return {
        "sep": separator(path),
        "encoding": "utf-8-sig",
        "index_col": False,
        "compression": "gzip" if is_zipped(path) else None,
        **_EXACT,
    }


def _require_header(path: Path, columns: Sequence[str]) -> None:
    if not columns:
        raise TableError(f"{path} is empty; expected a line of column names and one row a person or group.")
    if len(columns) == 1 and ";" in columns[0]:
        raise TableError(
            f"{path} seems to be separated by semicolons; expected {_named(separator(path))}. Save it with them, "
            "and with decimal points instead of commas."
        )
    if "" in columns:
        raise TableError(
            f"{path} has a column without a name, number {columns.index('') + 1}; name it or drop it."
        )
    require_distinct(list(columns), str(path))


def _refuse_ragged(path: Path, line: int, record: Sequence[str], columns: Sequence[str]) -> None:
    raise TableError(
        f"{path}, line {line}: expected {len(columns)} fields as in the first line, got {len(record)}; "
        f"{_quoting(path)}"
    )


def _quoting(path: Path) -> str:
    return f"put quotes around text that holds {_named(separator(path))} or quotes, double those, and close it."


def _named(mark: str) -> str:
    return "tabs" if mark == "\t" else "commas"


def _dates_if_all_are(column: pd.Series) -> pd.Series:
    if not is_text(column) or not _all_match(_ISO_DATE, column.dropna().unique()):
        return column
    dates = pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None)
    return column if (dates.isna() & column.notna()).any() else dates


def _all_match(pattern: re.Pattern[str], texts: Collection[str]) -> bool:
    return all(pattern.fullmatch(text) for text in texts)
