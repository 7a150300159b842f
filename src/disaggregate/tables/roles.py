"""Which column plays which role in the tables of people and of results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import pandas as pd

from disaggregate.tables.messages import nearest, some
from disaggregate.tables.problems import TableError

OF_RESULTS = ("share", "positives", "total", "confidence", "low", "high", "noise", "size", "shares", "tallies")
OF_PEOPLE = ("count", "weight", "replicates", "features")
_NEEDS = {
    "total": (("positives", "tallies"), "the number of people among whom the positives were counted"),
    "noise": (("positives",), "the scale of the noise on a count"),
    "confidence": (("share", "shares"), "how far a share is trusted"),
}


@dataclass(frozen=True)
class Roles:
    """Column names by the role that they play.

    Parameters
    ----------
    group : str
        Group id, in both tables.
    share, positives, total, confidence, low, high, noise, size : str, optional
        Of results: the share of positives; or their count, among how many, and the scale of its noise; or the
        lowest and highest possible share or count; the confidence in a share; the size of the population of
        which the people are a sample.
    count : str, optional
        Of people: how many people a row stands for, where rows are the cells of a table; one each without it.
    weight : str, optional
        Of people: the survey weight.
    replicates : tuple of str
        Of people: the replicate weights.
    features : tuple of str
        Of people: what tells individuals apart.
    ignore : tuple of str
        Columns that play no role.
    shares, tallies : tuple of str
        Of results, for several outcomes: the share of each, or how many people have it; the columns name the
        outcomes.
    rest : str, optional
        Name of the outcome that is left of the whole by those in ``shares`` or ``tallies``; no column.
    """

    group: str
    share: str | None = None
    positives: str | None = None
    total: str | None = None
    confidence: str | None = None
    low: str | None = None
    high: str | None = None
    noise: str | None = None
    size: str | None = None
    count: str | None = None
    weight: str | None = None
    replicates: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    tallies: tuple[str, ...] = ()
    rest: str | None = None

    @property
    def names_outcomes(self) -> bool:
        """Whether results are about several outcomes."""
        return bool(self.shares or self.tallies)

    def names(self, role: str) -> tuple[str, ...]:
        """Return the columns that play a role, none, one or several."""
        value = getattr(self, role)
        if value is None:
            return ()
        return value if isinstance(value, tuple) else (value,)


def resolve_roles(
    people: pd.DataFrame,
    results: pd.DataFrame,
    *,
    group: str,
    share: str | None = None,
    positives: str | Iterable[str] | None = None,
    total: str | None = None,
    confidence: str | None = None,
    low: str | None = None,
    high: str | None = None,
    noise: str | None = None,
    size: str | None = None,
    count: str | None = None,
    weight: str | None = None,
    replicates: str | Iterable[str] = (),
    features: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    shares: str | Iterable[str] = (),
    rest: str | None = None,
) -> Roles:
    """Check every name, and let all columns of people without a role be features unless some are named.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual, or per cell with a count of people; one row per group.
    group : str
        Group id, in both tables.
    share, positives, total, confidence, low, high, noise, size, count, weight : str, optional
        As in :class:`Roles`.
        ``positives`` may be several columns, one per outcome, which are then the ``tallies``.
    replicates, features, ignore : str or iterable of str
        As in :class:`Roles`. By default a column of people whose name plays a role in results is no feature.
    shares : str or iterable of str
        As in :class:`Roles`.
    rest : str, optional
        As in :class:`Roles`.
    """
    counted = _names(positives or ())
    is_tally = len(counted) > 1 or (bool(counted) and rest is not None)
    roles = Roles(
        group=group,
        share=share,
        positives=None if is_tally or not counted else counted[0],
        tallies=counted if is_tally else (),
        shares=_names(shares),
        rest=rest,
        total=total,
        confidence=confidence,
        low=low,
        high=high,
        noise=noise,
        size=size,
        count=count,
        weight=weight,
        replicates=_names(replicates),
        features=_names(features),
        ignore=_names(ignore),
    )
    complaints = [*_unknown_names(roles, people, results), *_clashes(roles), *_incomplete(roles, results)]
    if complaints:
        raise TableError("\n".join(complaints))
    return roles if roles.features else _with_all_the_rest(roles, people)


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
        known = f"Its columns are {some(tables[table])}" if meant is None else f"It has {meant!r}"
        told = f"{name!r} is a column of {elsewhere[0]}, but not of {table}"
        return f"group: {told}. {known}: call it {name!r} in both."
    hint = f"did you mean {meant!r}?" if meant is not None else f"its columns are {some(tables[table])}."
    return f"{role}: {table} has no column {name!r}; {hint}"


def _clashes(roles: Roles) -> list[str]:
    played = [
        (name, field.name) for field in fields(roles) if field.name != "rest" for name in roles.names(field.name)
    ]
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
        return [f"rest: {roles.rest!r} is what named outcomes leave; name these as shares or positives."]
    if not any(roles.names(role) for role in ("share", "positives", "low", "high")):
        others = [name for name in results.columns if name != roles.group]
        return [
            "nothing says what the groups report: name a column of results as share, as positives (with total) "
            f"or as low and high; its columns are {some(others)}."
        ]
    return [
        f"{role}: column {roles.names(role)[0]!r} says {meaning}, so it needs {needed[0]} beside it."
        for role, (needed, meaning) in _NEEDS.items()
        if roles.names(role) and not any(roles.names(other) for other in needed)
    ]


def _incomplete_outcomes(roles: Roles, given: list[str], results: pd.DataFrame) -> list[str]:
    """Say what is missing, or too much, where results are about several outcomes."""
    others = [role for role in ("share", "positives", "low", "high", "noise") if roles.names(role)]
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
    if len(set(names)) < len(names):
        return [f"rest: {roles.rest!r} is the name of another outcome."]
    return []


def all_the_rest(roles: Roles, people: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns of people that play no role, but for that of a feature."""
    others = [field.name for field in fields(roles) if field.name not in ("features", "rest")]
    taken = {name for role in others for name in roles.names(role)}
    return tuple(name for name in people.columns if name not in taken)


def _with_all_the_rest(roles: Roles, people: pd.DataFrame) -> Roles:
    rest = all_the_rest(roles, people)
    if not rest:
        raise TableError(
            f"people has no column left to be a feature: {some(list(people.columns))} all play other roles or "
            "are ignored."
        )
    return replace(roles, features=rest)
