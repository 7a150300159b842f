"""Reads the two tables of a fit and the roles of their columns, and lists all problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from disaggregate.tables.check import check_tables, in_order
from disaggregate.tables.files import read_with_notes
from disaggregate.tables.group_names import match_groups
from disaggregate.tables.percentages import with_fractions
from disaggregate.tables.problems import Problem, TableError, problem_of
from disaggregate.tables.reading import Read, Reading
from disaggregate.tables.roles import Roles, resolve_roles


@dataclass(frozen=True)
class TwoTables:
    """A table of people and one of results, ready for a fit.

    Attributes
    ----------
    people, results : DataFrame
        One row per individual, or per cell; one row per group, with shares from 0 to 1 and groups spelt as in
        people.
    roles : Roles
        Roles of the columns.
    problems : tuple of Problem
        What was done to read them, and the choices that are left to make (errors).
    """

    people: pd.DataFrame
    results: pd.DataFrame
    roles: Roles
    problems: tuple[Problem, ...] = ()

    def check(self, sampled: bool = False) -> list[Problem]:
        """List every problem of the tables, errors first, and what was done to read them last.

        Parameters
        ----------
        sampled : bool, default=False
            Whether the people are a random sample of the group that the results describe.
        """
        unsettled = {(problem.where, problem.kind) for problem in self.problems if problem.level == "error"}
        found = check_tables(self.people, self.results, self.roles, sampled)
        # A column that leaves a choice open need not be refused for its values too.
        others = [problem for problem in found if (problem.where, "percent") not in unsettled]
        return in_order([*self.problems, *others])


def read_two_tables(people: Any, results: Any, *, reading: Reading | None = None, **roles: Any) -> TwoTables:
    """Read both tables, and find the roles of their columns.

    Parameters
    ----------
    people, results : path or dataframe
        One row per individual, or per cell with a count of people; one row per group.
    reading : Reading, optional
        What the owner says of how they are written.
    **roles
        Columns by their role; see :func:`disaggregate.tables.roles.resolve_roles`.
    """
    of_people, of_results = (read_with_notes(source, None, reading) for source in (people, results))
    known = resolve_roles(of_people.table, of_results.table, **roles)
    return prepared(of_people, of_results, known, reading)


def prepared(people: Read, results: Read, roles: Roles, reading: Reading | None = None) -> TwoTables:
    """Make shares of percentages, and match the names of groups.

    Parameters
    ----------
    people, results : Read
        The tables as they were read.
    roles : Roles
        Roles of the columns.
    reading : Reading, optional
        What the owner says of how they are written.
    """
    table, about_shares = with_fractions(results.table, roles, reading or Reading(), results.percent)
    table, about_groups = match_groups(people.table, table, roles.group)
    notes = (*people.notes, *results.notes, *about_shares, *about_groups)
    return TwoTables(people.table, table, roles, notes)


def examine(
    people: Any, results: Any, *, sampled: bool = False, reading: Reading | None = None, **roles: Any
) -> tuple[TwoTables | None, list[Problem]]:
    """Read and check both tables, without raising: every problem at once, each with its kind and choices.

    Parameters
    ----------
    people, results : path or dataframe
        As for :func:`read_two_tables`.
    sampled : bool, default=False
        Whether the people are a random sample of the group that the results describe.
    reading : Reading, optional
        What the owner says of how the tables are written. A problem with choices is settled by one of them:
        ``Reading(**{choice.setting: choice.value})``.
    **roles
        Columns by their role.

    Returns
    -------
    tables : TwoTables or None
        None where a table could not be read, or a role names no column.
    problems : list of Problem
        Errors, which stop a fit, then warnings, advice, and notes of what was done.
    """
    found: list[Problem] = []
    read: list[Read] = []
    for source, name in ((people, "people"), (results, "results")):
        try:
            read.append(read_with_notes(source, None, reading))
        except TableError as error:
            found.append(problem_of(error, name))
        except ImportError as error:
            found.append(Problem("error", name, str(error), "extra"))
    if len(read) < 2:
        return None, in_order([*found, *(note for one in read for note in one.notes)])
    try:
        known = resolve_roles(read[0].table, read[1].table, **roles)
    except TableError as error:
        lines = [Problem("error", "roles", line, "roles") for line in str(error).splitlines()]
        return None, in_order([*lines, *read[0].notes, *read[1].notes])
    tables = prepared(read[0], read[1], known, reading)
    return tables, tables.check(sampled)
