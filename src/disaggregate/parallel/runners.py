"""What is run, and who is told of it."""

from __future__ import annotations

from typing import Any, Protocol


class Runner(Protocol):
    """Something that moves on batch by batch, and can be taken down and set up again."""

    n_done: int

    @property
    def n_sweeps(self) -> int:
        """Sweeps to do in all."""

    def advance(self) -> None:
        """Do a batch of sweeps."""

    def snapshot(self) -> dict[str, Any]:
        """Take everything down that the next batch depends on, and what was drawn so far."""

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from there."""


class Watcher:
    """Told of what happens; does nothing by itself."""

    def after_turn(self, runner: Runner) -> None:
        """Learn that a runner has moved on; called by the thread that moved it, which then leaves it alone."""

    def while_waiting(self) -> None:
        """Do what is due; called some times a second by whoever started the runners, or after each round."""
