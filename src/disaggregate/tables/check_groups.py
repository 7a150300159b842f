"""Checks of the groups: the ids of the two tables should name the same ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import pandas as pd

from disaggregate.tables.counts import n_people_by_group, sound_counts
from disaggregate.tables.ids import Ids, group_ids
from disaggregate.tables.messages import nearest, plural, some
from disaggregate.tables.problems import Problem
from disaggregate.tables.roles import Roles
from disaggregate.tables.row_numbers import row_numbers

_FEW = 5


def group_problems(people: pd.DataFrame, results: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield what is wrong with the group ids of either table, and with the groups that they form.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual, or per cell with a count of people; one row per group.
    roles : Roles
        Roles of the columns.
    """
    of_people, of_results = group_ids(people, results, roles.group)
    yield from _missing_ids("people", of_people, people.index)
    yield from _missing_ids("results", of_results, results.index)
    n_people = n_people_by_group(of_people, sound_counts(people, roles))
    reported = dict.fromkeys(group for group in of_results if group is not None)
    yield from _unmatched(n_people, list(reported))
    n_shared = sum(group in reported for group in n_people)
    if 0 < n_shared < _FEW:
        yield Problem(
            "warning",
            "results",
            f"{plural(n_shared, 'group')} with people and a result; with fewer than {_FEW} little can be learned "
            "about how individuals differ.",
        )
    yield from _groups_of_one([group for group, n in n_people.items() if n == 1 and group in reported])


def _missing_ids(table: str, ids: Ids, index: pd.Index) -> Iterator[Problem]:
    rows = row_numbers(index, [position for position, group in enumerate(ids) if group is None])
    if rows:
        yield Problem(
            "error",
            table,
            f"{plural(len(rows), 'row')} without a group id (row {some(rows)}); drop or fill them. Empty "
            "fields, NA, None and null are no ids: a group of such a name needs another.",
        )


def _unmatched(n_people: Mapping[Hashable, int], of_results: Sequence[Hashable]) -> Iterator[Problem]:
    of_people = list(n_people)
    without_result = [group for group in of_people if group not in set(of_results)]
    without_people = [group for group in of_results if group not in set(of_people)]
    if of_people and len(without_result) == len(of_people):
        yield Problem(
            "error",
            "results",
            f"no group of people has a result: people has {some(of_people)}, results has {some(of_results)}; "
            f"spell the ids alike.{_hint(without_result, without_people)}",
            "groups",
        )
        return
    n_all = sum(n_people.values())
    n_lost = sum(n_people[group] for group in without_result)
    if without_result:
        yield Problem(
            "warning",
            "results",
            f"{plural(len(without_result), 'group')} of people without a result: {some(without_result)}; nothing "
            f"is learned from their {n_lost:,} of {n_all:,} people, but they get predictions."
            f"{_hint(without_result, without_people)}",
            "groups",
        )
    if without_people:
        yield Problem(
            "warning",
            "people",
            f"{plural(len(without_people), 'result')} without people: {some(without_people)}; left out.",
            "groups",
        )


def _hint(without_result: Sequence[Hashable], without_people: Sequence[Hashable]) -> str:
    """Guess at ids that were spelt differently in the two tables."""
    bare = {_bare(group): group for group in without_people}
    for group in without_result:
        if _bare(group) in bare:
            return f" Leading zeros or blanks differ: {group!r} and {bare[_bare(group)]!r}."
    for group in without_result[:20]:
        meant = nearest(group, without_people) if isinstance(group, str) and len(group) > 3 else None
        if meant is not None:
            return f" Are {group!r} and {meant!r} the same?"
    return ""


def _bare(group: Hashable) -> str:
    return str(group).strip().casefold().lstrip("0")


def _groups_of_one(groups: Sequence[Hashable]) -> Iterator[Problem]:
    if groups:
        yield Problem(
            "warning",
            "people",
            f"{plural(len(groups), 'group')} of one person: {some(groups)}; the result of one person is that "
            "person's own answer. Ask whether it may be used.",
        )
