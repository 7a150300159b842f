"""Texts that a spreadsheet would take for formulas, and run, are made harmless."""

from __future__ import annotations

from typing import Any

import pandas as pd

from disaggregate.tables.amounts import is_plain_number

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n")
_MARK = "'"


def without_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before texts, and names of columns, that begin as a formula does and are no numbers.

    Parameters
    ----------
    table : DataFrame
        Anything; it is left as it is.
    """
    texts = [index for index, kind in enumerate(table.dtypes) if kind.kind not in "biufcmM"]
    changed = table.copy(deep=False)
    for index in texts:
        column = table.iloc[:, index]
        if any(harmless(value) is not value for value in column.unique()):
            changed.isetitem(index, column.astype(object).map(harmless))
    return changed.set_axis([harmless(name) for name in table.columns], axis=1)


def harmless(value: Any) -> Any:
    """Return a value as it may stand in a cell.

    Parameters
    ----------
    value : object
        A text, or anything else, which is left alone.
    """
    is_formula = isinstance(value, str) and len(value) > 1 and value.startswith(_BEGINNINGS)
    return _MARK + value if is_formula and not is_plain_number(value) else value
