"""Checks of whether groups differ in a feature at all: where they do not, their results say nothing about it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from disaggregate.tables.between_groups import sums_of_squares
from disaggregate.tables.counts import Counts, read_counts, sound_counts
from disaggregate.tables.kinds import days_of, kind_of, levels_of, numbers_of
from disaggregate.tables.messages import some
from disaggregate.tables.problems import Problem, TableError
from disaggregate.tables.roles import Roles

_MOST_LEVELS = 50
_ENOUGH_PEOPLE = 100  # with fewer, groups that differ do not always show it


def spread_problems(people: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Warn of features in which groups differ no more than groups formed at random.

    Parameters
    ----------
    people : DataFrame
        One row per individual, or per cell.
    roles : Roles
        Roles of the columns.
    """
    groups = pd.factorize(people[roles.group])[0]
    counts = read_counts(sound_counts(people, roles), len(people))
    alike = []
    for name in roles.features:
        columns = _columns(people[name])
        if columns is not None and not _groups_differ(columns, groups, counts):
            alike.append(name)
    if alike:
        effect = "its effect" if len(alike) == 1 else "the effects"
        yield Problem(
            "advice",
            "people",
            f"groups differ no more than by chance in {some(alike)}: their results say little about {effect}, "
            "which will rest on the model's assumptions.",
            "no spread",
        )


def _columns(column: pd.Series) -> np.ndarray | None:
    """Return a number, days, or an indicator per level; None where there is nothing to compare."""
    try:
        kind = kind_of(column)
        if kind != "category":
            return (days_of(column) if kind == "date" else numbers_of(column))[:, np.newaxis]
    except TableError:
        return None
    codes, levels = pd.factorize(levels_of(column))
    if not 1 < len(levels) <= _MOST_LEVELS:
        return None
    indicators = (codes[:, np.newaxis] == np.arange(len(levels))).astype(np.float64)
    return np.where(codes[:, np.newaxis] < 0, np.nan, indicators)


def _groups_differ(columns: np.ndarray, groups: np.ndarray, counts: Counts) -> bool:
    """Compare the variance between groups with that within: an F statistic above 1, over all columns."""
    known = np.isfinite(columns).all(axis=1) & (groups >= 0) & (counts > 0)
    present, people = groups[known], counts[known]
    n_groups, n_people = len(np.unique(present)), int(people.sum())
    if n_groups < 2 or n_people < max(_ENOUGH_PEOPLE, n_groups + 1):
        return True
    found = sums_of_squares(columns[known], present, people)
    if found is None:
        return True  # constant, or beyond all floats: reported elsewhere
    between = float(found.between.sum())
    return between / (n_groups - 1) > (found.total - between) / (n_people - n_groups)
