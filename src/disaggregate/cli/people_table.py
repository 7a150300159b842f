"""The table of people of a command: read like that of the fit, with a note on what was done."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from disaggregate.cli.table_arguments import reading_of
from disaggregate.cli.terminal import say

if TYPE_CHECKING:
    from pandas import DataFrame


def read_people(arguments: argparse.Namespace, analysis: Any) -> DataFrame:
    """Read the table, and say on standard error what was done and what the model does not know.

    Parameters
    ----------
    arguments : Namespace
        Those of a command that takes a model and people.
    analysis : Analysis
        The model.
    """
    from disaggregate.analysis.unfamiliar import UnfamiliarValues
    from disaggregate.tables.files import read_with_notes

    read = read_with_notes(arguments.people, analysis.schema, reading_of(arguments))
    unfamiliar = UnfamiliarValues(analysis)
    unfamiliar.observe(read.table)
    print_notes([*map(str, read.notes), *unfamiliar.messages()])
    return read.table


def print_notes(lines: Iterable[Any]) -> None:
    """Say lines on standard error, so that they mix with no result."""
    for line in lines:
        say(line, error=True)
