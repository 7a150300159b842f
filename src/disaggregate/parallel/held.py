"""Data in parts that stay where they are: questions go to them, and answers come back in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from disaggregate.parallel.protocol import Executor


class Held(Protocol):
    """Parts that are held somewhere, each with a place in their order."""

    def then(self, function: Callable[..., Any], *shared: Any) -> Held:
        """Apply ``function(part, *shared)`` to each part and hold the results in its place."""

    def ask(self, function: Callable[..., Any], each: Sequence[Any] | None, *shared: Any) -> list[Any]:
        """Return ``function(part, own, *shared)`` of each part, with ``own`` its item of ``each``, or None."""


class HeldHere:
    """Parts in this process, worked on by an executor; threads share them without copies.

    Parameters
    ----------
    parts : sequence
        The parts.
    executor : Executor
        Who works on them.
    """

    def __init__(self, parts: Sequence[Any], executor: Executor) -> None:
        self._parts, self._executor = list(parts), executor

    def then(self, function: Callable[..., Any], *shared: Any) -> HeldHere:
        """Apply a function to each part and hold the results."""
        return HeldHere(
            self._map(Call(function, shared, False), [(part, None) for part in self._parts]), self._executor
        )

    def ask(self, function: Callable[..., Any], each: Sequence[Any] | None, *shared: Any) -> list[Any]:
        """Ask each part."""
        own = [None] * len(self._parts) if each is None else each
        return self._map(Call(function, shared, True), list(zip(self._parts, own, strict=True)))

    def _map(self, call: Call, items: list[tuple[Any, Any]]) -> list[Any]:
        return list(self._executor.map(call, items))


class Call:
    """A function with what is the same for all parts; a class, so that processes can be sent it."""

    def __init__(self, function: Callable[..., Any], shared: tuple[Any, ...], takes_own: bool) -> None:
        self._function, self._shared, self._takes_own = function, shared, takes_own

    def __call__(self, item: tuple[Any, Any]) -> Any:
        """Apply it to a part and its own item."""
        part, own = item
        return self._function(part, *([own] if self._takes_own else []), *self._shared)
