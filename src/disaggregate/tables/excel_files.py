"""Excel workbooks, through openpyxl: an extra, imported here and only when such a file is read."""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from disaggregate.tables.dataframes import require_distinct
from disaggregate.tables.messages import nearest, some
from disaggregate.tables.problems import Problem, TableError

MISSING = "Excel files need openpyxl, which is not installed. Run: pip install 'disaggregate[excel]'"

# Texts that stand for a missing value, as in CSV files.
_NOTHING = frozenset({"", "#N/A", "N/A", "NA", "n/a", "nan", "NaN", "null", "NULL", "None", "<NA>"})
ALWAYS_ALLOWED = 2**28
_MOST_TIMES = 100
_CHUNK = 2**20
_DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, SyntaxError, EOFError, zipfile.BadZipFile)

Grid = list[list[Any]]


def read_excel(path: Path, sheet: str | None) -> tuple[pd.DataFrame, list[Problem]]:
    """Read one sheet of a workbook, whose first row that is not empty names the columns.

    Parameters
    ----------
    path : Path
        A file that ends in .xlsx or .xlsm.
    sheet : str or None
        Which sheet; None where there is only one with anything in it.

    Returns
    -------
    table : DataFrame
        Numbers, texts, dates and truth values as they are stored; percentages are stored as fractions.
    notes : list of Problem
        What was done.
    """
    try:
        import_module("openpyxl")
    except ImportError as error:
        raise ImportError(MISSING) from error
    try:
        _require_bounded(path)
        book = _opened(path, values=True)
        name = _chosen(path, book, sheet)
        first, rows = _rows(path, book[name])
        _require_plain(path, book, name, rows)
        book.close()
    except TableError:
        raise
    except zipfile.BadZipFile as error:
        raise TableError(
            f"{path} cannot be read as an Excel workbook, whose ending it has: save an old one (.xls) as .xlsx, "
            "and let the name of a text end in .csv."
        ) from error
    except _DAMAGE as error:
        raise TableError(f"{path} cannot be read as an Excel workbook: {error}.".replace("..", ".")) from error
    table = _table(f"{path}, sheet {name!r}", first, rows)
    is_said = sheet is not None or len(book.sheetnames) == 1
    return table, [] if is_said else [Problem("note", path.name, f"sheet {name!r} is read.", "sheet")]


