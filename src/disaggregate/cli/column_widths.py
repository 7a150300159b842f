"""Widths of the columns of a table on a terminal: words are wrapped where room is short, numbers are never cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

_BETWEEN = 3  # a line and a blank on each side of it


def column_widths(
    headers: Sequence[str], columns: Sequence[Sequence[str]], can_wrap: Sequence[bool], room: int | None
) -> list[int]:
    """Find widths that fit, or the least ones at which everything can be read.

    Parameters
    ----------
    headers : sequence of str
        Names of the columns; those of numbers may be broken behind an underscore.
    columns : sequence of sequence of str
        What is in each.
    can_wrap : sequence of bool
        Whether a column holds words that may be wrapped at blanks.
    room : int or None
        Characters per line; None where there is no end of them.
    """
    widest = [max(map(cell_len, column), default=1) for column in columns]
    natural = [max(cell_len(header), width) for header, width in zip(headers, widest, strict=True)]
    if room is None or table_width(natural) <= room:
        return natural
    least = [
        _longest(word for text in (header, *column) for word in text.split())
        if wraps
        else max(width, _longest(re.findall("[^_]*_?", header)))
        for header, column, width, wraps in zip(headers, columns, widest, can_wrap, strict=True)
    ]
    return _allocated(least, natural, can_wrap, room - table_width(least))


def table_width(widths: Sequence[int]) -> int:
    """Return the width of a table with lines around its columns."""
    return sum(widths) + _BETWEEN * len(widths) + 1


def _longest(words: Iterable[str]) -> int:
    return max(map(cell_len, words), default=1)


def _allocated(least: list[int], natural: list[int], can_wrap: Sequence[bool], left: int) -> list[int]:
    """Give what is left to columns one by one, to words first, as they take several lines else."""
    widths = list(least)
    for index in sorted(range(len(widths)), key=lambda index: not can_wrap[index]):
        more = max(0, min(natural[index] - widths[index], left))
        widths[index] += more
        left -= more
    return widths
