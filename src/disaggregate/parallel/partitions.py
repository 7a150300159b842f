"""Partitions of the data that stay where they are: functions go to them, and results come back in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from disaggregate.parallel.runners import Executor


class Partitions(Protocol):
    """Partitions of the data, in order, wherever they are."""

    def map(self, function: Callable[..., Any], *shared: Any) -> Partitions:
        """Apply ``function(part, *shared)`` to each partition; the results are partitions again."""

    def query(self, function: Callable[..., Any], each: Sequence[Any] | None, *shared: Any) -> list[Any]:
        """Return ``function(part, own, *shared)`` per partition, ``own`` being its item of ``each``, or None."""


class LocalPartitions:
    """Partitions in this process, worked on by an executor; threads share them without copies.

    Parameters
    ----------
    parts : sequence
        The partitions.
    executor : Executor
        What applies functions to them.
    """

    def __init__(self, parts: Sequence[Any], executor: Executor) -> None:
        self._parts, self._executor = list(parts), executor

    def map(self, function: Callable[..., Any], *shared: Any) -> LocalPartitions:
        """Apply a function to each partition."""
        return LocalPartitions(
            self._map(Call(function, shared, False), [(part, None) for part in self._parts]), self._executor
        )

    def query(self, function: Callable[..., Any], each: Sequence[Any] | None, *shared: Any) -> list[Any]:
        """Return a result for each partition."""
        own = [None] * len(self._parts) if each is None else each
        return self._map(Call(function, shared, True), list(zip(self._parts, own, strict=True)))

    def _map(self, call: Call, items: list[tuple[Any, Any]]) -> list[Any]:
        return list(self._executor.map(call, items))


class Call:
    """A function with the arguments that all partitions share; a class, so that it can be sent to processes."""

    def __init__(self, function: Callable[..., Any], shared: tuple[Any, ...], takes_own: bool) -> None:
        self._function, self._shared, self._takes_own = function, shared, takes_own

    def __call__(self, item: tuple[Any, Any]) -> Any:
        """Apply it to a partition and its own item."""
        part, own = item
        return self._function(part, *([own] if self._takes_own else []), *self._shared)