def sheets_of(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook that are shown and have anything in them.

    Parameters
    ----------
    path : Path
        A file that ends in .xlsx or .xlsm.
    """
    _require_bounded(path)
    book = _opened(path, values=True)
    names = _filled_sheets(book)
    book.close()
    return names


def _filled_sheets(book: Any) -> list[str]:
    return [ws.title for ws in book.worksheets if ws.sheet_state == "visible" and _is_filled(ws)]


def _opened(path: Path, *, values: bool) -> Any:
    """Open a workbook for its stored values, or else for its formulas."""
    return import_module("openpyxl").load_workbook(path, read_only=True, data_only=values, keep_links=False)


def _require_bounded(path: Path) -> None:
    with zipfile.ZipFile(path) as packed:
        unpacked = sum(part.file_size for part in packed.infolist())
    if unpacked > max(ALWAYS_ALLOWED, _MOST_TIMES * path.stat().st_size):
        raise TableError(f"{path} expands to {unpacked:,} bytes, far more than a workbook does; save it as CSV.")


def _chosen(path: Path, book: Any, sheet: str | None) -> str:
    names = [ws.title for ws in book.worksheets]
    if sheet is not None:
        if sheet in names:
            return sheet
        meant = nearest(sheet, names)
        hint = f"did you mean {meant!r}?" if meant else f"its sheets are {some(names)}."
        raise TableError(f"{path} has no sheet {sheet!r}; {hint}", "sheet")
    filled = _filled_sheets(book)
    if len(filled) == 1:
        return filled[0]
    if not filled:
        raise TableError(f"{path} has no sheet with anything in it.", "sheet")
    raise TableError(
        f"{path} has {len(filled)} sheets, {some(filled)}; say which: {path.name}#{filled[0]}.", "sheet"
    )


def _is_filled(worksheet: Any) -> bool:
    worksheet.reset_dimensions()  # the size that a file states is not always true
    return any(value is not None for row in worksheet.iter_rows(values_only=True, max_row=1000) for value in row)


def _rows(path: Path, worksheet: Any) -> tuple[int, Grid]:
    """Return the number of the first row that is not empty, and all rows from it on, without empty ones."""
    worksheet.reset_dimensions()
    first, rows = 0, []
    for number, cells in enumerate(worksheet.iter_rows(), start=1):
        row = [_value(path, worksheet.title, cell) for cell in cells]
        if any(value is not None for value in row):
            first = first or number
            rows.append(row)
        elif rows:
            rows.append([])
    while rows and not rows[-1]:
        rows.pop()
    return first, rows


def _value(path: Path, sheet: str, cell: Any) -> Any:
    value = cell.value
    if not isinstance(value, str):
        return value
    if value.strip() in _NOTHING:
        return None
    if cell.data_type == "e":
        raise TableError(
            f"{path}, sheet {sheet!r}: cell {cell.coordinate} holds the error {value}; correct or empty it."
        )
    return value


def _require_plain(path: Path, book: Any, name: str, rows: Grid) -> None:
    """Refuse cells whose value is not what one sees: merged ones, and formulas that were never computed."""
    merged, formulas = _found_in(path, getattr(book[name], "_worksheet_path", ""), (b"<mergeCell ", b"<f"))
    if merged:
        raise TableError(
            f"{path}, sheet {name!r} has merged cells, of which only the first has a value; unmerge them and fill "
            "each cell.",
            "merged cells",
        )
    if not formulas:
        return
    both = zip(_cells(_opened(path, values=False)[name]), _cells(book[name]), strict=False)
    for formula, stored in both:
        if formula.data_type == "f" and stored.value is None:
            raise TableError(
                f"{path}, sheet {name!r}: cell {formula.coordinate} holds a formula without a stored result; open "
                "the workbook in a spreadsheet, save it there, and try again.",
                "formulas",
            )


def _cells(worksheet: Any) -> Iterator[Any]:
    worksheet.reset_dimensions()
    return (cell for row in worksheet.iter_rows() for cell in row if hasattr(cell, "coordinate"))


def _found_in(path: Path, part: str, wanted: tuple[bytes, ...]) -> list[bool]:
    """Find which byte strings a part of the workbook holds, without unpacking it as a whole."""
    found = [False] * len(wanted)
    with zipfile.ZipFile(path) as packed, packed.open(part.lstrip("/")) as file:
        end = b""
        while piece := file.read(_CHUNK):
            text = end + piece
            found = [known or one in text for known, one in zip(found, wanted, strict=True)]
            end = text[-32:]
    return found


def _table(where: str, first: int, rows: Grid) -> pd.DataFrame:
    if not rows:
        raise TableError(f"{where} is empty; expected a row of column names and one row per person or group.")
    header = [None if name is None else unicodedata.normalize("NFC", str(name).strip()) for name in rows[0]]
    width = max((index + 1 for row in rows for index, value in enumerate(row) if value is not None), default=0)
    header += [None] * (width - len(header))
    nameless = [index for index in range(width) if not header[index]]
    filled = [index for index in nameless if any(index < len(row) and row[index] is not None for row in rows[1:])]
    if filled:
        raise TableError(
            f"{where}: row {first} should name the columns, but column {_letters(filled[0])} has values and no "
            "name; delete rows above the names, and name every column.",
            "header",
        )
    kept = [index for index in range(width) if header[index]]
    names = [str(header[index]) for index in kept]
    require_distinct(names, where)
    people = [row for row in rows[1:] if row]
    if not people:
        raise TableError(f"{where} has a header but no rows; give one row per person or group.")
    columns = {
        name: pd.Series([row[index] if index < len(row) else None for row in people], dtype=object).infer_objects()
        for name, index in zip(names, kept, strict=True)
    }
    return pd.DataFrame(columns)


def _letters(index: int) -> str:
    """Name a column as spreadsheets do."""
    index, last = divmod(index, 26)
    return (_letters(index - 1) if index else "") + chr(ord("A") + last)
