"""Numbers of rows in messages: those that a spreadsheet shows for a table from a file, else those of its index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

# The name of the index of tables that come from a text file or a workbook, whose first row is row 2.
OF_FILE = "row of the file"
_FIRST = 2


def numbered(table: pd.DataFrame, first: int = 0) -> pd.DataFrame:
    """Give numbers to the rows of a table, or of a chunk of one, that comes from a file with a header.

    Parameters
    ----------
    table : DataFrame
        Rows in the order of the file.
    first : int, default=0
        Number of rows before it.
    """
    return table.set_axis(pd.RangeIndex(first, first + len(table), name=OF_FILE), axis=0)


def row_number(index: pd.Index, position: int) -> Any:
    """Return the number of a row as its owner sees it.

    Parameters
    ----------
    index : Index
        That of the table.
    position : int
        Place of the row, from 0.
    """
    label = index[position]
    return label + _FIRST if index.name == OF_FILE else label


def row_numbers(index: pd.Index, positions: Iterable[int]) -> list[Any]:
    """Return the numbers of several rows; see :func:`row_number`."""
    return [row_number(index, position) for position in positions]


def unnamed(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without the name of its index, for those who are handed it."""
    return table.rename_axis(None, axis=0) if table.index.name == OF_FILE else table
