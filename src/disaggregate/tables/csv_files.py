"""CSV files: every line is checked first, then pandas reads them, at once or in chunks."""

from __future__ import annotations

import csv
import re
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import pandas as pd

from disaggregate.tables.amounts import AmountForms, read_amounts
from disaggregate.tables.dataframes import require_distinct
from disaggregate.tables.formats import is_zipped
from disaggregate.tables.kinds import is_text
from disaggregate.tables.messages import some
from disaggregate.tables.problems import Problem, TableError
from disaggregate.tables.reading import SEPARATORS, Read, Reading
from disaggregate.tables.row_numbers import numbered
from disaggregate.tables.schema import Schema, apply_schema
from disaggregate.tables.text_style import (
    UTF8,
    WESTERN,
    TextStyle,
    Transcoded,
    open_bytes,
    require_western,
    style_notes,
    style_of,
)

_CODE = re.compile(r"0\d+")  # 007 is the name of something, not a number
_MAY_HOLD_CODE = re.compile(r'(?:^|[,;|\t"])\s*0\d')
# Signs of a number that pandas would leave as text: per cent, currencies, commas in quotes, thousands set apart,
# brackets around what is below zero; and beyond ASCII the minus of print, and digits of other scripts.
_MAY_HOLD_AMOUNT = re.compile(
    '[%$€£¥₹]|"[^"]*\\d,\\d|\t[^\t]*\\d,\\d|\\d[\'\u2019 \u00a0\u2009\u202f]\\d{3}|USD|EUR|GBP|CHF'
    r"|\(\s*[\d.,]"
)
_MAY_HOLD_PRINTED = re.compile("\u2212|(?![0-9])\\d")
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
# The older way of reading floats may miss the last digit, and shares are compared digit by digit.
_EXACT = {"float_precision": "round_trip"} if _PANDAS < (3, 1) else {}
_BEYOND_ASCII = re.compile(r"[A-Za-z'\u2019 .-]{0,20}[^\x00-\x7f\W][\w'\u2019.-]{0,20}")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")


# Longer than any intended row, and what a gzipped table may be at most: real ones shrink by 20 or so.
LONGEST_LINE = 2**24
ALWAYS_ALLOWED = 2**26
_MOST_TIMES = 100
_NOTHING_SAID = Reading()


class Scan(NamedTuple):
    """What a first reading of a CSV file found.

    Attributes
    ----------
    columns : list of str
        Names of the columns, without blanks around them.
    codes : list of str
        Columns that hold codes such as 007.
    n_rows : int
        Number of rows.
    style : TextStyle
        How the file is written.
    may_hold_amounts : bool
        Whether numbers may be written as $45,500 or 56.4 %.
    notes : list of Problem
        What was done to read it.
    """

    columns: list[str]
    codes: list[str]
    n_rows: int
    style: TextStyle
    may_hold_amounts: bool
    notes: list[Problem]


def read_csv(path: Path, schema: Schema, reading: Reading = _NOTHING_SAID) -> Read:
    """Read a whole CSV file.

    Columns that the schema does not name are read as pandas sees them, except that codes such as 007 stay text,
    that text in which every value is an ISO date becomes dates, and that amounts such as $45,500 become numbers.

    Parameters
    ----------
    path : Path
        The file.
    schema : mapping of str to str
        What some of the columns hold.
    reading : Reading, optional
        What the owner says of how it is written.
    """
    scan = scan_csv(path, reading)
    as_text = dict.fromkeys([*scan.codes, *(name for name in schema if name in scan.columns)], str)
    table = _parsed(path, scan, dtype=as_text, low_memory=False)
    _require_rows(path, scan, len(table))
    forms = AmountForms(path.name, reading.decimal, _usual_decimal(scan))
    if scan.may_hold_amounts:
        raw = _parsed(path, scan, dtype=str)
        _look_at(forms, raw, table, _may_be_amounts(scan, schema))
    settled, notes = forms.resolve()
    for name, decimal in settled.items():
        table[name] = read_amounts(raw[name], decimal)
    read = apply_schema(numbered(table), schema)  # numbered first, as what does not fit is reported by its row
    for name in set(table.columns) - {*schema, *scan.codes, *settled}:
        column = _dates_if_all_are(table[name])
        if column is not table[name]:
            read[name] = column
    percent = frozenset(name for name in settled if True in forms.forms[name].percent)
    return Read(read, (*scan.notes, *notes), percent)


