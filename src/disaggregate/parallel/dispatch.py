"""Distributes work: tasks to threads under a monitor, partitions of the data to their workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from disaggregate.parallel.dask import DaskPartitions, is_dask_client
from disaggregate.parallel.monitor import Monitor, ProgressCallback
from disaggregate.parallel.partitions import LocalPartitions, Partitions
from disaggregate.parallel.runners import Executor
from disaggregate.parallel.threads import Threads

Result = TypeVar("Result")


def run_tasks(
    function: Callable[[Any], Result],
    tasks: Sequence[Any],
    n_sweeps: int,
    *,
    what: str = "sampling",
    threads: Threads | None = None,
    progress: ProgressCallback | None = None,
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
    progress : callable, optional
        Called with progress.
    """
    with Monitor(n_sweeps, callback=progress, what=what) as monitor:
        watched = [replace(task, on_sweeps=monitor.on_sweeps) for task in tasks]
        return (threads or Threads(None)).map(function, watched, on_failure=monitor.stop)


def distribute(parts: Sequence[Any], executor: Executor | None, threads: Threads) -> Partitions:
    """Put partitions where they are worked on: in this process, or on the workers of a Dask cluster.

    Parameters
    ----------
    parts : sequence
        The partitions.
    executor : Executor or None
        Where to work; None for threads of this process.
    threads : Threads
        These threads.
    """
    if executor is None:
        return LocalPartitions(parts, threads)
    return (
        DaskPartitions.scattered(executor, parts) if is_dask_client(executor) else LocalPartitions(parts, executor)
    )
