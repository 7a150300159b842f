"""`disaggregate check`: every problem of the two tables at once, before anything is fitted."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from disaggregate.cli.command import new_command
from disaggregate.cli.errors import CommandError, errors_for_user
from disaggregate.cli.output import add_json_argument, print_json
from disaggregate.cli.table_arguments import add_table_arguments, reading_of, role_arguments
from disaggregate.cli.terminal import say
from disaggregate.cli.wording import as_options

DESCRIPTION = """\
Check a table of people and a table of group results, and list everything that would stop a fit, is probably a
mistake, or could be improved. Nothing is fitted. Exit code 2 when a fit would be refused.
"""
EXAMPLES = """\
examples:
  disaggregate check people.csv results.csv --group district --share share
  disaggregate check people.csv results.csv --group cd --share pct --sampled --size votes --ignore id,name
  disaggregate check census.csv votes.csv --group district --positives yes --total valid --count n
"""
MARKS = {"error": "✗", "warning": "!", "advice": "→", "note": "·"}


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers,
        "check",
        "list every problem of a table of people and a table of results",
        DESCRIPTION,
        EXAMPLES,
    )
    add_table_arguments(parser)
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the problems."""
    from disaggregate.tables.counts import sound_counts
    from disaggregate.tables.two_tables import read_two_tables

    with errors_for_user():
        tables = read_two_tables(
            arguments.people, arguments.results, reading=reading_of(arguments), **role_arguments(arguments)
        )
        problems = tables.check(arguments.sampled)
    if arguments.json:
        print_json([asdict(problem) for problem in problems])
    else:
        whom = _whom(sound_counts(tables.people, tables.roles), len(tables.people))
        features = ", ".join(tables.roles.features) or "none"
        say(f"{whom}, {len(tables.results):,} results, features: {features}")
        for problem in problems:
            say(f"{MARKS[problem.level]} {as_options(str(problem))}")
    n_errors = sum(problem.level == "error" for problem in problems)
    if n_errors:
        raise CommandError(
            f"{n_errors} of these would stop a fit" if n_errors > 1 else "one of these would stop a fit"
        )
    if not problems and not arguments.json:
        say("No problems found.")


def _whom(counts: Any, n_rows: int) -> str:
    return f"{n_rows:,} people" if counts is None else f"{int(counts.sum()):,} people in {n_rows:,} rows"