def iter_csv(
    path: Path,
    rows: int,
    schema: Schema,
    counted: Callable[[int], object] | None = None,
    reading: Reading = _NOTHING_SAID,
    on_problems: Callable[[Sequence[Problem]], object] | None = None,
) -> Iterator[pd.DataFrame]:
    """Read a CSV file so many rows at a time.

    Parameters
    ----------
    path : Path
        The file.
    rows : int
        Rows of a chunk.
    schema : mapping of str to str
        What some of the columns hold; the others stay text, as they are written.
    counted : callable, optional
        Called with the number of rows of the file before the first chunk.
    reading : Reading, optional
        What the owner says of how it is written.
    on_problems : callable, optional
        Called with what was done to read the file, before the first chunk.
    """
    scan = scan_csv(path, reading)  # a broken last line is to be reported before hours of work on the others
    if counted is not None:
        counted(scan.n_rows)
    settled, notes = _settled(path, scan, rows, schema, reading) if scan.may_hold_amounts else ({}, [])
    if on_problems is not None:
        on_problems([*scan.notes, *notes])
    n_rows = 0
    with _parsed(path, scan, dtype=str, chunksize=rows) as chunks:
        for chunk in chunks:
            for name, decimal in settled.items():
                chunk[name] = read_amounts(chunk[name], decimal)
            yield apply_schema(numbered(chunk, n_rows), schema)
            n_rows += len(chunk)
    _require_rows(path, scan, n_rows)


def _settled(
    path: Path, scan: Scan, rows: int, schema: Schema, reading: Reading
) -> tuple[dict[str, str], list[Problem]]:
    """Find how numbers are written from all pieces of the file, before any is used."""
    forms = AmountForms(path.name, reading.decimal, _usual_decimal(scan))
    names = [name for name in scan.columns if schema.get(name) == "number"]
    with _parsed(path, scan, dtype=str, chunksize=rows) as chunks:
        for chunk in chunks:
            for name in names:
                forms.look(name, chunk[name])
    return forms.resolve()


def _usual_decimal(scan: Scan) -> str | None:
    """Return the decimal mark of numbers such as 1.234, unless semicolons between them let commas be in them."""
    return "." if scan.style.separator in ",\t" else None


def _may_be_amounts(scan: Scan, schema: Schema) -> list[str]:
    return [name for name in scan.columns if name not in scan.codes and schema.get(name, "number") == "number"]


def _look_at(forms: AmountForms, raw: pd.DataFrame, table: pd.DataFrame, names: list[str]) -> None:
    """Examine texts, and also numbers where points may separate thousands."""
    for name in names:
        if is_text(table[name]) or forms.usual is None:
            forms.look(name, raw[name])
        elif table[name].dtype.kind == "f" and (table[name].dropna() % 1.0 != 0.0).any():
            forms.has_point()


def scan_csv(path: Path, reading: Reading = _NOTHING_SAID) -> Scan:
    """Check that every line is text and has as many fields as the first, and find columns of codes."""
    style = style_of(path, reading)
    try:
        return _scanned(path, style, reading)
    except _NotUtf8:
        return _scanned(path, replace(style, encoding=WESTERN), reading)


def _scanned(path: Path, style: TextStyle, reading: Reading) -> Scan:
    try:
        with open_bytes(path) as file:
            return _scan(path, cast("IO[bytes]", file), style, reading)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{path} cannot be read: {error}.") from error


def _scan(path: Path, file: IO[bytes], style: TextStyle, reading: Reading) -> Scan:
    lines = _Lines(path, file, style, is_said=reading.encoding is not None)
    try:
        return _scan_lines(path, lines, style, reading)
    finally:
        if isinstance(lines.file, Transcoded):
            lines.file.close()


