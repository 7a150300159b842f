"""Tables of the pages in ``benchmarks/results``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    return [_line(header), _line(["---"] * len(header)), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def share_and_error(values: pd.Series) -> str:
    """Write a mean share and its standard error, both in per cent."""
    return f"{values.mean():.1%} ± {values.sem():.1%}"
