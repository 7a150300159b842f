"""Cell suppression: numbers of a table that describe too few people are left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from disaggregate.groups import GroupedData

# The numbers in tables of groups, and in those of subgroups.
SHARES = ("reported", "implied", "conf_low", "conf_high")
ESTIMATES = (
    *("estimate", "std_error", "conf_low", "conf_high", "std_error_posterior", "std_error_design"),
    *("bound_low", "bound_high", "contraction", "rests_on"),
)
RESTS_ON = "rests_on"  # the one of them that is in words


NOTE = "note"
SUPPRESSED = "suppressed"
FEW = f"{SUPPRESSED}: fewer than"
_PROTECTS = f"{SUPPRESSED}: a smaller one would follow from it"


def hidden(sizes: ArrayLike, min_group_size: int) -> NDArray[np.bool_]:
    """Find the cells of a table to hide: those below the size, and enough others that none can be computed.

    A single hidden cell follows from the total and the others. So the next smallest are hidden too, until two or
    more cells with together at least ``min_group_size`` people are hidden.

    Parameters
    ----------
    sizes : array-like of int
        People in each cell.
    min_group_size : int
        Fewest people that a cell may describe; 1 hides nothing.
    """
    if isinstance(min_group_size, bool) or not isinstance(min_group_size, Integral) or min_group_size < 1:
        raise ValueError(f"min_group_size must be a whole number of 1 or more, got {min_group_size!r}.")
    people = np.asarray(sizes)
    if min_group_size == 1:
        return np.zeros(len(people), dtype=bool)
    return _with_others(people, people < min_group_size, min_group_size)


def hidden_beside_margins(keys: NDArray[np.int64], sizes: ArrayLike, min_group_size: int) -> NDArray[np.bool_]:
    """Find which cells to hide where tables by fewer of the columns may be shown as well.

    A cell of a row of that table follows from the row's own number and the other cells. So what is hidden there is
    hidden here, and every row has no hidden cell or enough of them.

    Parameters
    ----------
    keys : ndarray of int, shape (n_cells, n_columns)
        Level of each cell in each column, in the order of the levels.
    sizes : array-like of int
        People in each cell.
    min_group_size : int
        As for :func:`hidden`.
    """
    people, hide = np.asarray(sizes), hidden(sizes, min_group_size)
    if min_group_size == 1 or not len(people):
        return hide
    margins = []
    n_columns = keys.shape[1]
    for chosen in (some for n in range(1, n_columns) for some in combinations(range(n_columns), n)):
        levels, level = np.unique(keys[:, chosen], axis=0, return_inverse=True)
        level = level.reshape(-1)
        totals = np.bincount(level, weights=people, minlength=len(levels)).astype(np.int64)
        hide |= hidden_beside_margins(levels, totals, min_group_size)[level]
        margins.append(level)
    n_before = -1
    while hide.sum() != n_before:
        n_before = hide.sum()
        for level in margins:
            for one in np.unique(level[hide]):
                inside = np.flatnonzero(level == one)
                hide[inside] = _with_others(people[inside], hide[inside], min_group_size)
    return hide


def _with_others(people: np.ndarray, hide: np.ndarray, min_group_size: int) -> NDArray[np.bool_]:
    """Hide the next smallest too, until those that are hidden say nothing together."""
    hide = hide.copy()
    for index in np.argsort(people, kind="stable"):
        if not hide.any() or (hide.sum() > 1 and people[hide].sum() >= min_group_size):
            break
        hide[index] = True
    return hide


def effective_members(weights: ArrayLike, counts: ArrayLike, cells: ArrayLike, n_cells: int) -> NDArray[np.int64]:
    """Count the people in the average of each cell: those who weigh next to nothing do not count.

    This is Kish's effective number, the squared sum of weights over the sum of squares: 33 people of whom one has
    all the weight are one.

    Parameters
    ----------
    weights : array-like of shape (n_rows,)
        Weight of each person of a row.
    counts : array-like of shape (n_rows,)
        People per row.
    cells : array-like of int, shape (n_rows,)
        Cell of each row.
    n_cells : int
        Number of cells.
    """
    weight, count, cell = np.asarray(weights, dtype=np.float64), np.asarray(counts), np.asarray(cells)
    largest = np.zeros(n_cells)
    np.maximum.at(largest, cell, weight)
    share = np.divide(weight, largest[cell], out=np.zeros(len(weight)), where=largest[cell] > 0.0)
    total, squares = (np.bincount(cell, weights=count * share**power, minlength=n_cells) for power in (1, 2))
    effective = np.divide(total**2, squares, out=np.zeros(n_cells), where=squares > 0.0)
    return np.floor(effective * (1.0 + 1e-9)).astype(np.int64)  # equal weights are not to lose one by rounding


def members_of_groups(data: GroupedData) -> NDArray[np.int64]:
    """Count the people in each group's report, as :func:`effective_members` does.

    Parameters
    ----------
    data : GroupedData
        The groups.
    """
    weight = data.units if data.weights is None else data.units * data.weights
    counts = np.ones(len(data.units)) if data.counts is None else data.counts
    return effective_members(weight, counts, np.repeat(np.arange(len(data.names)), data.sizes), len(data.names))


def withhold(
    table: DataFrame,
    min_group_size: int,
    names: tuple[str, ...] = ESTIMATES,
    members: ArrayLike | None = None,
    by: Sequence[str] = (),
) -> DataFrame:
    """Empty the numbers of a table's rows that describe too few people, and say so in a column ``note``.

    Parameters
    ----------
    table : DataFrame
        Groups or subgroups.
    min_group_size : int
        As for :func:`hidden`.
    names : tuple of str
        The columns to empty, where the table has them.
    members : array-like of int, optional
        People per row; column ``n`` by default.
    by : sequence of str
        Columns that make the rows; with several of them, see :func:`hidden_beside_margins`.

    Returns
    -------
    DataFrame
        With a column ``note`` where ``min_group_size`` is above 1: why a row is empty, else nothing.
    """
    sizes = np.asarray(table["n"] if members is None else members)
    hide = hidden(sizes, min_group_size)
    if len(by) > 1:
        keys = [table.groupby(name, sort=True, dropna=False, observed=True).ngroup() for name in by]
        hide = hidden_beside_margins(np.column_stack(keys), sizes, min_group_size)
    present = [name for name in names if name in table]
    emptied = {name: _emptied(table[name], hide) for name in present}
    if min_group_size == 1:
        return table.assign(**emptied)
    why = [_why(*row, min_group_size) for row in zip(hide, sizes, table["n"], strict=True)]
    earlier = _earlier_notes(table)
    return table.assign(**emptied, **{NOTE: [new or old for new, old in zip(why, earlier, strict=True)]})


def _emptied(column: Series, hide: NDArray[np.bool_]) -> Series:
    return column.mask(hide, "") if column.name == RESTS_ON else column.astype(float).mask(hide)


def is_suppressed(note: object) -> bool:
    """Return whether a value of the column ``note`` says that the numbers of its row were left out."""
    return isinstance(note, str) and note.startswith(SUPPRESSED)


def _why(is_hidden: bool, size: int, n: int, min_group_size: int) -> str:
    if not is_hidden:
        return ""
    if n < min_group_size:
        return f"{FEW} {min_group_size} people"
    return f"{SUPPRESSED}: few people have nearly all the weight" if size < min_group_size else _PROTECTS


def _earlier_notes(table: DataFrame) -> list[str]:
    """Take over notes of an earlier suppression; another column of that name must not be lost."""
    if NOTE not in table:
        return [""] * len(table)
    known = table[NOTE].astype(object).where(table[NOTE].notna(), "").tolist()
    if not all(note == "" or is_suppressed(note) for note in known):
        raise ValueError(f"column {NOTE!r} has the name of a result; rename it first.")
    return known
