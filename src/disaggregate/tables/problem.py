"""One finding of the check step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["error", "warning", "advice"]


@dataclass(frozen=True)
class Problem:
    """Something about the tables that their owner should know.

    Parameters
    ----------
    level : {"error", "warning", "advice"}
        An error stops a fit; a warning is probably a mistake; advice may make a fit better.
    where : str
        The table, and the column if it is about one.
    message : str
        What was expected, what came, and what to do.
    """

    level: Level
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.where}: {self.message}"


def column_of(table: str, name: Any) -> str:
    """Name a column of a table, for ``where``."""
    return f"{table}, column {name!r}"
