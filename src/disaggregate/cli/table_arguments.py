"""The two tables on the command line: their paths, and which column is what."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from disaggregate.tables.column_roles import ROLES

if TYPE_CHECKING:
    from disaggregate.tables.reading import Reading

SEPARATORS = (",", ";", "|", "\t")
DECIMALS = (".", ",")


def names(text: str) -> list[str]:
    """Read column names separated by commas."""
    found = [name.strip() for name in text.split(",") if name.strip()]
    if not found:
        raise argparse.ArgumentTypeError(f"expected column names separated by commas, got {text!r}")
    return found


def add_table_arguments(parser: argparse.ArgumentParser, *, or_folder: bool = False) -> None:
    """Add paths and roles; people may be a folder of files where the command reads one."""
    kinds = ".csv, .xlsx, .parquet" + (", a folder" if or_folder else "")
    parser.add_argument(
        "people",
        metavar="PEOPLE",
        help=f"table of people, one row per person, or per cell with --count ({kinds})",
    )
    parser.add_argument("results", metavar="RESULTS", help="table of results, one row per group")
    add = parser.add_argument_group("columns of both tables").add_argument
    add("--group", required=True, metavar="COLUMN", help="group of each person, and of each result")
    add = parser.add_argument_group("columns of RESULTS").add_argument
    _add_roles(add, "results", "neither")
    add(
        "--noise-kind",
        choices=("laplace", "gaussian"),
        default="laplace",
        help="kind of the privacy noise (default: laplace)",
    )
    add(
        "--confidence",
        metavar="NUMBER, auto or COLUMN",
        default="1000",
        help="how far shares are trusted: one number, auto to learn it, or a column of numbers (default: 1000, "
        "nearly exact)",
    )
    add(
        "--outcome",
        default="",
        metavar="NAME",
        help="what the outcome is called in reports (default: as its column)",
    )
    _add_roles(parser.add_argument_group("columns of PEOPLE").add_argument, "people", "both")
    add_reading_arguments(parser, shares=True)
    parser.add_argument(
        "--sampled",
        action="store_true",
        help="the people are a random sample of their group, and the results describe the whole group",
    )


def _add_roles(add: Callable[..., argparse.Action], *tables: str) -> None:
    """Add an option for each role that columns of these tables may play."""
    for name, role in ROLES.items():
        if role.table not in tables or role.option == "":
            continue
        several = {"type": names, "metavar": "COLUMNS", "default": ()}
        one = {"metavar": "NAME" if role.table == "neither" else "COLUMN"}
        meaning = (
            role.help + "; separated by commas" * role.several + " (with --sampled)" * (role.of_sample is True)
        )
        add(f"--{role.option or name}", dest=name, help=meaning, **(several if role.several else one))


def add_reading_arguments(parser: argparse.ArgumentParser, *, shares: bool = False) -> None:
    """Let the user say how tables are written, where that can be read in several ways."""
    add = parser.add_argument_group(
        "how tables are written (detected, unless there are several possibilities)"
    ).add_argument
    add("--encoding", metavar="NAME", help="encoding of text files, such as latin-1")
    add("--separator", type=separator, metavar="MARK", help="separator of fields in text files: , ; | or tab")
    add("--decimal", choices=DECIMALS, metavar="MARK", help="decimal mark of numbers such as 1,234: . or ,")
    if shares:
        add("--shares-in", choices=("fraction", "percent"), help="whether shares run from 0 to 1 or from 0 to 100")


def separator(text: str) -> str:
    """Read what stands between fields."""
    mark = "\t" if text in ("tab", "\\t") else text
    if mark not in SEPARATORS:
        raise argparse.ArgumentTypeError(f"expected one of , ; | or tab, got {text!r}")
    return mark


def reading_of(arguments: argparse.Namespace) -> Reading:
    """Return what the user said of how tables are written."""
    from disaggregate.tables.reading import Reading

    names = ("encoding", "separator", "decimal", "shares_in")
    return Reading(**{name: getattr(arguments, name, None) for name in names})


def role_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """Arguments of ``resolve_roles``; a confidence that is neither a number nor "auto" is a column."""
    roles = {name: getattr(arguments, name) for name, role in ROLES.items() if role.option != ""}
    roles["group"] = arguments.group
    if confidence_number(arguments) is None:
        roles["confidence"] = arguments.confidence
    return roles


def confidence_number(arguments: argparse.Namespace) -> float | str | None:
    """Return the confidence if it is one number, or "auto", to be learned."""
    if arguments.confidence == "auto":
        return "auto"
    try:
        return float(arguments.confidence)
    except ValueError:
        return None