def _scan_lines(path: Path, lines: _Lines, style: TextStyle, reading: Reading) -> Scan:
    records = _records(path, lines, style)
    for _ in range(style.skipped):
        next(records, None)
    _, written = next(records, (1, []))
    columns = [unicodedata.normalize("NFC", name.strip()) for name in written]
    _require_header(path, columns)
    codes: set[int] = set()
    n_records = 0
    for line, record in records:
        if len(record) != len(columns):
            _refuse_ragged(path, line, record, columns, style)
        if lines.may_hold_code:
            codes.update(index for index, field in enumerate(record) if _CODE.fullmatch(field.strip()))
            lines.may_hold_code = False
        n_records += 1
    if not n_records:
        raise TableError(f"{path} has a header but no rows; give one row per person or group.")
    notes = [*style_notes(path, style, reading, lines.example), *_blank_notes(path, written)]
    names = [columns[index] for index in sorted(codes)]
    is_odd = lines.may_hold_amount or style.separator not in ",\t"
    return Scan(columns, names, n_records, style, is_odd, notes)


def _blank_notes(path: Path, written: Sequence[str]) -> list[Problem]:
    blank = [name for name in written if name != name.strip()]
    if not blank:
        return []
    return [Problem("note", path.name, f"blanks around names of columns are left out: {some(blank)}.", "names")]


def _parsed(path: Path, scan: Scan, **how: Any) -> Any:
    """Let pandas read the file, with the names of columns that we have read."""
    try:
        return pd.read_csv(path, names=scan.columns, header=0, **how, **_how(path, scan.style))
    except (ValueError, OverflowError) as error:
        raise TableError(f"{path} cannot be read: {error}.") from error


def _require_rows(path: Path, scan: Scan, n_rows: int) -> None:
    if n_rows != scan.n_rows:
        raise TableError(
            f"{path} can be read in two ways, as {scan.n_rows} or as {n_rows} rows; {_quoting(scan.style)} End "
            "lines alike, and leave none empty."
        )


class _NotUtf8(Exception):
    """The file is not UTF-8, and no encoding was named."""


class _Lines:
    """Lines of a file as text, counted, with a note of those that may hold a code."""

    def __init__(self, path: Path, file: IO[bytes], style: TextStyle, *, is_said: bool) -> None:
        self.path = path
        self.is_said = is_said
        self.encoding = style.encoding
        is_bytewise = style.encoding in (UTF8, WESTERN)
        self.file: Any = file if is_bytewise else Transcoded(file, style.encoding)
        self.bytes_as = style.encoding if is_bytewise else "utf-8"
        self.number = 0
        self.n_bytes = 0
        self.most_bytes = _most_bytes(path)
        self.may_hold_code = False
        self.may_hold_amount = False
        self.example: str | None = None

    def __iter__(self) -> Iterator[str]:
        while line := self._line():
            self.number += 1
            self._require_bounded(line)
            text = self._decoded(line)
            if _MAY_HOLD_CODE.search(text):
                self.may_hold_code = True
            if not self.may_hold_amount and _MAY_HOLD_AMOUNT.search(text):
                self.may_hold_amount = True
            if not text.isascii():
                self.may_hold_amount |= bool(_MAY_HOLD_PRINTED.search(text))
                self._check_encoding(text)
            yield text

    def _line(self) -> bytes:
        try:
            return self.file.readline(LONGEST_LINE + 1)
        except UnicodeError as error:
            raise TableError(
                f"{self.path}, line {self.number + 1}: is not {self.encoding} text ({error}); save the file as "
                "UTF-8, or name its encoding (--encoding).",
                "encoding",
            ) from error

    def _check_encoding(self, text: str) -> None:
        if self.encoding == WESTERN and not self.is_said:
            require_western(self.path, text, self.number)
        if self.example is None and (word := _BEYOND_ASCII.search(text)):
            self.example = word[0]

    def _require_bounded(self, line: bytes) -> None:
        if len(line) > LONGEST_LINE:
            raise TableError(
                f"{self.path}, line {self.number}: longer than {LONGEST_LINE:,} bytes; expected one row per line."
            )
        self.n_bytes += len(line)
        if self.n_bytes > self.most_bytes:
            raise TableError(
                f"{self.path} expands to more than {self.most_bytes:,} bytes, far more than a compressed table "
                "does; if you trust it, decompress it and give that file."
            )

    def _decoded(self, line: bytes) -> str:
        try:
            # The mark of UTF-8 stands at the start of a file, and nowhere else.
            text = line.decode("utf-8" if self.bytes_as == UTF8 and self.number > 1 else self.bytes_as)
        except UnicodeDecodeError as error:
            if self.encoding == UTF8 and not self.is_said and b"\0" not in line:
                raise _NotUtf8 from error
            raise TableError(
                f"{self.path} is not {_encoding_name(self.encoding)} text: byte 0x{line[error.start]:02x} at line "
                f"{self.number}, byte {error.start + 1} of the line; save the file as UTF-8, or name its encoding "
                "(--encoding).",
                "encoding",
            ) from error
        if "\0" in text:
            raise TableError(
                f"{self.path}, line {self.number}: holds a zero byte, which text never has; remove it."
            )
        return text


