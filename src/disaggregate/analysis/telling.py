"""Problems of the tables are told before the first sweep, not after hours of sampling."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from disaggregate.tables.problem import Problem

Told = Callable[[Sequence[Problem]], object]


class TableWarning(UserWarning):
    """Something about the tables of a fit that is probably a mistake."""


def tell(problems: Sequence[Problem], told: Told | None) -> None:
    """Hand problems to whoever shows them, or else warn of those that are probably mistakes.

    Parameters
    ----------
    problems : sequence of Problem
        Those that do not stop a fit.
    told : callable, optional
        Shows them.
    """
    if told is not None:
        told(problems)
        return
    for problem in problems:
        if problem.level == "warning":
            warnings.warn(f"{problem.where}: {problem.message}", TableWarning, stacklevel=5)


def tell_remarks(lines: list[str], told: Callable[[list[str]], object] | None) -> None:
    """Hand remarks on people to whoever shows them, or else warn of them.

    Parameters
    ----------
    lines : list of str
        What a model did not meet in its fit.
    told : callable, optional
        Shows them.
    """
    if told is not None:
        told(lines)
        return
    for line in lines:
        warnings.warn(line.removeprefix("warning: "), TableWarning, stacklevel=3)
