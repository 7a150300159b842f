"""`disaggregate sensitivity`: how far estimates move when the model is fitted under other choices."""

from __future__ import annotations

import argparse

from disaggregate.cli.arguments import whole_number
from disaggregate.cli.command import add_min_group_size, add_model_and_people, new_command
from disaggregate.cli.errors import errors_for_user
from disaggregate.cli.output import add_output_arguments, load_analysis, print_table
from disaggregate.cli.people_table import read_people
from disaggregate.cli.table_arguments import names
from disaggregate.cli.terminal import say

DESCRIPTION = """\
Fit again to the same people and results, with one choice changed at a time, and show how far the estimates of
subgroups move, also in standard errors of the original fit. Beyond 1 the choice matters more than the noise.
Each change takes as long as the fit did; `disaggregate report --sensitivity` shows the table.

  trust    each reported share may be off by 0.1
  linear   linear kernel: each feature has a linear effect on the score
  rbf      rbf kernel: any smooth shape
  weak     a quarter of the prior variance of the score: people are expected to differ less
  strong   four times as much
  context, no_context
           the composition of groups matters, or not: the opposite of the fit
"""
EXAMPLES = """\
examples:
  disaggregate sensitivity model.dgz people.csv --by educ --by race -o sensitivity.csv
  disaggregate sensitivity model.dgz people.csv --by educ,race --change trust,linear -o sensitivity.csv
  disaggregate report model.dgz people.csv --sensitivity sensitivity.csv -o report.html
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers, "sensitivity", "how far estimates move under other choices", DESCRIPTION, EXAMPLES
    )
    add = parser.add_argument
    add_model_and_people(parser)
    add(
        "--by",
        type=names,
        action="append",
        required=True,
        metavar="COLUMNS",
        help="columns of subgroups, separated by commas; may be given several times",
    )
    add("--change", type=names, action="extend", metavar="NAMES", help="some of the changes above (default: all)")
    add("--draws", type=whole_number(1), metavar="N", help="draws to keep per chain (default: as in the model)")
    add_min_group_size(parser)
    add_output_arguments(parser, required=True)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Fit again, print and write."""
    with errors_for_user():
        from disaggregate.analysis.sensitivity import side_by_side, subgroup_sensitivity
        from disaggregate.tables.files import write_rows
        from disaggregate.tables.formats import format_of

        format_of(arguments.output, to_write=True)  # a wrong ending is an error before hours of work
        analysis = load_analysis(arguments.model)
        table = subgroup_sensitivity(
            analysis,
            read_people(arguments, analysis),
            arguments.by,
            arguments.change,
            level=arguments.level,
            n_draws=arguments.draws,
            progress=not arguments.json,
            min_group_size=arguments.min_group_size,
        )
        write_rows(arguments.output, [table], raw=arguments.raw)
    if arguments.json:
        print_table(table, "", as_json=True)
        return
    for by, rows in table.groupby("by", sort=False):
        print_table(side_by_side(rows).rename(columns={"subgroup": by}), "Under other choices", as_json=False)
    say("Shifts are in standard errors of the original fit; beyond 1 the choice matters more than the noise.")
