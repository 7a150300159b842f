"""What an executor must be able to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """Anything with a ``map`` that keeps the order, such as a ``concurrent.futures`` executor."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterable[Result]:
        """Apply ``function`` to each of ``items`` and give the results in the same order."""
