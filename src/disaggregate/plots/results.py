"""Tables of results as plots read them: what the rows are, and the estimates with their intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from disaggregate.tables.suppression import NOTE, is_suppressed

INTERVAL = ("estimate", "conf_low", "conf_high")


def require_results(table: Any, columns: Iterable[str], made_by: str) -> None:
    """Check that this is a table with these columns, and not an empty one."""
    if not isinstance(table, pd.DataFrame):
        raise ValueError(f"This plot needs the table that {made_by} returns, but got {type(table).__name__}.")
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise ValueError(
            f"This plot needs the table that {made_by} returns, but there is no column {missing[0]!r} among "
            f"{list(table.columns)}."
        )
    if not len(table):
        raise ValueError(f"This plot needs the table that {made_by} returns, but got one without rows.")


def key_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns that say what a row is: those before the estimate."""
    return list(table.columns[: list(table.columns).index("estimate")])


def suppressed_rows(table: pd.DataFrame) -> list[bool]:
    """Find which rows have no numbers because they describe too few people."""
    return [is_suppressed(note) for note in table[NOTE]] if NOTE in table else [False] * len(table)


def arms(table: pd.DataFrame, centre: str = "estimate") -> NDArray[np.float64]:
    """Return how far intervals reach below and above the centre, as error bars take it, shape (2, n)."""
    middle = table[centre].to_numpy()
    # The mean of a skewed distribution may lie outside its quantiles, and error bars must not be negative.
    return np.stack([middle - table["conf_low"], table["conf_high"] - middle]).clip(min=0.0)
