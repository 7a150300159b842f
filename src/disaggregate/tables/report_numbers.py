"""The columns of results as numbers, and what is wrong with them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from disaggregate.tables.kinds import is_text, is_yes_no, numbers_of
from disaggregate.tables.messages import plural, some
from disaggregate.tables.problems import Problem, TableError, column_of
from disaggregate.tables.roles import OF_RESULTS, ROLES, Roles

Numbers = dict[str, np.ndarray]

_BOUNDS = ("low", "high")


def report_numbers(results: pd.DataFrame, roles: Roles) -> tuple[Numbers, list[Problem]]:
    """Read the columns of results that play a role, NaN where empty; list what is wrong with each.

    Parameters
    ----------
    results : DataFrame
        One row per group.
    roles : Roles
        Roles of the columns.
    """
    numbers: Numbers = {}
    problems = []
    for role in OF_RESULTS:
        for name in roles.names(role):
            try:
                numbers[role] = _numbers(results[name])
                _require_range(role, numbers[role], results[roles.group], has_noise=roles.noise is not None)
            except TableError as error:
                problems.append(Problem("error", column_of("results", name), f"{role}: {error}"))
    if not problems and (complaint := _bounds_complaint(numbers)):
        problems.append(Problem("error", "results", complaint))
    return numbers, problems


def bounds_are_shares(numbers: Numbers) -> bool:
    """Return whether bounds are on shares, not on counts: counts are whole numbers throughout."""
    bounds = _bounds(numbers)
    return bool((bounds != np.rint(bounds)).any())


def _numbers(column: pd.Series) -> np.ndarray:
    if is_yes_no(column) and column.notna().any():
        raise TableError("expected numbers, got True and False; write 1 and 0 for all and none.")
    texts = column.dropna().astype(str) if is_text(column) else pd.Series(dtype=object)
    percent = texts[texts.str.contains("%", regex=False)] if len(texts) else texts
    if len(percent):
        raise TableError(
            f"expected numbers, got text with a percent sign such as {percent.iloc[0]!r}; write shares from 0 to "
            "1 (0.523 for 52.3 %)."
        )
    return numbers_of(column)


def _require_range(role: str, values: np.ndarray, groups: pd.Series, *, has_noise: bool) -> None:
    kind = ROLES[role].values
    if kind != "confidences":  # infinite confidence is an exact share
        _refuse("finite numbers", np.isinf(values), values, groups)
    if kind == "shares":
        _require_shares(values, groups)
    elif role == "positives" and has_noise:
        return  # noise may make a count negative or fractional
    elif kind == "counts":
        broken = ~np.isnan(values) & (values != np.rint(values))
        _refuse("whole numbers of 0 or more", broken | (values < 0), values, groups)
    else:
        _refuse("numbers of 0 or more", values < 0, values, groups)


def _require_shares(values: np.ndarray, groups: pd.Series) -> None:
    known = values[~np.isnan(values)]
    above = known > 1.0
    if above.sum() > len(known) / 2 and known.min() >= 0.0 and known.max() <= 100.0:
        raise TableError(
            f"expected shares from 0 to 1, got values up to {known.max():g}, which look like percentages; divide "
            "the column by 100."
        )
    _refuse("shares from 0 to 1", (values < 0.0) | (values > 1.0), values, groups)


def _refuse(expected: str, wrong: np.ndarray, values: np.ndarray, groups: pd.Series) -> None:
    if not wrong.any():
        return
    names = groups[wrong].to_list()
    raise TableError(
        f"expected {expected}, got {values[wrong][0]:g} in group {names[0]!r} "
        f"({plural(len(names), 'group')}: {some(names)}); correct the value, or leave it empty."
    )


def _bounds_complaint(numbers: Numbers) -> str | None:
    bounds = _bounds(numbers)
    if bounds_are_shares(numbers) and (bounds > 1.0).any():
        return (
            f"low and high must be shares from 0 to 1 or whole counts throughout, got {bounds.max():g} beside "
            "fractions; divide percentages by 100."
        )
    return None


def _bounds(numbers: Numbers) -> np.ndarray:
    bounds = np.concatenate([np.empty(0), *(numbers[role] for role in _BOUNDS if role in numbers)])
    return bounds[~np.isnan(bounds)]
