"""Problems of tables are shown before the first sweep, not after hours of sampling."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

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
    if show is not None:
        show(problems)
        return
    for problem in problems:
        if problem.level == "warning":
            warnings.warn(f"{problem.where}: {problem.message}", TableWarning, stacklevel=5)


def show_unfamiliar(lines: list[str], show: Callable[[list[str]], object] | None) -> None:
    """Show what a model did not meet in its fit, or else warn of it.

    Parameters
    ----------
    lines : list of str
        What a model did not meet in its fit.
    show : callable, optional
        Shows them.
    """
    if show is not None:
        show(lines)
        return
    for line in lines:
        warnings.warn(line.removeprefix("warning: "), TableWarning, stacklevel=3)
