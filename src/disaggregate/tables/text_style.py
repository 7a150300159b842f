"""How a text file is written: its encoding and what stands between its fields, found from its first lines."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from disaggregate.tables.formats import is_zipped, separator
from disaggregate.tables.messages import some
from disaggregate.tables.problems import Choice, Problem, TableError
from disaggregate.tables.reading import SEPARATORS, Reading

UTF8 = "utf-8-sig"
WESTERN = "cp1252"

_MARKS = ((codecs.BOM_UTF8, UTF8), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_OTHER_KINDS = {
    b"PK\x03\x04": "a compressed file, as Excel workbooks are: name it *.xlsx if it is one, or decompress it.",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save it as .xlsx.",
    b"PAR1": "a Parquet file: let its name end in .parquet.",
}
_LOOKED_AT = 2**20  # bytes, from which the separator is found
_RECORDS = 200
_GUESSES = ("cp1252", "cp1250", "mac-roman")  # encodings to choose from
_HINT = re.compile(r"sep=(.)\r?\n?")  # the line in which spreadsheets name the separator
_RUN = re.compile(r"[^\x00-\x7f]{3,}")
# What Western texts hold beyond ASCII. The letters of Windows-1252 from 0x80 to 0x9f are left out: files of old
# Macintoshes and of DOS have their umlauts and accents there.
_WESTERN_SIGNS = frozenset("\u2019\u2018“”\u2013—…€£§°ºª²³«»·¡¿©®™½¼¾\u00b4¨\xa0\xad")
_WESTERN_LETTERS = frozenset(chr(code) for code in range(0xC0, 0x100) if code not in (0xD7, 0xF7))


@dataclass(frozen=True)
class TextStyle:
    """How a text file is written.

    Attributes
    ----------
    encoding : str
        As Python calls it.
    separator : str
        What stands between fields.
    skipped : int
        Lines before the header: 1 where the first says ``sep=;``, else 0.
    """

    encoding: str
    separator: str
    skipped: int = 0


def style_of(path: Path, reading: Reading) -> TextStyle:
    """Find out how a file is written; stop where it can be read in several ways.

    Parameters
    ----------
    path : Path
        A text file, gzipped or not.
    reading : Reading
        What its owner says of it.
    """
    try:
        with open_bytes(path) as file:
            start = file.read(_LOOKED_AT)
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(f"{path} cannot be read: {error}.") from error
    _require_text(path, start)
    encoding = reading.encoding or _encoding(path, start)
    text = start.decode(encoding if encoding != UTF8 else UTF8, errors="replace")
    lines = text.splitlines(keepends=True)
    hint = _HINT.fullmatch(lines[0]) if lines else None
    if hint:
        return TextStyle(encoding, reading.separator or hint[1], 1)
    return TextStyle(encoding, reading.separator or _separator(path, text, is_all=len(start) < _LOOKED_AT))


def _require_text(path: Path, start: bytes) -> None:
    """Refuse workbooks and Parquet files that are called as texts are."""
    for mark, kind in _OTHER_KINDS.items():
        if start.startswith(mark):
            raise TableError(f"{path} is not a text file but {kind}")


def style_notes(path: Path, style: TextStyle, reading: Reading, example: str | None) -> list[Problem]:
    """Say how a file was read, where that is not what its name says.

    Parameters
    ----------
    path : Path
        The file.
    style : TextStyle
        How it is written.
    reading : Reading
        What its owner says of it, which need not be repeated.
    example : str or None
        A text with letters beyond ASCII, by which the owner can see whether the encoding is right.
    """
    notes = []
    if style.separator != separator(path) and reading.separator is None:
        named = SEPARATORS.get(style.separator, repr(style.separator))
        notes.append(Problem("note", path.name, f"fields are separated by {named}.", "separator"))
    if style.encoding != UTF8 and reading.encoding is None:
        shown = f", as in {example!r}" if example else ""
        name = "Latin-1 (Windows-1252)" if style.encoding == WESTERN else style.encoding.upper()
        wrong = "; if that is spelt wrongly, save the file as UTF-8" if shown else ""
        notes.append(Problem("note", path.name, f"read as {name} text{shown}{wrong}.", "encoding"))
    return notes


def open_bytes(path: Path) -> Any:
    """Open a file, unpacked."""
    return gzip.open(path, "rb") if is_zipped(path) else path.open("rb")


class Transcoded:
    """Lines of a file in any encoding, as UTF-8.

    Parameters
    ----------
    file : binary file
        The file.
    encoding : str
        Its encoding.
    """

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding=encoding, newline="\n")

    def close(self) -> None:
        """Let go of the file, which its owner closes."""
        with suppress(ValueError):
            self._text.detach()

    def readline(self, most: int) -> bytes:
        """Read a line, at most so many characters of it."""
        return self._text.readline(most).encode("utf-8", "surrogatepass")


def require_western(path: Path, text: str, line: int) -> None:
    """Refuse what is probably no Latin-1: long runs beyond ASCII, or signs that Western texts lack.

    Parameters
    ----------
    path : Path
        The file.
    text : str
        A line of it, read as Windows-1252.
    line : int
        The number of the line.
    """
    odd = {sign for sign in text if sign > "\x7f"} - _WESTERN_LETTERS - _WESTERN_SIGNS
    run = _RUN.search(text)
    if odd or (run and not set(run[0]) <= _WESTERN_SIGNS):
        seen = run[0] if run else min(odd)
        word = next((one for one in text.replace(",", " ").split() if not one.isascii()), seen)[:20]
        raise TableError(
            f"{path}, line {line}: is not UTF-8 text, and as Latin-1 it would hold {seen[:20]!r}; save the file "
            "as UTF-8, or name its encoding (--encoding, such as cp1250, cp1251, mac-roman or shift-jis).",
            "encoding",
            tuple(Choice("encoding", name, f"{_as_in(word, name)!r}, letters as in {name}") for name in _GUESSES),
        )


def _as_in(word: str, encoding: str) -> str:
    """Return a word that was read as Western text as it would be read in another encoding."""
    return word.encode(WESTERN, "replace").decode(encoding, "replace")


def _encoding(path: Path, start: bytes) -> str:
    if start.startswith(_WIDE_MARKS):
        raise TableError(f"{path} is UTF-32 text; save it as UTF-8.", "encoding")
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    if (wide := _wide_without_mark(start)) is not None:
        return wide
    return UTF8


def _wide_without_mark(start: bytes) -> str | None:
    """Recognise UTF-16 without a mark by its zero bytes: mostly ASCII, every other byte is zero."""
    piece = start[: min(len(start), 2**12) // 2 * 2]
    even, odd = piece[::2], piece[1::2]
    if len(even) < 4:
        return None
    zeros = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros[1] > 0.9 and zeros[0] < 0.1:
        return "utf-16-le"
    return "utf-16-be" if zeros[0] > 0.9 and zeros[1] < 0.1 else None


def _separator(path: Path, text: str, is_all: bool) -> str:
    """Choose what splits the header and the lines after it into as many fields each."""
    usual = separator(path)
    counts = {mark: _n_fields(text, mark, is_all) for mark in SEPARATORS}
    fitting = [mark for mark, n in counts.items() if n is not None and n > 1]
    if usual not in fitting and len(fitting) == 1:
        return fitting[0]
    if len(fitting) > 1:
        raise TableError(
            f"{path} can be read with {' or '.join(SEPARATORS[mark] for mark in fitting)} between its fields; say "
            "which (--separator).",
            "separator",
            tuple(
                Choice("separator", mark, f"with {SEPARATORS[mark]} its columns are {_header(text, mark)}")
                for mark in fitting
            ),
        )
    return usual


def _header(text: str, mark: str) -> str:
    """Return the names of the columns, as far as there is room for them."""
    return some(next(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=mark)), []))


def _n_fields(text: str, mark: str, is_all: bool) -> int | None:
    """Return the number of fields that all of the first lines have, None where they differ."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    n_fields: set[int] = set()
    n_records = text.count("\n") + 1
    try:
        for index, record in enumerate(islice(records, _RECORDS)):
            if not is_all and index >= n_records - 2:
                break  # it may have been cut
            if record:
                n_fields.add(len(record))
    except csv.Error:
        return None
    return n_fields.pop() if len(n_fields) == 1 else None
