"""How often a checkpoint is written: so seldom that it takes a small share of the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Seconds between two checkpoints at least, and the share of the time that all of them together may take. The last
# one, at the end of a fit, comes on top.
EVERY_SECONDS = 20.0
TIME_SHARE = 0.02

# Checkpoints grow with the draws, so that the next one is expected to cost so many times the last.
GROWTH = 2.0


class CheckpointSchedule:
    """Counts what checkpoints cost, and says when the next one is due.

    Parameters
    ----------
    clock : callable, default=time.monotonic
        Returns the time, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began = self._last = clock()
        self.spent = 0.0  # seconds on all checkpoints
        self._spent_before = 0.0
        self._expected = 0.0  # seconds that the next one will take

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the time that something about a checkpoint takes."""
        began = self._clock()
        try:
            yield
        finally:
            with self._lock:  # chains take snapshots of themselves, at once
                self.spent += self._clock() - began

    def written(self) -> None:
        """Learn that a checkpoint is complete."""
        self._last = self._clock()
        self._expected = GROWTH * (self.spent - self._spent_before)
        self._spent_before = self.spent

    def is_due(self) -> bool:
        """Return whether the next checkpoint would keep the share."""
        now = self._clock()
        is_affordable = self.spent + self._expected <= TIME_SHARE * (now - self._began)
        return is_affordable and now - self._last >= EVERY_SECONDS