def _encoding_name(encoding: str) -> str:
    return {UTF8: "UTF-8", WESTERN: "UTF-8 or Latin-1"}.get(encoding, encoding)


def _records(path: Path, lines: _Lines, style: TextStyle) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line that has any, with its number; a quoted field may span several lines."""
    reader = csv.reader(lines, delimiter=style.separator, strict=True)
    while True:
        line = lines.number + 1
        try:
            record = next(reader, None)
        except csv.Error as error:
            if "new-line character" in str(error):
                raise TableError(
                    f"{path}, line {line}: holds a carriage return that ends no line, as files of old Macintoshes "
                    "do; save the file with the line ends of today."
                ) from error
            raise TableError(f"{path}, line {line}: {error}; {_quoting(style)}") from error
        if record is None:
            return
        if record:
            yield line, record


def _most_bytes(path: Path) -> int:
    n_bytes = path.stat().st_size
    return max(ALWAYS_ALLOWED, _MOST_TIMES * n_bytes) if is_zipped(path) else max(ALWAYS_ALLOWED, n_bytes)


def _how(path: Path, style: TextStyle) -> dict[str, Any]:
    return {
        "sep": style.separator,
        "encoding": style.encoding,
        "skiprows": style.skipped,
        "index_col": False,
        "compression": "gzip" if is_zipped(path) else None,
        **_EXACT,
    }


def _require_header(path: Path, columns: Sequence[str]) -> None:
    if not columns:
        raise TableError(f"{path} is empty; expected a line of column names and one row per person or group.")
    if "" in columns:
        raise TableError(
            f"{path} has a column without a name, number {columns.index('') + 1}; name it or drop it."
        )
    require_distinct(list(columns), str(path))


def _refuse_ragged(path: Path, line: int, record: Sequence[str], columns: Sequence[str], style: TextStyle) -> None:
    raise TableError(
        f"{path}, line {line}: expected {len(columns)} fields as in the first line, got {len(record)}; "
        f"{_quoting(style)}"
    )


def _quoting(style: TextStyle) -> str:
    named = SEPARATORS.get(style.separator, repr(style.separator))
    return f"put quotes around text that holds {named} or quotes, double those, and close it."


def _dates_if_all_are(column: pd.Series) -> pd.Series:
    if not is_text(column) or not _all_match(_ISO_DATE, column.dropna().unique()):
        return column
    dates = pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True).dt.tz_localize(None)
    return column if (dates.isna() & column.notna()).any() else dates


def _all_match(pattern: re.Pattern[str], texts: Collection[str]) -> bool:
    return all(pattern.fullmatch(text) for text in texts)
