"""Names of groups that are spelt differently in two tables, matched where only one match is possible."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import pandas as pd

from disaggregate.tables.ids import Ids, by_spelling, group_ids
from disaggregate.tables.messages import plural, shown_name, some
from disaggregate.tables.problems import Problem


def matches(names: Iterable[Hashable], known: Iterable[Hashable]) -> tuple[dict[Hashable, Hashable], list[tuple]]:
    """Match names to known ones that are spelt a little differently.

    Parameters
    ----------
    names, known : iterable of hashable
        Names of groups.

    Returns
    -------
    matched : dict
        The known name of each name that is not known, where both are the only ones of that spelling.
    unclear : list of tuple
        The names of a spelling, and the known ones, where there are several of either.
    """
    ours, theirs = by_spelling(names), by_spelling(known)
    matched: dict[Hashable, Hashable] = {}
    unclear = []
    for key in ours.keys() & theirs.keys():
        own, other = ours[key], theirs[key]
        if set(own) == set(other):
            continue
        if len(own) == len(other) == 1:
            matched[own[0]] = other[0]
        else:
            unclear.append((own, other))
    return matched, sorted(unclear, key=str)


def match_groups(people: pd.DataFrame, results: pd.DataFrame, group: str) -> tuple[pd.DataFrame, list[Problem]]:
    """Spell the groups of results as people do, where the match is one to one.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual; one row per group.
    group : str
        Name of the column with the ids.

    Returns
    -------
    results : DataFrame
        With names as in people.
    problems : list of Problem
        What was done, or the names between which only their owner can choose.
    """
    of_people, of_results = group_ids(people, results, group)
    matched, unclear = matches(_distinct(of_results), _distinct(of_people))
    problems = [_unclear(theirs, ours) for ours, theirs in unclear]
    if not matched:
        return results, problems
    names = pd.Series([matched.get(name, name) for name in of_results], index=results.index, dtype=object)
    example, meant = next(iter(matched.items()))
    problems.append(
        Problem(
            "note",
            "results",
            f"{plural(len(matched), 'group is', 'groups are')} spelt differently in the two tables, and matched "
            f"one to one: {shown_name(example)} is {shown_name(meant)}.",
            "groups",
        )
    )
    return results.assign(**{group: names.infer_objects()}), problems


def _distinct(ids: Ids) -> Sequence[Hashable]:
    return list(dict.fromkeys(name for name in ids if name is not None))


def _unclear(of_people: Sequence[Hashable], of_results: Sequence[Hashable]) -> Problem:
    return Problem(
        "error",
        "results",
        f"groups of people {some(of_people)} and of results {some(of_results)} differ only in capitals, blanks, "
        "zeros in front or how accents are stored, and several matches are possible; spell each group in one way "
        "in both tables.",
        "groups",
    )
