"""Names of columns, checked against the tables of people and of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Unpack

import pandas as pd

from disaggregate.tables.column_roles import (
    OF_PEOPLE,
    OF_RESULTS,
    ROLES,
    ColumnNames,
    Roles,
    require_roles,
    takes_columns,
)
from disaggregate.tables.messages import nearest, shown_name, some
from disaggregate.tables.problems import TableError

__all__ = ["OF_PEOPLE", "OF_RESULTS", "ROLES", "Roles", "columns_without_role", "resolve_roles"]

_KINDS_OF_RESULT = tuple(name for name in OF_RESULTS if not ROLES[name].of_outcomes)


@takes_columns
def resolve_roles(
    people: pd.DataFrame,
    results: pd.DataFrame,
    *,
    group: str,
    confidence: str | None = None,
    **columns: Unpack[ColumnNames],
) -> Roles:
    """Check every name, and let all columns of people without a role be features unless some are named.

    By default a column of people whose name plays a role in results is no feature.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual, or per cell with a count of people; one row per group.
    group : str
        Group id, in both tables.
    {columns}
    confidence : str, optional
        Column of results: confidence in the share.
    """
    require_roles(columns)
    given: dict[str, Any] = {**columns}
    counted, rest = _names(given.pop("positives", None) or ()), given.get("rest")
    is_tally = len(counted) > 1 or (bool(counted) and rest is not None)
    others: dict[str, Any] = {
        name: _names(value or ()) if ROLES[name].several else value for name, value in given.items()
    }
    roles = Roles(
        group=group,
        positives=None if is_tally or not counted else counted[0],
        tallies=counted if is_tally else (),
        confidence=confidence,
        **others,
    )
    unknown = _unknown_names(roles, people, results)
    complaints = [*unknown, *_clashes(roles), *_incomplete(roles, results)]
    if unknown and len(people) < len(results) and not _unknown_names(roles, results, people):
        complaints.append("The tables seem to be swapped: the table of people comes first, then that of results.")
    if complaints:
        raise TableError("\n".join(complaints))
    return roles if roles.features else _with_default_features(roles, people)


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _unknown_names(roles: Roles, people: pd.DataFrame, results: pd.DataFrame) -> list[str]:
    tables = {"people": list(people.columns), "results": list(results.columns)}
    wanted = [("group", roles.group, table) for table in tables]
    wanted += [(role, name, "people") for role in OF_PEOPLE for name in roles.names(role)]
    wanted += [(role, name, "results") for role in OF_RESULTS for name in roles.names(role)]
    wanted += [("ignore", name, "people") for name in roles.ignore if name not in tables["results"]]
    return [_unknown(*index, tables) for index in wanted if index[1] not in tables[index[2]]]


def _unknown(role: str, name: str, table: str, tables: dict[str, list]) -> str:
    meant = nearest(name, tables[table])
    if elsewhere := [other for other in tables if name in tables[other]]:
        if role != "group":
            return f"{role}: {name!r} is a column of {elsewhere[0]}, but {role} is looked for in {table}."
        known = f"Its columns are {some(tables[table])}" if meant is None else f"It has {shown_name(meant)}"
        found = f"{name!r} is a column of {elsewhere[0]}, but not of {table}"
        return f"group: {found}. {known}: call it {name!r} in both."
    hint = f"did you mean {shown_name(meant)}?" if meant is not None else f"its columns are {some(tables[table])}."
    return f"{role}: {table} has no column {name!r}; {hint}"


def _clashes(roles: Roles) -> list[str]:
    played = [(name, role) for role in ROLES if role != "rest" for name in roles.names(role)]
    complaints = []
    for name, times in Counter(name for name, _ in played).items():
        parts = [role for known, role in played if known == name]
        # A name may be a column of either table, with a role in each.
        of_results = [role for role in parts if role in (*OF_RESULTS, "group")]
        of_people = [role for role in parts if role not in OF_RESULTS]
        if times > 1 and max(len(of_results), len(of_people)) > 1:
            complaints.append(f"column {name!r} is given as {' and '.join(parts)}; a column plays one role.")
    return complaints


def _incomplete(roles: Roles, results: pd.DataFrame) -> list[str]:
    of_outcomes = [role for role in ("shares", "tallies") if roles.names(role)]
    if of_outcomes:
        return _incomplete_outcomes(roles, of_outcomes, results)
    if roles.rest is not None:
        return [f"rest: {roles.rest!r} is the remainder of other outcomes; name those as shares or positives."]
    if not any(roles.names(role) for role in ("share", "positives", "low", "high")):
        others = [name for name in results.columns if name != roles.group]
        return [
            "nothing says what the groups report: name a column of results as share, as positives (with total) "
            f"or as low and high; its columns are {some(others)}."
        ]
    return [
        f"{name}: column {roles.names(name)[0]!r} says the {role.help}, so it needs {role.needs[0]} beside it."
        for name, role in ROLES.items()
        if role.needs and roles.names(name) and not any(roles.names(other) for other in role.needs)
    ]


def _incomplete_outcomes(roles: Roles, given: list[str], results: pd.DataFrame) -> list[str]:
    """Say what is missing, or too much, where results are about several outcomes."""
    others = [role for role in _KINDS_OF_RESULT if roles.names(role)]
    if len(given) > 1 or others:
        return [
            f"results give {' and '.join([*given, *others])}; several outcomes have shares or positives, alone."
        ]
    names = [*roles.names(given[0]), *([] if roles.rest is None else [roles.rest])]
    if len(names) < 2:
        return [
            f"{given[0]}: {names[0]!r} is one outcome; name all of them, or a rest, or give it as share or "
            "positives of that one."
        ]
    if roles.rest in roles.names(given[0]):
        return [f"rest: {roles.rest!r} is the name of another outcome."]
    return []


def columns_without_role(roles: Roles, people: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns of people that play no role, but for that of a feature."""
    others = [role for role in ROLES if role not in ("features", "rest")]
    taken = {name for role in others for name in roles.names(role)}
    return tuple(name for name in people.columns if name not in taken)


def _with_default_features(roles: Roles, people: pd.DataFrame) -> Roles:
    rest = columns_without_role(roles, people)
    if not rest:
        raise TableError(
            f"people has no column left to be a feature: {some(list(people.columns))} all play other roles or "
            "are ignored."
        )
    return replace(roles, features=rest)
