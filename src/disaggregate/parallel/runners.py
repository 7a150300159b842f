"""Protocols of what runs, of its executor, and of those who watch its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Runner(Protocol):
    """Something that advances batch by batch, and can be stored and set up again."""

    n_done: int

    @property
    def n_sweeps(self) -> int:
        """Sweeps to do in all."""

    def advance(self) -> None:
        """Do a batch of sweeps."""

    def snapshot(self) -> dict[str, Any]:
        """Take a snapshot: everything that the next batch depends on, and what was drawn so far."""

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Resume from a state."""


class Watcher:
    """Observes a run; does nothing unless overridden."""

    def after_batch(self, runner: Runner) -> None:
        """Learn that a runner has moved on; called by the thread that moved it, which then leaves it alone."""

    def while_waiting(self) -> None:
        """Do what is due; called several times per second by the caller of the runners, or after each round."""


class Executor(Protocol):
    """Anything with a ``map`` that keeps the order, such as a ``concurrent.futures`` executor."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterable[Result]:
        """Apply ``function`` to each of ``items`` and give the results in the same order."""
