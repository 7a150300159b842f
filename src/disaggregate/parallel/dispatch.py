"""Handing tasks out to threads under a monitor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from disaggregate.parallel.monitor import Monitor, Progress
from disaggregate.parallel.threads import Threads

Result = TypeVar("Result")


def run_tasks(
    function: Callable[[Any], Result],
    tasks: Sequence[Any],
    n_sweeps: int,
    *,
    what: str = "sampling",
    threads: Threads | None = None,
    progress: Progress = False,
) -> list[Result]:
    """Run every task and return the results in the same order.

    Parameters
    ----------
    function : callable
        Runs one task.
    tasks : sequence of dataclass objects
        What to run; on threads their field ``on_sweeps`` is set, so that they report progress and can be stopped.
    n_sweeps : int
        Sweeps of all tasks together.
    what : str, default="sampling"
        What the sweeps are for, in a word or two.
    threads : Threads, optional
        Where to run; one thread per core by default.
    progress : bool or callable
        Whether to show a progress bar, or who is told instead.
    """
    with Monitor(n_sweeps, show=progress, what=what) as monitor:
        watched = [replace(task, on_sweeps=monitor.on_sweeps) for task in tasks]
        return (threads or Threads(None)).map(function, watched, on_failure=monitor.stop)
