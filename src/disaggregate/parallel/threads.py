"""Chains on threads: compiled sweeps free the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from numbers import Integral
from typing import Any, TypeVar

from joblib import cpu_count

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """Run tasks on a few threads.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads; None and -1 mean one per core.
    on_failure : callable, optional
        Called when a task fails or the wait is interrupted, so that the others can stop.
    """

    def __init__(self, n_jobs: int | None, on_failure: Callable[[], None] | None = None) -> None:
        is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
        if n_jobs is not None and (not is_whole or n_jobs == 0):
            raise ValueError(f"n_jobs must be None, -1 or a whole number of threads, got {n_jobs!r}.")
        n_cores = cpu_count()
        self.n_threads = n_cores if n_jobs is None else max(1, n_jobs if n_jobs > 0 else n_cores + 1 + n_jobs)
        self._on_failure = on_failure
        self._pool: ThreadPoolExecutor | None = None
        self._n_users = 0

    def __enter__(self) -> Threads:
        """Keep the threads from one call of ``map`` to the next, until the context ends."""
        self._n_users += 1
        if self._pool is None:
            self._pool = self.new_pool()
        return self

    def __exit__(self, *error: object) -> None:
        self._n_users -= 1
        if self._n_users == 0 and self._pool is not None:
            self._pool.shutdown(cancel_futures=True)  # what still runs ends soon, and no thread stays behind
            self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None, "_n_users": 0, "_on_failure": None}

    def map(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        /,
        on_failure: Callable[[], None] | None = None,
    ) -> list[Result]:
        """Apply ``function`` to each of ``items``; the results keep their order, the first failure ends all.

        Parameters
        ----------
        function : callable
            What to do with an item.
        items : iterable
            Items.
        on_failure : callable, optional
            As for the class, for this call.
        """
        if self._pool is not None:
            return self._map(self._pool, function, items, on_failure)
        with self.new_pool() as pool:
            return self._map(pool, function, items, on_failure)

    def new_pool(self) -> ThreadPoolExecutor:
        """Start the threads."""
        return ThreadPoolExecutor(self.n_threads, thread_name_prefix="disaggregate")

    def _map(
        self,
        pool: ThreadPoolExecutor,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        on_failure: Callable[[], None] | None,
    ) -> list[Result]:
        futures = [pool.submit(function, item) for item in items]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()  # raises what the task raised
            return [future.result() for future in futures]
        except BaseException:
            for notify in (self._on_failure, on_failure):
                if notify is not None:
                    notify()
            for future in futures:
                future.cancel()
            raise
