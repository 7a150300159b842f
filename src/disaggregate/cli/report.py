"""`disaggregate report`: one HTML page to share."""

from __future__ import annotations

import argparse
from pathlib import Path

from disaggregate.cli.arguments import output_path
from disaggregate.cli.command import add_min_group_size, add_model_and_people, new_command
from disaggregate.cli.errors import CommandError, errors_for_user
from disaggregate.cli.output import add_json_argument, load_analysis, print_json
from disaggregate.cli.people_table import read_people
from disaggregate.cli.table_arguments import names
from disaggregate.cli.terminal import say

DESCRIPTION = """\
Write one HTML page about a model: the answer in a sentence and a figure, subgroups, effects, groups, what the data
cannot show, and, folded away, data, chains, method and settings. It needs no network and no other file, reads well
on a phone, and can be printed.
"""
EXAMPLES = """\
examples:
  disaggregate report model.dgz people.csv -o report.html
  disaggregate report model.dgz people.csv -o report.html --sensitivity sensitivity.csv
  disaggregate report model.dgz people.csv -o report.html --by educ,race --feature age,educ \\
      --title "New York 2016" --question "Who voted, and for whom?"
"""
_PAGES = ("", ".html", ".htm", ".xhtml")  # other endings would open in the wrong program


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(
        subparsers, "report", "one HTML page with all results, to read, print or send", DESCRIPTION, EXAMPLES
    )
    add = parser.add_argument
    add_model_and_people(parser)
    add("-o", "--output", type=output_path, required=True, metavar="PAGE", help="page to write, usually *.html")
    add(
        "--by",
        type=names,
        action="extend",
        metavar="COLUMNS",
        help="columns, separated by commas, each with subgroups of its own (default: categories with few levels)",
    )
    add(
        "--feature",
        "--features",
        type=names,
        metavar="COLUMNS",
        help="features whose effects to show (default: the first 8)",
    )
    add("--title", metavar="TEXT", help="title of the page")
    add("--question", metavar="TEXT", help="the question that the page answers")
    add_min_group_size(parser)
    add(
        "--sensitivity",
        type=Path,
        metavar="TABLE",
        help="what `disaggregate sensitivity` wrote: how far estimates move under other choices",
    )
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Write the page, and say where it is."""
    from rich.console import Console

    if arguments.output.suffix.lower() not in _PAGES:
        raise CommandError(f"expected an --output that ends in .html, got '{arguments.output}'; a page is HTML")
    waiting = Console(stderr=True, quiet=arguments.json).status("writing the report")
    with errors_for_user(), waiting:
        from disaggregate.report import write_report

        analysis = load_analysis(arguments.model)
        write_report(
            analysis,
            read_people(arguments, analysis),
            arguments.output,
            by=arguments.by or (),
            features=arguments.feature,
            title=arguments.title,
            question=arguments.question,
            level=arguments.level,
            min_group_size=arguments.min_group_size,
            sensitivity=arguments.sensitivity,
        )
    if arguments.json:
        print_json({"output": str(arguments.output)})
    else:
        say(f"Report: {arguments.output}")
