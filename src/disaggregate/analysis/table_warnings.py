"""Problems of tables are shown before the first sweep, not after hours of sampling."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from disaggregate.tables.problems import Problem

ShowProblems = Callable[[Sequence[Problem]], object]


class TableWarning(UserWarning):
    """Something about the tables of a fit that is probably a mistake."""


def show_problems(problems: Sequence[Problem], show: ShowProblems | None) -> None:
    """Show problems, or else warn of those that are probably mistakes.

    Parameters
    ----------
    problems : sequence of Problem
        Those that do not stop a fit.
    show : callable, optional
        Shows them.
    """
    mistakes = [problem for problem in problems if problem.level == "warning"]
    _show_or_warn(problems, show, [f"{mistake.where}: {mistake.message}" for mistake in mistakes], stacklevel=6)


def show_unfamiliar(lines: list[str], show: Callable[[list[str]], object] | None) -> None:
    """Show what was not in the fit, or warn of it.

    Parameters
    ----------
    lines : list of str
        What was not in the fit.
    show : callable, optional
        Shows them.
    """
    _show_or_warn(lines, show, [line.removeprefix("warning: ") for line in lines], stacklevel=4)


def _show_or_warn(
    found: Any, show: Callable[[Any], object] | None, messages: Sequence[str], stacklevel: int
) -> None:
    if show is not None:
        show(found)
        return
    for message in messages:
        warnings.warn(message, TableWarning, stacklevel=stacklevel)
