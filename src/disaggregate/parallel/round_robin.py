"""Chains round robin: each advances one batch at a time, so that all are about equally far whenever a run ends."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from disaggregate.parallel.dask import executor_of
from disaggregate.parallel.interrupts import is_interrupted
from disaggregate.parallel.monitor import Monitor, ProgressCallback
from disaggregate.parallel.on_executor import OnExecutor
from disaggregate.parallel.runners import Executor, Runner, Watcher
from disaggregate.parallel.threads import Threads

# Seconds between two checks of the chains by the thread that waits for them.
POLL_SECONDS = 0.2


def run_round_robin(
    runners: Sequence[Runner],
    *,
    threads: Threads | None = None,
    progress: ProgressCallback | None = None,
    executor: Executor | None = None,
    watcher: Watcher | None = None,
) -> bool:
    """Run all to their end, or until an interrupt; return whether they came to their end.

    Parameters
    ----------
    runners : sequence of Runner
        What to run.
    threads : Threads, optional
        How many threads to use when no executor is given; one per core by default.
    progress : callable, optional
        Called with progress.
    executor : Executor, optional
        Where to run instead, in rounds of some seconds.
    watcher : Watcher, optional
        Called after every batch.
    """
    total = sum(runner.n_sweeps - runner.n_done for runner in runners)
    with Monitor(total, callback=progress) as monitor:
        if executor is not None:
            return OnExecutor(runners, monitor, watcher or Watcher()).run(executor_of(executor))
        return _RoundRobin(runners, monitor, watcher or Watcher()).run((threads or Threads(None)).n_threads)


class _RoundRobin:
    """Threads that take the runner that has waited longest, move it on, and put it back."""

    def __init__(self, runners: Sequence[Runner], monitor: Monitor, watcher: Watcher) -> None:
        self._waiting = deque(runner for runner in runners if runner.n_done < runner.n_sweeps)
        self._monitor, self._watcher = monitor, watcher
        self._stopped = threading.Event()

    def run(self, n_threads: int) -> bool:
        with ThreadPoolExecutor(n_threads, thread_name_prefix="disaggregate") as pool:
            futures: list[Future] = []
            try:
                for _ in range(min(n_threads, len(self._waiting))):
                    futures.append(pool.submit(self._work))
                _wait_for(futures, self._watcher.while_waiting)
            except KeyboardInterrupt:
                self._stopped.set()
                if is_interrupted():
                    raise  # the second one is raised
                _wait_for(futures, lambda: None)
                return False
            except BaseException:
                self._stopped.set()
                raise
        return not self._waiting

    def _work(self) -> None:
        while not (self._stopped.is_set() or is_interrupted()):
            try:
                runner = self._waiting.popleft()
            except IndexError:
                return
            before = runner.n_done
            runner.advance()
            self._monitor.on_sweeps(runner.n_done - before)
            self._watcher.after_batch(runner)
            if runner.n_done < runner.n_sweeps:
                self._waiting.append(runner)


def _wait_for(futures: Sequence[Future], meanwhile: Callable[[], None]) -> None:
    left = set(futures)
    while left:
        done, left = wait(left, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()  # raises what the thread raised
        meanwhile()
