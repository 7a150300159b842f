"""The check step: everything about the two tables that their owner should know, at once."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from disaggregate.tables.check_counts import count_problems, weight_problems
from disaggregate.tables.check_features import feature_problems
from disaggregate.tables.check_groups import group_problems
from disaggregate.tables.check_reports import report_problems
from disaggregate.tables.check_rows import row_problems
from disaggregate.tables.check_spread import spread_problems
from disaggregate.tables.problems import Problem
from disaggregate.tables.roles import Roles

__all__ = ["Problem", "check_tables"]

_ORDER = ("error", "warning", "advice", "note")


def check_tables(
    people: pd.DataFrame, results: pd.DataFrame, roles: Roles, sampled: bool = False
) -> list[Problem]:
    """List every problem of the tables, errors first.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual, or per cell with a count of people; one row per group.
    roles : Roles
        Roles of the columns.
    sampled : bool, default=False
        Whether the people are a random sample of the group that the results describe.
    """
    problems = [
        *group_problems(people, results, roles),
        *report_problems(people, results, roles, sampled),
        *count_problems(people, roles, sampled),
        *weight_problems(people, roles),
        *row_problems(people, roles),
        *feature_problems(people, roles),
        *spread_problems(people, roles),
    ]
    return in_order(problems)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Sort problems by how much they matter: errors first, notes last."""
    return sorted(problems, key=lambda problem: _ORDER.index(problem.level))
