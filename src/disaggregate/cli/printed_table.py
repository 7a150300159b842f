"""Tables on the terminal, as wide as there is room for; wider ones as lines per row, so that nothing is cut."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from disaggregate.cli.output import FEWEST_DIGITS
from disaggregate.cli.terminal import say, visible
from disaggregate.tables.rounding import in_digits, worthwhile_digits
from disaggregate.tables.suppression import NOTE, SUPPRESSED, is_suppressed

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console


@dataclass(frozen=True)
class _Cells:
    """What is printed: headers and rows of texts, and which columns hold numbers."""

    headers: list[str]
    rows: list[list[str]]
    are_numbers: list[bool]


def print_rows(table: DataFrame, title: str) -> None:
    """Print a table.

    Where room is short, notes follow beneath, and a suppressed row says so once; where that is still too wide,
    each row gets lines of its own.

    Parameters
    ----------
    table : DataFrame
        Results; numbers get the digits that their interval is worth.
    title : str
        Above it.
    """
    from rich.console import Console

    from disaggregate.cli.column_widths import table_width

    console = Console()
    # A file or another program has all the room it needs, unless COLUMNS says otherwise.
    room = console.width if console.is_terminal or "COLUMNS" in os.environ else None
    whole = _fewer_columns(table)
    brief = whole.drop(columns=NOTE, errors="ignore")
    for shown, is_brief in ((whole, False), (brief, True)):
        cells = _cells_of(shown, _notes(whole), is_brief)
        widths = _widths(cells, room)
        if room is None or table_width(widths) <= room:
            _draw(cells, widths, title, console)
            for line in _lines_of_notes(cells, _notes(whole)) if is_brief else ():
                say(line)
            return
    _print_records(_cells_of(whole, _notes(whole), is_brief=True), title)


def _cells_of(table: DataFrame, notes: Sequence[str], is_brief: bool) -> _Cells:
    are_numbers = [table[name].dtype.kind in "iuf" for name in table]
    rows = []
    for values, digits, note in zip(table.itertuples(index=False), _digits(table), notes, strict=True):
        nothing = SUPPRESSED if is_suppressed(note) else "nan"
        row = [visible(_text(value, digits, nothing)) for value in values]
        rows.append(_without_repeated_note(row) if is_brief else row)
    return _Cells([visible(str(name)) for name in table], rows, are_numbers)


def _without_repeated_note(row: list[str]) -> list[str]:
    first = row.index(SUPPRESSED) if SUPPRESSED in row else len(row)
    return [text if text != SUPPRESSED or index == first else "" for index, text in enumerate(row)]


def _widths(cells: _Cells, room: int | None) -> list[int]:
    from disaggregate.cli.column_widths import column_widths

    columns = [[row[index] for row in cells.rows] for index in range(len(cells.headers))]
    return column_widths(cells.headers, columns, [not is_number for is_number in cells.are_numbers], room)


def _draw(cells: _Cells, widths: Sequence[int], title: str, console: Console) -> None:
    from rich.console import Console as WideConsole
    from rich.table import Table
    from rich.text import Text

    from disaggregate.cli.column_widths import table_width

    shown = Table(title=Text(visible(title)))  # texts, as in a plain string [low] would be markup
    for header, is_number, width in zip(cells.headers, cells.are_numbers, widths, strict=True):
        shown.add_column(Text(header, overflow="fold"), justify="right" if is_number else "left", width=width)
    for row in cells.rows:
        shown.add_row(*map(Text, row))
    WideConsole(width=max(console.width, table_width(widths))).print(shown)


def _print_records(cells: _Cells, title: str) -> None:
    """Print each row as lines of its own, one per column."""
    longest = max(map(len, cells.headers), default=0)
    say(title)
    for row in cells.rows:
        say("")
        for header, text in zip(cells.headers, row, strict=True):
            if text:
                say(f"{header:{longest}s}  {text}")


def _notes(table: DataFrame) -> list[str]:
    return [str(note) for note in table.get(NOTE, [""] * len(table))]


def _lines_of_notes(cells: _Cells, notes: Sequence[str]) -> Iterable[str]:
    """Say why rows have a note, and name them by their words."""
    n_words = cells.are_numbers.index(True) if True in cells.are_numbers else 1
    for row, note in zip(cells.rows, notes, strict=True):
        if note:
            yield f"{', '.join(row[: max(1, n_words)])}: {note}"


def _fewer_columns(table: DataFrame) -> DataFrame:
    """Leave out what a terminal has no room for: numbers that are also there in words, by the interval or by n."""
    left_out = ["contraction", "std_error"] if "rests_on" in table else []
    if {"n", "weight"} <= set(table) and (table["n"] == table["weight"]).all():
        left_out.append("weight")
    return table.drop(columns=left_out)


def _digits(table: DataFrame) -> Iterable[int | None]:
    """Digits that each row is worth, judged by its interval."""
    if not {"conf_low", "conf_high"} <= set(table):
        return [None] * len(table)
    return worthwhile_digits(table, FEWEST_DIGITS)


def _text(value: Any, digits: int | None, nothing: str) -> str:
    """Write a number with the digits that it is worth, else with three that mean something."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return nothing
    if digits is not None:
        return in_digits(value, digits)
    return f"{value:.3g}" if 0.0 < abs(value) < 0.01 else f"{value:.3f}"
