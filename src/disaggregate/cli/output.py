"""Results on the terminal, as tables or as JSON, and in files."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disaggregate.cli.arguments import output_path
from disaggregate.cli.errors import CommandError
from disaggregate.cli.terminal import takes_all_characters, visible, visible_json

if TYPE_CHECKING:
    from pandas import DataFrame

FEWEST_DIGITS = 3


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option for JSON output."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_output_arguments(parser: argparse.ArgumentParser, *, required: bool = False) -> None:
    """Add the table that a command writes, how text is written there, and the option for JSON output."""
    formats = "table to write (.csv or .parquet)"
    parser.add_argument("-o", "--output", type=output_path, required=required, metavar="OUT", help=formats)
    add_raw_argument(parser)
    add_json_argument(parser)


def add_raw_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option to write text as it is."""
    parser.add_argument(
        "--raw",
        action="store_true",
        help="write text as it is; otherwise fields that begin with = + - @ get an apostrophe in a CSV, as "
        "spreadsheets would run them as formulas",
    )


def print_json(value: Any) -> None:
    """Print plain data; numbers that JSON lacks become null."""
    ascii_only = not takes_all_characters()
    text = json.dumps(_plain(value), indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str)
    print(visible_json(text))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(table: DataFrame, title: str, as_json: bool) -> None:
    """Print a table, or its rows as JSON."""
    if as_json:
        print_json(json.loads(table.to_json(orient="records", double_precision=15)))
        return
    _print_rows(_fewer_columns(table), title)


def _print_rows(table: DataFrame, title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from disaggregate.cli.column_widths import column_widths, table_width

    rows = [
        [visible(_text(value, digits, nothing)) for value in row]
        for row, digits, nothing in zip(
            table.itertuples(index=False), _digits(table), _nothing(table), strict=True
        )
    ]
    headers = [visible(str(name)) for name in table]
    are_numbers = [table[name].dtype.kind in "iuf" for name in table]
    columns = [[row[index] for row in rows] for index in range(len(headers))]
    console = Console()
    room = console.width if console.is_terminal else None  # a file or another program has all the room it needs
    widths = column_widths(headers, columns, [not is_number for is_number in are_numbers], room)
    shown = Table(title=Text(visible(title)))  # texts, as in a plain string [low] would be markup
    for header, is_number, width in zip(headers, are_numbers, widths, strict=True):
        shown.add_column(Text(header, overflow="fold"), justify="right" if is_number else "left", width=width)
    for row in rows:
        shown.add_row(*map(Text, row))
    Console(width=max(console.width, table_width(widths))).print(shown)


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
    from disaggregate.tables.rounding import worthwhile_digits

    return worthwhile_digits(table, FEWEST_DIGITS)


def _nothing(table: DataFrame) -> list[str]:
    """Return what stands for a missing number in each row: that it was suppressed, where a note says so."""
    from disaggregate.tables.suppression import NOTE, SUPPRESSED, is_suppressed

    return [SUPPRESSED if is_suppressed(note) else "nan" for note in table.get(NOTE, [""] * len(table))]


def _text(value: Any, digits: int | None, nothing: str) -> str:
    """Write a number with the digits that it is worth, else with three that mean something."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return nothing
    if digits is not None:
        from disaggregate.tables.rounding import in_digits

        return in_digits(value, digits)
    return f"{value:.3g}" if 0.0 < abs(value) < 0.01 else f"{value:.3f}"


def load_analysis(path: Path) -> Any:
    """Load what ``disaggregate fit`` wrote."""
    from disaggregate.analysis import Analysis, load
    from disaggregate.tables.formats import is_table

    if is_table(path):
        raise CommandError(
            f"{path} is a table; expected the model that `disaggregate fit` wrote, then the people."
        )
    found = load(path)
    if not isinstance(found, Analysis):
        raise CommandError(f"{path} holds a bare classifier; expected a model that `disaggregate fit` wrote.")
    return found
