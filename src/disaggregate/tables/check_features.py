"""Checks of the features: each should distinguish individuals, and do nothing else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import numpy as np
import pandas as pd

from disaggregate.tables.check_counts import cell_problems
from disaggregate.tables.check_rows import repeated_rows
from disaggregate.tables.check_values import number_category_problems, sentinel_problems
from disaggregate.tables.kinds import Kind, kind_of, levels_of, numbers_of, text_of
from disaggregate.tables.messages import plural, some
from disaggregate.tables.problems import Level, Problem, TableError, column_of
from disaggregate.tables.roles import OF_PEOPLE, OF_RESULTS, Roles

Finding = tuple[Level, str, str]

_MANY_LEVELS = 50
_NEARLY_ALL = 0.95
ENOUGH_ROWS = 10  # below, every column has nearly as many values as rows
_LONG_NUMBER = 10**7
_ID_NAME = re.compile(r"(?i:(?:^|[^a-z])(?:id|uid|uuid|key|index|serial|nr|no)(?:[^a-z]|$))|[a-z]I[Dd]$")
_LIKE_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}.*")


def feature_problems(people: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield what is wrong with the features, or may be.

    Parameters
    ----------
    people : DataFrame
        One row per individual, or per cell.
    roles : Roles
        Roles of the columns.
    """
    n_distinct = len(people) - int(repeated_rows(people).sum())
    for name in roles.features:
        for level, message, kind in _findings(people[name], people[roles.group], n_distinct):
            yield Problem(level, column_of("people", name), message, kind)
        yield from _value_problems(people[name])
    yield from cell_problems(people, roles)
    taken = {name for role in (*OF_PEOPLE, "ignore") for name in roles.names(role)}
    for role in OF_RESULTS:
        for name in roles.names(role):
            if name in people and name not in taken:
                yield Problem(
                    "advice",
                    column_of("people", name),
                    f"is not a feature, because its name is that of the {role} in results; list the features to "
                    "use it.",
                )


def _value_problems(column: pd.Series) -> Iterator[Problem]:
    """Yield what single values show."""
    name = str(column.name)
    try:
        kind = kind_of(column)
        if kind == "number":
            yield from sentinel_problems(name, numbers_of(column))
        elif kind == "category":
            levels = pd.Series(pd.unique(levels_of(column)), dtype=object).dropna()
            if len(levels) and not all(_LIKE_DATE.fullmatch(level) for level in levels):
                yield from number_category_problems(name, levels)
                yield from _spellings(name, levels)
    except TableError:
        return  # reported already


def _spellings(name: str, levels: pd.Series) -> Iterator[Problem]:
    """Warn of levels that differ only in capitals, blanks, or how accents are stored."""
    by_spelling: dict[str, list[str]] = {}
    for level in levels:
        by_spelling.setdefault(unicodedata.normalize("NFC", " ".join(level.casefold().split())), []).append(level)
    twice = [spelt for spelt in by_spelling.values() if len(spelt) > 1]
    if twice:
        yield Problem(
            "warning",
            column_of("people", name),
            f"{plural(len(twice), 'level is', 'levels are')} spelt in several ways, such as {some(twice[0])}, and "
            "each counts as a level; spell them alike.",
            "spelling",
        )


def _findings(column: pd.Series, groups: pd.Series, n_distinct: int) -> Iterator[Finding]:
    try:
        kind = kind_of(column)
        values = _comparable(column, kind)
    except TableError as error:
        yield "error", str(error), "type"
        return
    n_infinite = int(np.isinf(values.to_numpy()).sum()) if kind == "number" else 0
    if n_infinite:
        yield (
            "error",
            f"{plural(n_infinite, 'value')} infinite; leave the field empty where nothing is known.",
            "infinite",
        )
    n_values = values.nunique()
    if n_values + values.hasnans <= 1:
        yield "warning", _constant(values, kind), "constant"
        return
    if values.hasnans:
        yield "advice", _missing(values, kind), "missing"
    if _is_constant_within(values, groups):
        yield (
            "warning",
            "is constant within every group: it distinguishes groups, but not individuals inside one.",
            "constant",
        )
    if _is_id(values, kind, n_values, n_distinct):
        yield (
            "warning",
            f"seems to be an id: {n_values} values in {len(values)} rows. Nothing can be learned from the names "
            "of people; ignore it.",
            "id",
        )
    elif kind == "category":
        yield from _category_findings(values, n_values)


def _comparable(column: pd.Series, kind: Kind) -> pd.Series:
    if kind == "category":
        return pd.Series(levels_of(column), name=column.name, dtype=object)
    if kind == "number":
        return pd.Series(numbers_of(column), name=column.name)
    return column


def _constant(values: pd.Series, kind: Kind) -> str:
    if values.hasnans:
        return "holds no values: it does not distinguish people; ignore it."
    what = "has one level" if kind == "category" else "is constant"
    return f"{what}, {text_of(values.iloc[0])}: it does not distinguish people; ignore it."


def _missing(values: pd.Series, kind: Kind) -> str:
    n_missing = int(values.isna().sum())
    how = "they become a level" if kind == "category" else "they are filled with the median and marked by a column"
    return f"{n_missing} of {len(values)} values missing ({n_missing / len(values):.1%}); {how} of their own."


def _is_constant_within(values: pd.Series, groups: pd.Series) -> bool:
    codes = pd.Series(pd.factorize(values)[0])
    by_group = codes.groupby(pd.factorize(groups)[0])
    return bool(by_group.size().max() > 1 and (by_group.max() == by_group.min()).all())


def _is_id(values: pd.Series, kind: Kind, n_values: int, n_distinct: int) -> bool:
    if n_distinct < ENOUGH_ROWS or n_values < _NEARLY_ALL * n_distinct or kind == "date":
        return False
    if kind == "category":
        return not _look_like_dates(values)
    return _are_id_numbers(values.dropna().to_numpy(), str(values.name))


def _are_id_numbers(numbers: np.ndarray, name: str) -> bool:
    """Distinguish ids from amounts that happen to differ: row numbers, long numbers, or a name that says so."""
    if not np.isfinite(numbers).all() or (numbers != np.rint(numbers)).any():
        return False
    is_dense = numbers.max() - numbers.min() < 2 * len(numbers)
    return bool(is_dense or numbers.min() >= _LONG_NUMBER or _ID_NAME.search(name))


def _look_like_dates(values: pd.Series) -> bool:
    return all(_LIKE_DATE.fullmatch(level) for level in values.dropna())


def _category_findings(values: pd.Series, n_levels: int) -> Iterator[Finding]:
    levels = pd.Series(values.dropna().unique(), dtype=object)
    if _look_like_dates(levels):
        yield (
            "advice",
            f"looks like dates ({levels.iloc[0]!r}) but is read as a category; write them as 2024-01-31.",
            "dates",
        )
        return
    if n_levels > _MANY_LEVELS:
        yield (
            "warning",
            f"has {n_levels} levels, more than {_MANY_LEVELS}; rare ones are pooled. Join levels into fewer, or "
            "ignore it.",
            "many levels",
        )
