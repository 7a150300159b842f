"""One finding of the check step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from disaggregate.tables.errors import TableError

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


def require_no_errors(problems: Iterable[Problem]) -> None:
    """Raise a TableError that tells all errors, if there are any."""
    errors = [problem for problem in problems if problem.level == "error"]
    if errors:
        raise TableError("\n".join(f"{error.where}: {error.message}" for error in errors))


def column_of(table: str, name: Any) -> str:
    """Name a column of a table, for ``where``."""
    return f"{table}, column {name!r}"
