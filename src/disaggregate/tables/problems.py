"""Problems of tables: findings of the check, and the error that a table raises when its owner can correct it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

Level = Literal["error", "warning", "advice", "note"]


@dataclass(frozen=True)
class Choice:
    """One way to settle what a table leaves open.

    Parameters
    ----------
    setting : str
        Name of the setting, one of those of :class:`disaggregate.tables.reading.Reading`.
    value : str
        Its value.
    meaning : str
        What the table then says.
    """

    setting: str
    value: str
    meaning: str


class TableError(ValueError):
    """A mistake in a table, or in what was said of it: what was expected, what came, what to do.

    Parameters
    ----------
    message : str
        The message.
    kind : str, default="table"
        One word or two for the kind of mistake, for programs.
    choices : tuple of Choice
        The ways to go on, where the table can be read in several.
    """

    def __init__(self, message: str, kind: str = "table", choices: tuple[Choice, ...] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.choices = choices


@dataclass(frozen=True)
class Problem:
    """Something about the tables that their owner should know.

    Parameters
    ----------
    level : {"error", "warning", "advice", "note"}
        An error stops a fit; a warning is probably a mistake; advice may make a fit better; a note says what was
        done to read the tables.
    where : str
        The table, and the column if it is about one.
    message : str
        What was expected, what came, and what to do.
    kind : str, default=""
        One word or two for the kind of finding, for programs: "decimal", "groups", "duplicates" and so on.
    choices : tuple of Choice
        Ways to settle it by a setting.
    """

    level: Level
    where: str
    message: str
    kind: str = ""
    choices: tuple[Choice, ...] = ()

    def __str__(self) -> str:
        return f"{self.level}: {self.where}: {self.message}"


def require_no_errors(problems: Iterable[Problem]) -> None:
    """Raise a TableError that lists all errors, if there are any."""
    errors = [problem for problem in problems if problem.level == "error"]
    if errors:
        message = "\n".join(f"{error.where}: {error.message}" for error in errors)
        raise TableError(message, errors[0].kind, errors[0].choices)


def without_choices(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems as they stand once a fit has been made: there is nothing left to choose."""
    return tuple(replace(problem, choices=()) for problem in problems)


def problem_of(error: TableError, where: str) -> Problem:
    """Turn what a reader raised into a finding."""
    return Problem("error", where, str(error), error.kind, error.choices)


def column_of(table: str, name: Any) -> str:
    """Name a column of a table, for ``where``."""
    return f"{table}, column {name!r}"
