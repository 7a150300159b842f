"""Chains on threads: compiled sweeps free the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from numbers import Integral
from typing import TypeVar

from joblib import cpu_count

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """Run tasks on a few threads.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; None and -1 mean one a core.
    on_failure : callable, optional
        Called when a task fails or the wait is interrupted, so that the others can be told to stop.
    """

    def __init__(self, n_jobs: int | None, on_failure: Callable[[], None] | None = None) -> None:
        is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
        if n_jobs is not None and (not is_whole or n_jobs == 0):
            raise ValueError(f"n_jobs must be None, -1 or a whole number of threads, got {n_jobs!r}.")
        n_cores = cpu_count()
        self.n_threads = n_cores if n_jobs is None else max(1, n_jobs if n_jobs > 0 else n_cores + 1 + n_jobs)
        self._on_failure = on_failure

    def map(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> list[Result]:
        """Apply ``function`` to each of ``items``; the results keep their order, the first failure ends all."""
        with ThreadPoolExecutor(self.n_threads, thread_name_prefix="disaggregate") as pool:
            futures = [pool.submit(function, item) for item in items]
            try:
                done, _ = wait(futures, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()  # raises what the task raised
                return [future.result() for future in futures]
            except BaseException:
                if self._on_failure is not None:
                    self._on_failure()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
