"""`disaggregate effects`: what changes when a feature is changed, and what the groups can say about it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from disaggregate.cli.command import add_min_group_size, add_model_and_people, new_command
from disaggregate.cli.errors import errors_for_user
from disaggregate.cli.output import add_output_arguments, load_analysis, print_table
from disaggregate.cli.people_table import read_people
from disaggregate.cli.table_arguments import names

if TYPE_CHECKING:
    from disaggregate.tables.encoding import Encoder

DESCRIPTION = """\
Average change in probability when a feature of all people is increased by one (a date by a year, a month or a
day), or set to another level. Group results carry information about a feature only as far as groups differ in it:
the second table shows how far they do. Where the fit had a column of counts (--count), each row counts as that
many people.
"""
EXAMPLES = """\
examples:
  disaggregate effects model.dgz people.csv
  disaggregate effects model.dgz people.csv --feature age,educ -o effects.csv
  disaggregate effects model.dgz people.csv --step income=1000 --step born=month --step educ=primary
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers, "effects", "average effects of features, with intervals", DESCRIPTION, EXAMPLES
    )
    add = parser.add_argument
    add_model_and_people(parser)
    add(
        "--feature",
        "--features",
        type=names,
        metavar="COLUMNS",
        help="features, separated by commas (default: all)",
    )
    add(
        "--step",
        type=step,
        action="append",
        default=[],
        metavar="COLUMN=STEP",
        help="how far to raise a number (1000, sd) or date (year, month, day, sd), or the level to compare a "
        "category with; may be given several times",
    )
    add_min_group_size(parser)
    add_output_arguments(parser)
    parser.set_defaults(run=run)


def step(text: str) -> tuple[str, str]:
    """Read a column and its step."""
    name, _, size = text.partition("=")
    if not (name and size):
        raise argparse.ArgumentTypeError(f"expected COLUMN=STEP, such as income=1000, got {text!r}")
    return name, size


def _chosen(arguments: argparse.Namespace, encoder: Encoder) -> dict[str, float | str | None] | None:
    """Features with their steps; the usual step of those that have none of their own, all features by default."""
    levels = {column.name for column in encoder.columns if column.kind == "category"}
    steps = {name: size if name in levels else _number(size) for name, size in arguments.step}
    return dict.fromkeys(arguments.feature or ()) | steps or None


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def run(arguments: argparse.Namespace) -> None:
    """Estimate, print and write."""
    from disaggregate.tables.files import write_rows

    with errors_for_user():
        analysis = load_analysis(arguments.model)
        people = read_people(arguments, analysis)
        table = analysis.effects(
            people,
            _chosen(arguments, analysis.encoder),
            level=arguments.level,
            min_group_size=arguments.min_group_size,
        )
        between = analysis.between_groups(people) if analysis.roles.group in people else None
        if arguments.output:
            write_rows(arguments.output, [table], raw=arguments.raw)
    of = "" if "outcome" in table else f" of “{analysis.outcome_name}”"
    print_table(table, f"Average effect on the probability{of}", arguments.json)
    if between is not None and not arguments.json:
        print_table(between, "What the groups can say about each feature", False)
