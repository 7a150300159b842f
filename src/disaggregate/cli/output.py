"""Results on the terminal, as tables or as JSON, and in files."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disaggregate.cli.arguments import output_path
from disaggregate.cli.errors import CommandError
from disaggregate.cli.terminal import takes_all_characters, visible_json

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
    from disaggregate.cli.printed_table import print_rows

    print_rows(table, title)


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
