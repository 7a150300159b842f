"""Deferred Ctrl-C: from the first sweep on it is noted, and running work ends in order, so that no draws are lost.

An exception can come between any two lines, also between the last sweep and the file that is to hold it. So a fit
that has begun to draw is not interrupted by one, but checks whether it was asked to stop.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Interrupts inside a ``with`` statement.

    Attributes
    ----------
    is_deferred : bool
        Whether the next interrupt is only noted.
    came : bool
        Whether one was noted since :meth:`defer`.
    """

    def __init__(self) -> None:
        self.is_deferred = False
        self.came = False
        self.process = os.getpid()  # a forked process starts without it

    def defer(self) -> None:
        """Note the next interrupt from now on, instead of raising it; a second one is raised."""
        self.came, self.is_deferred = False, True

    def note(self, number: int, frame: FrameType | None) -> None:
        """Take the signal."""
        if not self.is_deferred or self.came:
            raise KeyboardInterrupt
        self.came = True


_current: Interrupts | None = None


@contextmanager
def deferred_interrupts() -> Iterator[Interrupts]:
    """Let the body of a ``with`` statement defer interrupts; until it does, they are raised as usual.

    Such statements may be nested: what an inner one defers is deferred until the outermost one ends. The caller
    that opened it looks after its end whether an interrupt came. Signals go to the main thread; elsewhere, and
    where the program has a handler of its own, nothing is noted.
    """
    global _current
    if _is_noted_here():
        yield _current if _is_main_thread() else Interrupts()  # type: ignore[misc]
        return
    if not _can_handle_signals():
        yield Interrupts()
        return
    outer, _current = _current, Interrupts()
    before = signal.signal(signal.SIGINT, _current.note)
    try:
        yield _current
    finally:
        _current = outer  # first, as one more interrupt may be raised from the next line
        signal.signal(signal.SIGINT, before)


def defer_interrupts() -> None:
    """Defer interrupts from now on, until the outermost ``with`` ends; those that came before are forgotten."""
    if _is_noted_here() and _is_main_thread():
        _current.defer()  # type: ignore[union-attr]


def is_interrupted() -> bool:
    """Return whether an interrupt was noted, so that work should end."""
    return _is_noted_here() and _current.came  # type: ignore[union-attr]


def _is_noted_here() -> bool:
    return _current is not None and _current.process == os.getpid()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _can_handle_signals() -> bool:
    """Return whether signals come here, and neither to a handler of the user nor to one of ours."""
    if not _is_main_thread():
        return False
    handler = signal.getsignal(signal.SIGINT)
    return handler is signal.default_int_handler or isinstance(getattr(handler, "__self__", None), Interrupts)
