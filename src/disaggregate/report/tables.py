"""From a dataframe to a table of the page: numbers rounded to what they are worth, sorted by what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from disaggregate.report.elements import Cell, Column, Table
from disaggregate.tables.rounding import in_digits, worthwhile_digits
from disaggregate.tables.suppression import NOTE, SUPPRESSED, is_suppressed

NOTHING = "—"
FEWEST_DIGITS = 3


def as_table(
    frame: pd.DataFrame,
    caption: str,
    headings: Mapping[str, str],
    digits: int | np.ndarray = FEWEST_DIGITS,
    sorts: Mapping[str, pd.Series] | None = None,
) -> Table:
    """Turn some columns of a dataframe into a table of the page.

    Parameters
    ----------
    frame : DataFrame
        What to show. Where a column ``note`` says that numbers were suppressed, so do their cells.
    caption : str
        What it shows, in words.
    headings : mapping of str
        The columns to show, in this order, with their headings.
    digits : int or ndarray of int, default=3
        Digits after the point of numbers that are not whole, for all rows or for each.
    sorts : mapping of Series, optional
        Numbers by which to sort columns whose cells are texts about numbers.
    """
    each = np.broadcast_to(digits, len(frame))
    nothing = [SUPPRESSED if is_suppressed(note) else NOTHING for note in frame.get(NOTE, [""] * len(frame))]
    by_number = sorts or {}
    columns = [Column(heading, name in by_number or _is_number(frame[name])) for name, heading in headings.items()]
    cells = [
        [_cell(value, int(d), empty) for value, d, empty in zip(frame[name], each, nothing, strict=True)]
        for name in headings
    ]
    for index, name in enumerate(headings):
        if name in by_number:
            numbers = by_number[name]
            cells[index] = [
                Cell(cell.text, None if pd.isna(number) else float(number))
                for cell, number in zip(cells[index], numbers, strict=True)
            ]
    return Table(caption, columns, list(zip(*cells, strict=True)))


def as_estimates(frame: pd.DataFrame, caption: str, headings: Mapping[str, str]) -> Table:
    """Turn estimates with intervals into a table of the page, each row with the digits that it is worth."""
    return as_table(frame, caption, headings, worthwhile_digits(frame, FEWEST_DIGITS))


def _is_number(column: pd.Series) -> bool:
    return types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)


def _cell(value: Any, digits: int, nothing: str) -> Cell:
    if pd.isna(value):
        return Cell(nothing, None)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return Cell(str(value), str(value))
    number = float(value)
    if number.is_integer() and not isinstance(value, (float, np.floating)):
        return Cell(f"{int(value):,}", number)
    return Cell(in_digits(number, digits), number)
