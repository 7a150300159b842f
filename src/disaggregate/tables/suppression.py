"""Cell suppression: numbers of a table that speak of too few people are left out."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from pandas import DataFrame

# The numbers in tables of groups, and in those of subgroups.
SHARES = ("reported", "implied", "conf_low", "conf_high")
ESTIMATES = ("estimate", "std_error", "conf_low", "conf_high", "std_error_posterior", "std_error_design")


def hidden(sizes: ArrayLike, min_group_size: int) -> NDArray[np.bool_]:
    """Tell which cells of a table to hide: those below the size, and enough others that none can be worked out.

    One hidden cell follows from the total and the others. So the next smallest are hidden too, until two or more
    cells with at least ``min_group_size`` people among them are.

    Parameters
    ----------
    sizes : array-like of int
        People in each cell.
    min_group_size : int
        Fewest people that a cell may speak of; 1 hides nothing.
    """
    if isinstance(min_group_size, bool) or not isinstance(min_group_size, Integral) or min_group_size < 1:
        raise ValueError(f"min_group_size must be a whole number of 1 or more, got {min_group_size!r}.")
    people = np.asarray(sizes)
    hide = people < min_group_size
    for place in np.argsort(people, kind="stable"):
        if not hide.any() or (hide.sum() > 1 and people[hide].sum() >= min_group_size):
            break
        hide[place] = True
    return hide


def withhold(table: DataFrame, min_group_size: int, names: tuple[str, ...] = ESTIMATES) -> DataFrame:
    """Empty the numbers of a table's rows that speak of too few people, as column ``n`` says.

    Parameters
    ----------
    table : DataFrame
        Groups or subgroups.
    min_group_size : int
        As for :func:`hidden`.
    names : tuple of str
        The columns to empty, where the table has them.
    """
    hide = hidden(table["n"], min_group_size)
    told = [name for name in names if name in table]
    return table.assign(**{name: table[name].astype(float).mask(hide) for name in told})
