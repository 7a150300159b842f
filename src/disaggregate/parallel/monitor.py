"""Watching chains from outside: their progress is reported, and they can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.util import find_spec
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

# Called with progress: sweeps done, sweeps in all, and what for.
ProgressCallback = Callable[[int, int, str], object]


class Interrupted(Exception):
    """Raised inside a chain that was asked to stop."""


class Monitor:
    """Count sweeps over all chains.

    Parameters
    ----------
    n_sweeps : int
        Sweeps of all chains together.
    callback : callable or None
        A function of the sweeps done, the sweeps in all and what they are for, called by one thread at a time.
    what : str, default="sampling"
        What the sweeps are for, in a word or two.
    """

    def __init__(self, n_sweeps: int, callback: ProgressCallback | None, what: str = "sampling") -> None:
        self._stopped = threading.Event()
        self._callback, self._lock = callback, threading.Lock()
        self._n_sweeps, self._n_done, self._what = n_sweeps, 0, what

    def __enter__(self) -> Monitor:
        self._report(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave everything as it is: the callback shows what is shown."""

    def stop(self) -> None:
        """Ask every chain to stop at its next report."""
        self._stopped.set()

    def on_sweeps(self, n_sweeps: int) -> None:
        """Take a chain's report of sweeps done."""
        if self._stopped.is_set():
            raise Interrupted
        self._report(n_sweeps)

    def _report(self, n_sweeps: int) -> None:
        """Report more sweeps, never more in total than were planned: some runs find that they need more."""
        with self._lock:
            n_sweeps = min(n_sweeps, self._n_sweeps - self._n_done)
            self._n_done += n_sweeps
            if self._callback is not None:
                self._callback(self._n_done, self._n_sweeps, self._what)


def progress_console() -> Console:
    """Return the console on standard error that progress is shown on.

    A bar in a notebook needs ipywidgets. Without them rich warns at every start, unless it does not know of
    the notebook.
    """
    return Console(stderr=True, force_jupyter=None if find_spec("ipywidgets") else False)


def progress_bar(unit: str, show: bool) -> Bar:
    """Make a bar on standard error: what is done, how many of how many, and how long it will take.

    Parameters
    ----------
    unit : str
        What is counted, such as "sweeps".
    show : bool
        Whether to draw anything.
    """
    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=progress_console(),
        disable=not show,
    )
