"""Checks of how much rows count: survey weights, counts of cells, and tables that look like cells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from disaggregate.tables.counts import count_faults, sound_counts
from disaggregate.tables.kinds import kind_of, numbers_of
from disaggregate.tables.messages import plural
from disaggregate.tables.problems import Problem, TableError, column_of
from disaggregate.tables.roles import Roles, columns_without_role

_NAMES = {
    *("count", "counts", "n", "pop", "population", "people", "persons", "total", "freq", "frequency"),
}


def count_problems(people: pd.DataFrame, roles: Roles, sampled: bool) -> Iterator[Problem]:
    """Yield what is wrong with the counts: values that count no people, or a survey weight that has no meaning.

    Parameters
    ----------
    people : DataFrame
        One row per cell.
    roles : Roles
        Roles of the columns.
    sampled : bool
        Whether the people are a random sample of the group that the results describe.
    """
    for name in roles.names("count"):
        for fault in count_faults(people[name]):
            yield Problem("error", column_of("people", name), fault)
    if roles.count is not None and roles.weight is not None and not sampled:
        yield Problem(
            "error",
            column_of("people", roles.weight),
            f"a survey weight beside the count {roles.count!r} is for people who are a sample of their group; say "
            "so (sampled), or leave the weight out.",
        )
    counts = sound_counts(people, roles)
    n_without = 0 if counts is None else int((counts == 0).sum())
    if counts is not None and n_without == len(counts):
        yield Problem("error", column_of("people", roles.count), "no count is above 0; no person would count.")
    elif n_without:
        who = plural(n_without, "row has", "rows have")
        yield Problem("advice", column_of("people", roles.count), f"{who} count 0; the fit leaves them out.")


def cell_problems(people: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Warn of columns that were not named as features, and that look like the number of people per row.

    Parameters
    ----------
    people : DataFrame
        One row per person, as far as the roles say.
    roles : Roles
        Roles of the columns.
    """
    rest = columns_without_role(roles, people)
    if roles.count is not None or set(rest) != set(roles.features):
        return  # the features were chosen by name
    for name in rest:
        if str(name).strip().casefold() in _NAMES and _could_be_counts(people[name]):
            yield Problem(
                "warning",
                column_of("people", name),
                "looks like the number of people per row; if each row is a cell of several people, give --count "
                f'{name} (in Python count="{name}"); if not, ignore this.',
            )


def weight_problems(people: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield what is wrong with the weights: text, missing, infinite or negative values, or nothing but zeros.

    Parameters
    ----------
    people : DataFrame
        One row per individual, or per cell.
    roles : Roles
        Roles of the columns.
    """
    for name in (*roles.names("weight"), *roles.replicates):
        for complaint in _weight_complaints(people[name]):
            yield Problem("error", column_of("people", name), complaint)
    counts = sound_counts(people, roles)
    for name in roles.names("weight"):
        without = (pd.to_numeric(people[name], errors="coerce") == 0.0).to_numpy(dtype=bool, na_value=False)
        n_without = int(without.sum() if counts is None else counts[without].sum())
        if n_without and not without.all():
            who = plural(n_without, "person has", "people have")
            yield Problem("advice", column_of("people", name), f"{who} weight 0; the fit leaves them out.")


def _could_be_counts(column: pd.Series) -> bool:
    try:
        if kind_of(column) != "number":
            return False
        values = numbers_of(column)
    except TableError:
        return False
    whole = np.isfinite(values) & (values >= 1.0) & (values == np.rint(values))
    return bool(len(values) and whole.all() and (values > 1.0).any())


def _weight_complaints(column: pd.Series) -> Iterator[str]:
    try:
        weights = numbers_of(column)
    except TableError as error:
        yield f"weights must be numbers: {error}"
        return
    faults = {
        "missing": np.isnan(weights),
        "infinite": np.isinf(weights),
        "negative": weights < 0.0,
    }
    for fault, where in faults.items():
        if where.any():
            yield (
                f"{plural(int(where.sum()), 'weight')} {fault}; expected a number of 0 or more for every person. "
                "Drop these people, or give weight 0 to those who should not count."
            )
    if not (weights > 0.0).any():
        yield "no weight is above 0; no person would count."
