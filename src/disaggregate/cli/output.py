"""Results on the terminal, for people as tables and for machines as JSON; and in files."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disaggregate.cli.errors import CommandError

if TYPE_CHECKING:
    from pandas import DataFrame


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Let the command answer machines."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def print_json(value: Any) -> None:
    """Print plain data; numbers that JSON lacks become null."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False, default=str))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(table: DataFrame, title: str, as_json: bool) -> None:
    """Print a table, or its rows as JSON."""
    if as_json:
        print_json(json.loads(table.to_json(orient="records", double_precision=10)))
        return
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title)
    for name in table:
        is_number = table[name].dtype.kind in "iuf"
        shown.add_column(str(name), justify="right" if is_number else "left")
    for row in table.itertuples(index=False):
        shown.add_row(*[_text(value) for value in row])
    Console().print(shown)


def _text(value: Any) -> str:
    """Three digits after the point, or three that mean something where those would be zeros."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if 0.0 < abs(value) < 0.01 else f"{value:.3f}"


def load_analysis(path: Path) -> Any:
    """Load what ``disaggregate fit`` wrote."""
    from disaggregate.analysis import Analysis
    from disaggregate.saving import load

    found = load(path)
    if not isinstance(found, Analysis):
        raise CommandError(f"{path} holds a bare classifier; expected a model that `disaggregate fit` wrote.")
    return found
