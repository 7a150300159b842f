"""Results on the terminal, for people as tables and for machines as JSON; and in files."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disaggregate.cli.errors import CommandError
from disaggregate.cli.terminal import takes_all_characters, visible, visible_json

if TYPE_CHECKING:
    from pandas import DataFrame

FEWEST_DIGITS = 3


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Let the command answer machines."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_raw_argument(parser: argparse.ArgumentParser) -> None:
    """Let the command write texts as they are."""
    parser.add_argument(
        "--raw",
        action="store_true",
        help="write texts as they are; else those that begin with = + - @ get an apostrophe in a CSV, as "
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
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(visible(title)))  # texts, as in a plain string [low] would be markup
    table = _fewer_columns(table)
    for name in table:
        is_number = table[name].dtype.kind in "iuf"
        is_key = "told" in table and not is_number and name not in ("told", "note")
        shown.add_column(Text(visible(str(name))), justify="right" if is_number else "left", no_wrap=is_key)
    for row, digits, nothing in zip(table.itertuples(index=False), _digits(table), _nothing(table), strict=True):
        shown.add_row(*[Text(visible(_text(value, digits, nothing))) for value in row])
    Console().print(shown)


def _fewer_columns(table: DataFrame) -> DataFrame:
    """Leave out what a terminal has no room for: numbers that are also told in words, or by the interval."""
    return table.drop(columns=["contraction", "std_error"]) if "told" in table else table


def _digits(table: DataFrame) -> Iterable[int | None]:
    """Digits that each row is worth, as far as intervals tell."""
    if not {"conf_low", "conf_high"} <= set(table):
        return [None] * len(table)
    from disaggregate.tables.digits import worthwhile_digits

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
        from disaggregate.tables.digits import in_digits

        return in_digits(value, digits)
    return f"{value:.3g}" if 0.0 < abs(value) < 0.01 else f"{value:.3f}"


def load_analysis(path: Path) -> Any:
    """Load what ``disaggregate fit`` wrote."""
    from disaggregate.analysis import Analysis, load

    found = load(path)
    if not isinstance(found, Analysis):
        raise CommandError(f"{path} holds a bare classifier; expected a model that `disaggregate fit` wrote.")
    return found
