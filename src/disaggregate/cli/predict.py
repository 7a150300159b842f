"""`disaggregate predict`: the probability of each person in a table of any length."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from disaggregate.cli.command import add_model_and_people, new_command
from disaggregate.cli.errors import CommandError, errors_for_user
from disaggregate.cli.output import FEWEST_DIGITS, add_output_arguments, load_analysis, print_json
from disaggregate.cli.people_table import print_notes
from disaggregate.cli.table_arguments import reading_of
from disaggregate.cli.terminal import say

if TYPE_CHECKING:
    from pandas import DataFrame

DESCRIPTION = """\
Add the columns probability, conf_low and conf_high to each row of a table of people. The table is read and written
in pieces, so it may be larger than memory. From a folder of Parquet files, files of the same names are written
to another folder. Rows that are cells of several people stay one row per cell. With several outcomes there are
three columns for each, such as probability_green, conf_low_green and conf_high_green.
"""
EXAMPLES = """\
examples:
  disaggregate predict model.dgz people.csv -o predicted.csv
  disaggregate predict model.dgz everybody.parquet -o predicted.parquet --level 0.95
  disaggregate predict model.dgz people/ -o predicted/
"""
ROWS = 5000


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = new_command(subparsers, "predict", "add each person's probability to a table", DESCRIPTION, EXAMPLES)
    add_model_and_people(parser)
    add_output_arguments(parser, required=True)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Predict piece by piece."""
    from disaggregate.analysis.unfamiliar import UnfamiliarValues
    from disaggregate.tables.files import iter_table, write_rows

    with errors_for_user():
        analysis = load_analysis(arguments.model)
        lines: list[str] = []
        if arguments.people.is_dir():
            from disaggregate.analysis import predict_folder

            given = analysis, arguments.people, arguments.output
            n_rows = predict_folder(*given, level=arguments.level, on_unfamiliar=lines.extend)
        else:
            unfamiliar, reading = UnfamiliarValues(analysis), reading_of(arguments)
            analysis = analysis.with_groups(iter_table(arguments.people, ROWS, analysis.schema, reading=reading))
            n_rows = write_rows(arguments.output, _predicted(analysis, arguments, unfamiliar), raw=arguments.raw)
            lines.extend(unfamiliar.messages())
    print_notes(lines)
    if arguments.json:
        print_json({"output": str(arguments.output), "rows": n_rows, "notes": lines})
    else:
        say(f"{n_rows:,} rows: {arguments.output}")


def _predicted(analysis: Any, arguments: argparse.Namespace, unfamiliar: Any) -> Iterator[DataFrame]:
    from disaggregate.parallel.monitor import progress_bar
    from disaggregate.tables.files import iter_table

    with progress_bar("people", show=not arguments.json) as bar:
        task = bar.add_task("reading", total=None)
        pieces = iter_table(
            arguments.people,
            ROWS,
            analysis.schema,
            counted=lambda n_rows: bar.update(task, description="predicting", total=n_rows),
            reading=reading_of(arguments),
            on_problems=print_notes,
        )
        for piece in pieces:
            predicted = analysis.predict(piece, arguments.level)
            taken = [name for name in predicted if name in piece]
            if taken:
                raise CommandError(f"the table has a column {taken[0]!r} already; rename it first")
            unfamiliar.observe(piece)
            yield _worthwhile(piece, predicted)
            bar.advance(task, len(piece))


def _worthwhile(piece: DataFrame, predicted: DataFrame) -> DataFrame:
    """Put predictions beside people, with the digits that their intervals are worth."""
    from disaggregate.tables.rounding import rounded

    return piece.join(rounded(predicted, FEWEST_DIGITS).set_axis(piece.index, axis=0))
