"""Checks of rows that occur twice, where people could hardly be so alike."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from disaggregate.tables.messages import plural, some
from disaggregate.tables.problems import Problem
from disaggregate.tables.roles import Roles
from disaggregate.tables.row_numbers import row_numbers

ENOUGH_ROWS = 10
_NEARLY_ALL = 0.95


def row_problems(people: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Warn of rows that repeat another one in every column, although some column differs between most people.

    Parameters
    ----------
    people : DataFrame
        One row per individual, or per cell.
    roles : Roles
        Which column is what; cells may repeat.
    """
    repeated = repeated_rows(people)
    n_repeated = int(repeated.sum())
    n_distinct = len(people) - n_repeated
    if not n_repeated or n_distinct < ENOUGH_ROWS or roles.count is not None:
        return
    distinguishing = _distinguishing_column(people, ~repeated)
    if distinguishing is None and n_repeated < n_distinct:
        return
    why = f" though {distinguishing!r} differs between nearly all others" if distinguishing is not None else ""
    rows = some(row_numbers(people.index, np.flatnonzero(repeated)[:6].tolist()))
    yield Problem(
        "warning",
        "people",
        f"{plural(n_repeated, 'row repeats', 'rows repeat')} another one in every column{why} (row {rows}); if "
        "these people were copied by mistake, drop the copies.",
        "duplicates",
    )


def repeated_rows(people: pd.DataFrame) -> np.ndarray:
    """Find which rows repeat an earlier one in every column."""
    codes = np.column_stack([_codes(people[name]) for name in people.columns])
    return pd.DataFrame(codes).duplicated().to_numpy()


def _codes(column: pd.Series) -> np.ndarray:
    try:
        return pd.factorize(column)[0]
    except TypeError:  # lists and the like, which are refused as features
        return pd.factorize(column.astype(str))[0]


def _distinguishing_column(people: pd.DataFrame, distinct: np.ndarray) -> str | None:
    """Name a column that differs between nearly all distinct rows."""
    n_rows = int(distinct.sum())
    for name in people.columns:
        if len(np.unique(_codes(people[name])[distinct])) >= _NEARLY_ALL * n_rows:
            return str(name)
    return None
