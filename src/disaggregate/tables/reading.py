"""How a table is read where it leaves that open, and what was done to read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from disaggregate.tables.problems import Problem, TableError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
DECIMALS = {".": "points", ",": "commas"}


@dataclass(frozen=True)
class Reading:
    """What the owner of a table says about how it is written; what is not said is found out.

    Parameters
    ----------
    encoding : str, optional
        Of a text file, such as "latin-1".
    separator : str, optional
        Between the fields of a text file: ``,``, ``;``, a tab or ``|``.
    decimal : {".", ","}, optional
        The decimal mark of numbers that could be read with either, such as 1,234.
    shares_in : {"fraction", "percent"}, optional
        Whether shares of groups run from 0 to 1 or from 0 to 100.
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    shares_in: Literal["fraction", "percent"] | None = None

    def __post_init__(self) -> None:
        _require("separator", self.separator, tuple(SEPARATORS))
        _require("decimal", self.decimal, tuple(DECIMALS))
        _require("shares_in", self.shares_in, ("fraction", "percent"))
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError as error:
                raise TableError(
                    f"encoding: {self.encoding!r} is not known; expected such as utf-8, latin-1 or utf-16."
                ) from error


@dataclass(frozen=True)
class Read:
    """A table as it was read.

    Attributes
    ----------
    table : DataFrame
        Its columns.
    notes : tuple of Problem
        What was done to read it, one line each; their ``where`` is the file, or a column.
    percent : frozenset of str
        Columns that were written with a percent sign, which are now fractions.
    """

    table: pd.DataFrame
    notes: tuple[Problem, ...] = ()
    percent: frozenset[str] = field(default_factory=frozenset)


def _require(name: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise TableError(f"{name}: expected one of {', '.join(map(repr, allowed))}, got {value!r}.")
