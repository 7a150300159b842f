"""Results on the terminal, for people as tables and for machines as JSON; and in files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disaggregate.cli.errors import CommandError

if TYPE_CHECKING:
    from pandas import DataFrame


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Let the command answer machines."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def output_path(text: str) -> Path:
    """Read where to write, and refuse early what could not be written after long work."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"expected a file, got the folder {text!r}")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"folder {str(path.parent)!r} does not exist; create it first")
    return path


def print_json(value: Any) -> None:
    """Print plain data; numbers that JSON lacks become null."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


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
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def load_analysis(path: Path) -> Any:
    """Load what ``disaggregate fit`` wrote."""
    from disaggregate.analysis import Analysis
    from disaggregate.saving import load

    found = load(path)
    if not isinstance(found, Analysis):
        raise CommandError(f"{path} holds a bare classifier; expected a model that `disaggregate fit` wrote.")
    return found
