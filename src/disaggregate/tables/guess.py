"""Guesses which column plays which role, from names and values; the owner of the tables confirms it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd
from pandas.api import types

PEOPLE_ROLES = ("feature", "group", "weight", "count", "ignore")
RESULTS_ROLES = ("group", "share", "positives", "total", "size", "ignore")

_SHARE = re.compile(r"share|pct|percent|prop|rate|frac|%", re.IGNORECASE)
_WEIGHT = re.compile(r"^(w|wt|wgt|weights?|pweight|.*_weight|weight_.*|perwt|pwgtp)$", re.IGNORECASE)
_COUNT = re.compile(r"^(n|count|freq|frequency|people|n_people|persons)$", re.IGNORECASE)
_SIZE = re.compile(r"size|pop|voters|votes|electorate|total|valid|people|^n$", re.IGNORECASE)
_POSITIVES = re.compile(r"yes|positive|sold|wins?$|count|for$|cases", re.IGNORECASE)
_ID = re.compile(r"^(id|.*_id|case.?id|uuid|name|index|unnamed.*)$", re.IGNORECASE)
_MOST_LEVELS = 0.5


@dataclass(frozen=True)
class Guess:
    """A role for each column of people and of results, and whether the people are a sample of their group."""

    people: dict[str, str]
    results: dict[str, str]
    sampled: bool


def guess_roles(people: pd.DataFrame, results: pd.DataFrame) -> Guess:
    """Guess which column is what.

    Parameters
    ----------
    people, results : DataFrame
        One row per person, or per cell; one row per group.
    """
    own, other = _group_pair(people, results)
    of_results = dict.fromkeys(map(str, results.columns), "ignore")
    if other is not None:
        of_results[other] = "group"
    rest = [name for name in results if name != other and _is_number(results[name])]
    of_results |= _reported(results, rest)
    of_people = {str(name): _of_people(people[name], str(name)) for name in people}
    for name in of_people:
        if name == own:
            of_people[name] = "group"
        elif name in of_results and of_results[name] != "ignore":
            of_people[name] = "ignore"  # a result of the group is not a feature of a person
    per_group = len(people) / max(len(results), 1)
    size = next((name for name in rest if of_results[name] == "size"), None)
    sampled = size is not None and float(results[size].median()) > 2.0 * per_group
    if size is not None and not sampled:
        of_results[size] = "ignore"
    return Guess(of_people, of_results, sampled)


def _group_pair(people: pd.DataFrame, results: pd.DataFrame) -> tuple[str | None, str | None]:
    """Find the pair of columns that share most of their values; equal names break ties."""
    best: tuple[float, str | None, str | None] = (0.3, None, None)
    for other in results:
        ids = set(results[other].dropna().map(_text))
        if not ids or len(ids) < 0.9 * len(results):
            continue
        for own in people:
            if people[own].nunique() > 2 * len(ids) + 10:
                continue
            values = set(people[own].dropna().map(_text))
            common = len(ids & values) / max(len(values), 1)
            score = common + 0.25 * (str(own).casefold() == str(other).casefold())
            if score > best[0]:
                best = (score, str(own), str(other))
    if best[1] is None:
        shared = [str(name) for name in people if name in results]
        return (shared[0], shared[0]) if shared else (None, None)
    return best[1], best[2]


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().casefold().lstrip("0")


def _reported(results: pd.DataFrame, names: list[str]) -> dict[str, str]:
    """Find the share, or a count and its total, and the size of the groups."""
    roles: dict[str, str] = {}
    shares = [name for name in names if _is_share(results[name])]
    shares.sort(key=lambda name: not _SHARE.search(str(name)))
    if shares and (_SHARE.search(str(shares[0])) or len(shares) == 1):
        roles[str(shares[0])] = "share"
    counts = [name for name in names if name not in shares and _is_whole(results[name])]
    if not roles:
        for name in counts:
            totals = [one for one in counts if one != name and (results[one] >= results[name]).all()]
            if totals and (_POSITIVES.search(str(name)) or len(counts) == 2):
                total = min(totals, key=lambda one: float(results[one].sum()))
                return {str(name): "positives", str(total): "total"}
        return roles
    size = next((name for name in counts if _SIZE.search(str(name))), None)
    return roles if size is None else {**roles, str(size): "size"}


def _of_people(column: pd.Series, name: str) -> str:
    if _is_number(column):
        if _WEIGHT.match(name) and (column.dropna() >= 0).all():
            return "weight"
        if _COUNT.match(name) and _is_whole(column):
            return "count"
        return "ignore" if _ID.match(name) and column.nunique() == len(column) else "feature"
    many = column.nunique() > max(20, _MOST_LEVELS * len(column))
    return "ignore" if column.nunique() < 2 or many or (_ID.match(name) and column.nunique() > 50) else "feature"


def _is_number(column: pd.Series) -> bool:
    return types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)


def _is_whole(column: pd.Series) -> bool:
    known = column.dropna()
    return bool(len(known) and (known % 1 == 0).all() and (known >= 0).all())


def _is_share(column: pd.Series) -> bool:
    known = column.dropna()
    if not len(known) or not ((known >= 0) & (known <= 100)).all():
        return False
    return bool((known <= 1).all() or _SHARE.search(str(column.name)))
