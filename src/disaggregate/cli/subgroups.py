"""`disaggregate subgroups`: the rate of the outcome by any columns."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from disaggregate.cli.command import add_min_group_size, add_model_and_people, new_command
from disaggregate.cli.errors import errors_for_user
from disaggregate.cli.output import add_output_arguments, load_analysis, print_table
from disaggregate.cli.people_table import read_people
from disaggregate.cli.table_arguments import names
from disaggregate.cli.terminal import say

if TYPE_CHECKING:
    from pandas import DataFrame

DESCRIPTION = """\
Estimate the share of the outcome in each subgroup of the people in a table, with survey weights if there are any.
Where the fit had a column of counts (--count), each row counts as that many people.
"""
EXAMPLES = """\
examples:
  disaggregate subgroups model.dgz people.csv --by educ
  disaggregate subgroups model.dgz people.csv --by educ,race --weights w -o rates.csv
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers, "subgroups", "rates of the outcome by any columns, with intervals", DESCRIPTION, EXAMPLES
    )
    add = parser.add_argument
    add_model_and_people(parser)
    add("--by", type=names, required=True, metavar="COLUMNS", help="columns, separated by commas")
    add("--weights", metavar="COLUMN", help="survey weights (default: those of the fit)")
    add("--replicates", type=names, default=[], metavar="COLUMNS", help="replicate weights")
    add(
        "--outcomes",
        action="store_true",
        help="estimates for exactly these people, not for many like them; intervals are wider where they are few",
    )
    add_min_group_size(parser)
    add_output_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Estimate, print and write."""
    from disaggregate.tables.files import write_rows

    with errors_for_user():
        analysis = load_analysis(arguments.model)
        table = analysis.subgroups(
            read_people(arguments, analysis),
            arguments.by,
            arguments.weights,
            arguments.replicates,
            level=arguments.level,
            min_group_size=arguments.min_group_size,
            outcomes=arguments.outcomes,
        )
        if arguments.output:
            write_rows(arguments.output, [table], raw=arguments.raw)
    what = "Share of each outcome" if "outcome" in table else f"Share of “{analysis.outcome_name}”"
    print_table(table, f"{what} by {', '.join(arguments.by)}", arguments.json)
    for line in names_of_few(table, arguments.by):
        say(line, error=True)


def names_of_few(table: DataFrame, by: Sequence[str]) -> Iterator[str]:
    """Warn if most rows describe few people: their names may be values of single people, such as an income."""
    from disaggregate.tables.suppression import FEW, NOTE

    n_few = sum(str(note).startswith(FEW) for note in table.get(NOTE, ()))
    if 2 * n_few > len(table):
        yield (
            f"warning: {n_few:,} of {len(table):,} rows are suppressed, but still show rare values of "
            f"{', '.join(map(repr, by))}; choose fewer columns, or levels that more people share."
        )
