"""Checks of single values: numbers that stand for "not known", and numbers that are read as categories."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from disaggregate.tables.messages import plural, some
from disaggregate.tables.problems import Problem, column_of

_CODE = re.compile(r"-1|-?([789])\1*|-?9+[78]")  # -1, -99, 999999, 88, 998
_ENOUGH_LEVELS = 10
_LONGEST = 9
# A number that something stands around, such as 45 years, 45k or ="45"; words before it make it a name (Ward 7).
_WRAPPED = re.compile(r"([^\w.,-]*)[-+]?\d[\d.,]*(\D{0,10})")


def sentinel_problems(name: str, numbers: np.ndarray) -> Iterator[Problem]:
    """Warn of values such as -99 or 999999, which stand for "not known" in many tables.

    Parameters
    ----------
    name : str
        The column of people.
    numbers : ndarray
        Its values, NaN where missing.
    """
    known = np.unique(numbers[np.isfinite(numbers)])
    found = [value for value in _extremes(known) if _CODE.fullmatch(f"{value:.0f}") and _is_apart(value, known)]
    if not found:
        return
    n_rows = int(np.isin(numbers, found).sum())
    yield Problem(
        "warning",
        column_of("people", name),
        f"{plural(n_rows, 'value')} of {some([int(value) for value in found])} may be codes for missing values, "
        "but would count as numbers; leave such fields empty.",
        "sentinel",
    )


def number_category_problems(name: str, levels: pd.Series) -> Iterator[Problem]:
    """Warn of categories that are numbers but for some texts among them.

    Parameters
    ----------
    name : str
        The column of people.
    levels : Series of str
        The levels of the category.
    """
    if len(levels) >= _ENOUGH_LEVELS and _are_wrapped(levels):
        yield Problem(
            "warning",
            column_of("people", name),
            f"holds numbers with something around them, such as {levels.iloc[0]!r}, and is read as a category of "
            f"{len(levels)} levels; if it is an amount, leave only the number in each field.",
            "numbers as categories",
        )
        return
    others = levels[pd.to_numeric(levels, errors="coerce").isna()]
    n_numbers = len(levels) - len(others)
    is_mostly = n_numbers >= _ENOUGH_LEVELS and len(others) < n_numbers
    if not is_mostly and not len(others) < 0.1 * len(levels):
        return
    example = f", except for such as {others.iloc[0]!r}" if len(others) else ""
    yield Problem(
        "warning" if is_mostly else "advice",
        column_of("people", name),
        f"holds numbers as text{example}, and is read as a category of {len(levels)} levels; if it is an amount, "
        "leave fields without a number empty.",
        "numbers as categories",
    )


def _are_wrapped(levels: pd.Series) -> bool:
    """Return whether all levels are numbers with the same around them, or with nothing."""
    found = [_WRAPPED.fullmatch(level) for level in levels]
    around = {match.groups() for match in found if match}
    return all(found) and len(around - {("", "")}) == 1


def _extremes(known: np.ndarray) -> list[float]:
    """Return the lowest and highest values, two of each, as -98 may stand beside -99."""
    whole = [
        float(value)
        for value in (*known[:2], *known[-2:])
        if value == np.rint(value) and abs(value) < 10**_LONGEST
    ]
    return list(dict.fromkeys(whole))


def _is_apart(value: float, known: np.ndarray) -> bool:
    """Find a value that is negative where no other is, or further from the others than these from each other."""
    same_sign = [other for other in known if not _CODE.fullmatch(f"{other:.0f}") or abs(other) < 10]
    others = np.array([other for other in same_sign if other != value])
    if len(others) < 2:
        return False
    if value < 0:
        return bool(others.min() >= 0.0)
    return bool(value >= 99 and value - others.max() > others.max() - others.min())
