"""Giving parts of the data to whoever works on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from disaggregate.parallel.dask import HeldByDask, is_dask_client
from disaggregate.parallel.held import Held, HeldHere
from disaggregate.parallel.protocol import Executor
from disaggregate.parallel.threads import Threads


def hold(parts: Sequence[Any], executor: Executor | None, threads: Threads) -> Held:
    """Hold parts where they will be worked on: in this process, or on the workers of a Dask cluster.

    Parameters
    ----------
    parts : sequence
        The parts.
    executor : Executor or None
        Where to work; None for threads of this process.
    threads : Threads
        These threads.
    """
    if executor is None:
        return HeldHere(parts, threads)
    return HeldByDask.scattered(executor, parts) if is_dask_client(executor) else HeldHere(parts, executor)
