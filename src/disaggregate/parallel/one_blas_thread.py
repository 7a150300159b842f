"""Linear algebra on one thread."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import threadpoolctl


class _Limit:
    """The limit of the whole process: set by the first user, lifted by the last.

    Fits in several threads would else lift it under one another, or leave it behind.
    """

    def __init__(self) -> None:
        self._lock, self._n_users, self._stack = threading.Lock(), 0, ExitStack()

    def enter(self, libraries: Callable[[], threadpoolctl.ThreadpoolController]) -> None:
        with self._lock:
            if self._n_users == 0:
                _control_from_this_thread()
                self._stack.enter_context(libraries().limit(limits=1, user_api="blas"))
            self._n_users += 1

    def leave(self) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                _control_from_this_thread()
                self._stack.close()

    def forget_the_lock(self) -> None:
        """Take a new lock in a forked process, where the thread that held the old one does not exist."""
        self._lock = threading.Lock()


def _control_from_this_thread() -> None:
    """Let this thread set the limit: newer versions listen to the first one alone, which need not be the last."""
    controller = getattr(threadpoolctl, "OpenBLASController", None)
    if (clear := getattr(controller, "clear_controlling_thread", None)) is not None:
        clear(force=True)


_limit = _Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_limit.forget_the_lock)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep products and decompositions on one thread as long as the context lasts.

    Chains already fill the cores; and sums that are split over threads round differently with their number, so
    that the draws would depend on the machine.
    """
    _limit.enter(threadpoolctl.ThreadpoolController)
    try:
        yield
    finally:
        _limit.leave()


@contextmanager
def one_blas_thread_here() -> Iterator[None]:
    """Do the same for a short piece of work, for which looking the libraries up again would take too long."""
    _limit.enter(_libraries)
    try:
        yield
    finally:
        _limit.leave()


@cache
def _libraries() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()
