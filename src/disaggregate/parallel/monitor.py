"""Watching chains from outside: a progress bar or a function that is told, and a way to stop them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from disaggregate.parallel.progress_bar import progress_bar

# Whether to draw a bar, or who is told instead: sweeps done, sweeps in all, and what for.
Progress = bool | Callable[[int, int, str], object]


class Interrupted(Exception):
    """Raised inside a chain that was asked to stop."""


class Monitor:
    """Count sweeps over all chains.

    Parameters
    ----------
    n_sweeps : int
        Sweeps of all chains together.
    show : bool or callable
        Whether to draw a progress bar on standard error; or a function of the sweeps done, the sweeps in all and
        what they are for, which is called by one thread at a time.
    what : str, default="sampling"
        What the sweeps are for, in a word or two.
    """

    def __init__(self, n_sweeps: int, show: Progress, what: str = "sampling") -> None:
        self._stopped = threading.Event()
        self._told, self._lock = show if callable(show) else None, threading.Lock()
        self._n_sweeps, self._n_done, self._what = n_sweeps, 0, what
        self._bar = progress_bar("sweeps", show is True)
        self._task = self._bar.add_task(what, total=n_sweeps)

    def __enter__(self) -> Monitor:
        self._bar.start()
        self._tell(0)
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
        self._tell(n_sweeps)

    def _tell(self, n_sweeps: int) -> None:
        """Tell of more sweeps, never of more in all than were foreseen: some runs find that they need more."""
        with self._lock:
            n_sweeps = min(n_sweeps, self._n_sweeps - self._n_done)
            self._n_done += n_sweeps
            self._bar.advance(self._task, n_sweeps)
            if self._told is not None:
                self._told(self._n_done, self._n_sweeps, self._what)
