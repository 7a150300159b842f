"""Chains on an executor, in rounds: their draws come back every few seconds.

An executor only maps, and cannot be queried meanwhile. Between two rounds all chains are here, so that they
can be written down, and an interrupt costs nothing. Where a round is cut changes no draw.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from disaggregate.parallel.interrupts import deferred_interrupts, is_interrupted
from disaggregate.parallel.monitor import Monitor
from disaggregate.parallel.one_blas_thread import one_blas_thread
from disaggregate.parallel.runners import Executor, Runner, Watcher

# Seconds of the first round, and their growth: sending chains with their data takes time, too, but a user
# who interrupts waits for the end of a round.
FIRST_SECONDS, GROWTH, _LONGEST = 2.0, 1.5, 20.0


class OnExecutor:
    """Send out all runners that are not at their end, take them back, and begin again.

    Parameters
    ----------
    runners : sequence of Runner
        What to run.
    monitor : Monitor
        Counts sweeps done.
    watcher : Watcher
        Called after every round.
    """

    def __init__(self, runners: Sequence[Runner], monitor: Monitor, watcher: Watcher) -> None:
        self._runners, self._monitor, self._watcher = runners, monitor, watcher

    def run(self, executor: Executor) -> bool:
        """Run all to their end, or until an interrupt; return whether they came to their end."""
        seconds = FIRST_SECONDS
        while waiting := [runner for runner in self._runners if runner.n_done < runner.n_sweeps]:
            if is_interrupted() or not self._round(executor, waiting, seconds):
                return False
            seconds = min(GROWTH * seconds, _LONGEST)
            self._notify_watcher(waiting)
        return True

    def _round(self, executor: Executor, waiting: list[Runner], seconds: float) -> bool:
        """Run for some seconds; False when an interrupt has ended the round, and what it drew is not here."""
        before = [runner.n_done for runner in waiting]
        try:
            found = list(executor.map(run_for, [(runner, seconds) for runner in waiting]))
        except KeyboardInterrupt:
            if is_interrupted():
                raise  # the second one is raised
            return False
        except Exception:
            if is_interrupted():  # the terminal interrupts processes of a pool too, and some do not survive it
                return False
            raise
        for runner, snapshot, n_done in zip(waiting, found, before, strict=True):
            runner.restore(snapshot)
            self._monitor.on_sweeps(runner.n_done - n_done)
        return True

    def _notify_watcher(self, moved: list[Runner]) -> None:
        """Let the watcher request the runners, see them, and do what is due, while they do not move."""
        self._watcher.while_waiting()
        for runner in moved:
            self._watcher.after_batch(runner)
        self._watcher.while_waiting()


def run_for(task: tuple[Runner, float]) -> dict[str, Any]:
    """Run one for some seconds, to its end or to an interrupt, a batch at least; return where it is then."""
    runner, seconds = task
    with deferred_interrupts() as interrupts, one_blas_thread():
        if not interrupts.is_deferred:
            interrupts.defer()
        end = time.monotonic() + seconds
        while runner.n_done < runner.n_sweeps:
            runner.advance()
            if is_interrupted() or time.monotonic() > end:
                break
        return runner.snapshot()
