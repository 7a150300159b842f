"""Shares of groups that run from 0 to 100 are read as percentages, where nothing else is possible."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from disaggregate.tables.kinds import is_yes_no, numbers_of
from disaggregate.tables.messages import plural
from disaggregate.tables.problems import Choice, Problem, TableError, column_of
from disaggregate.tables.reading import Reading
from disaggregate.tables.roles import Roles

_SAYS_PERCENT = re.compile(r"(?i)%|per ?cent|pct|prozent|pourcent|porcent")
# Shares that are all just above 1 may be percentages of something rare, or mistakes.
_SURELY_PERCENT = 2.0
CHOICES = (
    Choice("shares_in", "percent", "values run from 0 to 100"),
    Choice("shares_in", "fraction", "values run from 0 to 1"),
)


def with_fractions(
    results: pd.DataFrame, roles: Roles, reading: Reading, percent: frozenset[str] = frozenset()
) -> tuple[pd.DataFrame, list[Problem]]:
    """Divide shares, and bounds of shares, by 100 where they are percentages.

    Parameters
    ----------
    results : DataFrame
        One row per group.
    roles : Roles
        Roles of the columns.
    reading : Reading
        What the owner says of the shares.
    percent : frozenset of str
        Columns that had percent signs, and are fractions already.

    Returns
    -------
    results : DataFrame
        With shares from 0 to 1; other columns, and shares that are no percentages, as they were.
    problems : list of Problem
        What was done, or the choice to make.
    """
    problems: list[Problem] = []
    changed = {}
    for role in ("share", "low", "high"):
        for name in roles.names(role):
            values = _values(results[name])
            if values is None or name in percent:
                problems += _bounds_of_percent(role, name, values)
                continue
            is_percent, found = _judged(role, name, values, reading)
            problems += found
            if is_percent:
                changed[name] = values / 100.0
    return results.assign(**changed) if changed else results, problems


def _values(column: pd.Series) -> np.ndarray | None:
    if is_yes_no(column):
        return None
    try:
        return numbers_of(column)
    except TableError:
        return None  # reported as an error when the reports are read


def _bounds_of_percent(role: str, name: str, values: np.ndarray | None) -> list[Problem]:
    """Stop at bounds such as 100 %, which would be taken for a count of 1."""
    if role == "share" or values is None or not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
        return []
    return [
        Problem(
            "error",
            column_of("results", name),
            f"{role}: bounds of 0 % and 100 % carry no information; leave them empty.",
            "percent",
        )
    ]


def _judged(role: str, name: str, values: np.ndarray, reading: Reading) -> tuple[bool, list[Problem]]:
    known = values[~np.isnan(values)]
    if not len(known) or known.min() < 0.0 or known.max() > 100.0:
        return False, []  # nothing to judge, or refused for its values
    if reading.shares_in is not None:
        return reading.shares_in == "percent" and known.max() > 0.0, []
    where = column_of("results", name)
    n_above, n_between = int((known > 1.0).sum()), int(((known > 0.0) & (known <= 1.0)).sum())
    if role != "share":
        return False, []  # counts, or shares that are refused beside counts
    if not n_above:
        return False, _named_percent(where, name, known)
    if n_between or known.max() <= _SURELY_PERCENT:
        return False, [Problem("error", where, _mixed(n_above, n_between, known), "percent", CHOICES)]
    said = (
        f"share: values up to {known.max():g} are percentages: {known.max():g} is read as {known.max() / 100:g}."
    )
    return True, [Problem("note", where, said, "percent")]


def _mixed(n_above: int, n_between: int, known: np.ndarray) -> str:
    return (
        f"share: expected shares from 0 to 1, got {plural(n_above, 'value')} above 1 (up to {known.max():g}) "
        f"beside {n_between} from 0 to 1; if all are percentages, say so (--shares-in percent), else correct them."
    )


def _named_percent(where: str, name: str, known: np.ndarray) -> list[Problem]:
    if not _SAYS_PERCENT.search(str(name)) or not known.max() > 0.0:
        return []
    return [
        Problem(
            "advice",
            where,
            f"share: is read as shares from 0 to 1, {known.max():g} being {known.max():.1%}, though its name "
            "mentions percentages; if these run from 0 to 100, say --shares-in percent.",
            "percent",
            CHOICES,
        )
    ]
