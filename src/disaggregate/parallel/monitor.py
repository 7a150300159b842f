"""Watching chains from outside: a progress bar, and a way to stop them."""

from __future__ import annotations

import threading
from types import TracebackType

from disaggregate.parallel.progress_bar import progress_bar


class Interrupted(Exception):
    """Raised inside a chain that was asked to stop."""


class Monitor:
    """Count sweeps over all chains.

    Parameters
    ----------
    n_sweeps : int
        Sweeps of all chains together.
    show : bool
        Whether to draw a progress bar on standard error.
    what : str, default="sampling"
        What the sweeps are for, in a word or two.
    """

    def __init__(self, n_sweeps: int, show: bool, what: str = "sampling") -> None:
        self._stopped = threading.Event()
        self._bar = progress_bar("sweeps", show)
        self._task = self._bar.add_task(what, total=n_sweeps)

    def __enter__(self) -> Monitor:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def stop(self) -> None:
        """Ask every chain to stop at its next report."""
        self._stopped.set()

    def on_sweeps(self, n_sweeps: int) -> None:
        """Take a chain's report of sweeps done."""
        if self._stopped.is_set():
            raise Interrupted
        self._bar.advance(self._task, n_sweeps)
