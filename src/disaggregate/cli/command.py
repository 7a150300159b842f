"""What the sub-commands have in common: help with examples, and the model and people that most of them take."""

from __future__ import annotations

import argparse
from pathlib import Path

from disaggregate.cli.arguments import probability, whole_number
from disaggregate.cli.help_text import HelpText
from disaggregate.cli.table_arguments import add_reading_arguments

Subparsers = argparse._SubParsersAction


def new_command(
    subparsers: Subparsers[argparse.ArgumentParser], name: str, summary: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add a sub-command whose help ends with examples."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=examples,
        formatter_class=HelpText,
    )


def add_model_and_people(parser: argparse.ArgumentParser) -> None:
    """Let the command take a fitted model, a table of people, and the probability of its intervals."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="what `disaggregate fit` wrote")
    parser.add_argument("people", type=Path, metavar="PEOPLE", help="table of people (.csv, .xlsx, .parquet)")
    add_reading_arguments(parser)
    parser.add_argument(
        "--level", type=probability, default=0.9, help="probability of the intervals (default: 0.9)"
    )


def add_min_group_size(parser: argparse.ArgumentParser) -> None:
    """Add the option that suppresses numbers of few people."""
    parser.add_argument(
        "--min-group-size",
        type=whole_number(1),
        default=1,
        metavar="N",
        help="no numbers for groups and subgroups of fewer people (default: 1)",
    )
