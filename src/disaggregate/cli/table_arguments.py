"""The two tables on the command line: their paths, and which column is what."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from disaggregate.tables.reading import Reading

SEPARATORS = (",", ";", "|", "\t")
DECIMALS = (".", ",")

ROLES = {
    "share": "share of positives, from 0 to 1",
    "positives": "count of positives; several columns, separated by commas, are several outcomes",
    "total": "number of people among whom the positives were counted",
    "low": "lowest possible share or count",
    "high": "highest possible share or count",
    "noise": "scale of the privacy noise on a count",
    "size": "size of the population that the people are a sample of (with --sampled)",
}


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
    for role, meaning in ROLES.items():
        kind = {"type": names, "metavar": "COLUMNS"} if role == "positives" else {"metavar": "COLUMN"}
        add(f"--{role}", help=meaning, **kind)
    add("--shares", type=names, metavar="COLUMNS", help="share of each of several outcomes, separated by commas")
    add("--rest", metavar="NAME", help="name of the outcome that the others leave of the whole, such as 'at home'")
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
    add = parser.add_argument_group("columns of PEOPLE").add_argument
    add("--count", metavar="COLUMN", help="number of people per row, where rows are cells of a table (default: 1)")
    add("--weights", metavar="COLUMN", help="survey weight of each person, in shares and subgroups")
    add("--replicates", type=names, default=[], metavar="COLUMNS", help="replicate weights, separated by commas")
    add("--features", type=names, default=[], metavar="COLUMNS", help="what to learn from (default: all the rest)")
    add("--ignore", type=names, default=[], metavar="COLUMNS", help="columns to leave out")
    add_reading_arguments(parser, shares=True)
    parser.add_argument(
        "--sampled",
        action="store_true",
        help="the people are a random sample of their group, and the results describe the whole group",
    )


def add_reading_arguments(parser: argparse.ArgumentParser, *, shares: bool = False) -> None:
    """Let the user say how tables are written, where that can be read in several ways."""
    add = parser.add_argument_group(
        "how tables are written (detected, unless there are several possibilities)"
    ).add_argument
    add("--encoding", metavar="NAME", help="encoding of text files, such as latin-1")
    add("--separator", type=separator, metavar="MARK", help="separator of fields in text files: , ; | or tab")
    add("--decimal", choices=DECIMALS, help="decimal mark of numbers such as 1,234")
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
    roles: dict[str, Any] = {role: getattr(arguments, role) for role in ("group", *ROLES)}
    roles |= {"count": arguments.count, "weight": arguments.weights, "replicates": arguments.replicates}
    roles |= {"features": arguments.features, "ignore": arguments.ignore}
    roles |= {"shares": arguments.shares or (), "rest": arguments.rest}
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
