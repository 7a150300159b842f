"""How many people each row stands for: one, or what the column of counts says, where rows are cells of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from disaggregate.tables.kinds import is_yes_no, numbers_of
from disaggregate.tables.messages import plural, some
from disaggregate.tables.people import read_weights
from disaggregate.tables.problems import TableError
from disaggregate.tables.roles import Roles
from disaggregate.tables.row_numbers import row_numbers

Counts = NDArray[np.int64]

# Beyond it sums of counts could overflow.
_TOO_MANY = 2**31


def count_faults(column: pd.Series) -> list[str]:
    """List what is wrong with a column of counts, and in which rows; zeros are no fault.

    Parameters
    ----------
    column : Series
        People per row.
    """
    try:
        counts = _numbers(column)
    except TableError as error:
        return [f"counts must be whole numbers: {error}"]
    faults = {
        "missing": np.isnan(counts),
        "negative": counts < 0.0,
        "fractional": np.isfinite(counts) & (counts >= 0.0) & (counts != np.rint(counts)),
        f"of {_TOO_MANY:,} or more": counts >= _TOO_MANY,
    }
    return [
        _fault(name, row_numbers(column.index, np.flatnonzero(where).tolist()))
        for name, where in faults.items()
        if where.any()
    ]


def counts_of(people: pd.DataFrame, roles: Roles) -> Counts | None:
    """Read how many people each row stands for; None where no column says it, and every row is one person.

    Parameters
    ----------
    people : DataFrame
        One row per person, or per cell.
    roles : Roles
        Roles of the columns.
    """
    if roles.count is None:
        return None
    if roles.count not in people:
        raise TableError(
            f"people has no column {roles.count!r}, which says how many people a row stands for, as in the fit; "
            "add it, with 1 where a row is one person."
        )
    faults = count_faults(people[roles.count])
    if faults:
        raise TableError(f"people, column {roles.count!r}: {faults[0]}")
    return _numbers(people[roles.count]).astype(np.int64)


def sound_counts(people: pd.DataFrame, roles: Roles) -> Counts | None:
    """Read counts as :func:`counts_of` does, but return None where they are unsound, which a check reports."""
    try:
        return counts_of(people, roles)
    except TableError:
        return None


def people_per_row(people: pd.DataFrame, roles: Roles) -> Counts:
    """Return how many people each row stands for: one where the table has no column of counts."""
    has_counts = roles.count is not None and roles.count in people
    return read_counts(counts_of(people, roles) if has_counts else None, len(people))


def n_people(people: pd.DataFrame, roles: Roles) -> int:
    """Return how many people the rows stand for together."""
    counts = counts_of(people, roles)
    return len(people) if counts is None else int(counts.sum())


def n_people_by_group(ids: Iterable[Hashable | None], counts: Counts | None) -> Counter[Hashable]:
    """Return how many people each group has; rows without a group, and groups without people, are left out.

    Parameters
    ----------
    ids : iterable of hashable
        Group of each row, None where it is missing.
    counts : ndarray of shape (n_rows,) or None
        People per row, one each without it.
    """
    if counts is None:
        return Counter(group for group in ids if group is not None)
    found: Counter[Hashable] = Counter()
    for group, n in zip(ids, counts.tolist(), strict=True):
        if group is not None and n > 0:
            found[group] += n
    return found


def rows_with_people(people: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Return the rows that a fit is to learn from: those whose survey weight and count are above zero."""
    if roles.weight is not None:
        people = people[numbers_of(people[roles.weight]) > 0.0]
    counts = counts_of(people, roles)
    return people if counts is None else people[counts > 0]


def counts_to_fit(people: pd.DataFrame, roles: Roles) -> dict[str, Any]:
    """Return the argument of a fit that says how many people each row stands for; none where each is one."""
    counts = counts_of(people, roles)
    return {} if counts is None else {"counts": counts}


def read_counts(counts: ArrayLike | None, n_rows: int) -> Counts:
    """Check people per row that a caller gives; one each without them.

    Parameters
    ----------
    counts : array-like of shape (n_rows,) or None
        Whole numbers of 0 or more.
    n_rows : int
        Number of rows.
    """
    if counts is None:
        return np.ones(n_rows, dtype=np.int64)
    values = np.asarray(counts)
    if values.shape != (n_rows,):
        raise ValueError(f"counts must hold one number for each of the {n_rows} rows, got shape {values.shape}.")
    faults = count_faults(pd.Series(values))
    if faults:
        raise ValueError(f"counts say how many people each row stands for: {faults[0]}")
    return values.astype(np.int64)


def weights_of_rows(weights: ArrayLike | None, counts: Counts) -> NDArray[np.float64]:
    """Return how much each row counts: the survey weight of a person, times the people of the row.

    Parameters
    ----------
    weights : array-like of shape (n_rows,) or None
        Survey weights, one each without them.
    counts : ndarray of shape (n_rows,)
        People per row.
    """
    together = read_weights(weights, len(counts)) * counts
    if not together.any():
        raise ValueError("counts or weights are 0 in every row; at least one person must count.")
    return together


def averages_by_group(
    pieces: Iterable[tuple[NDArray[np.float64], Sequence[Hashable], Counts]],
) -> tuple[NDArray[np.float64], list[Hashable]]:
    """Average the features of each group over its people; return one row per group, and the groups.

    Parameters
    ----------
    pieces : iterable of triples
        Features, shape (n_rows, n_features), the group of each row, and people per row.
    """
    sums: dict[Hashable, Any] = {}
    sizes: Counter[Hashable] = Counter()
    for X, groups, counts in pieces:
        codes, names = pd.factorize(pd.Series(groups, dtype=object))
        members = csr_array((counts, (codes, np.arange(len(X)))), shape=(len(names), len(X)))
        for name, total, size in zip(names, members @ X, members.sum(axis=1).tolist(), strict=True):
            sums[name] = sums.get(name, 0.0) + total
            sizes[name] += size
    known = [name for name, size in sizes.items() if size > 0]
    return np.array([sums[name] / sizes[name] for name in known]), known


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    if is_yes_no(column) and column.notna().any():
        raise TableError(f"column {column.name!r} holds True and False.")
    return numbers_of(column)


def _fault(name: str, rows: list[int]) -> str:
    return (
        f"{plural(len(rows), 'count')} {name} (row {some(rows)}); expected a whole number of 1 "
        "or more in every row, the number of people that it stands for. Correct or drop these rows."
    )
