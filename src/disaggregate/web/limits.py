"""Limits of the page: sizes, numbers and times."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


def _half_of_memory() -> int:
    """Return half of the memory of this machine, where that is known, and 8 GB at most."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = 2**34
    return max(2**31, min(2**33, memory // 2))


@dataclass(frozen=True)
class Limits:
    """Bounds of one server.

    Attributes
    ----------
    upload : int
        Bytes of a request.
    sessions : int
        Analyses that are open at a time.
    fits : int
        Fits that run at a time; others wait.
    tasks : int
        Short tasks that run at a time, such as reading tables.
    task_seconds : float
        Longest time of a task.
    task_memory : int
        Bytes of address space of a task; by default half of the machine's memory, and 8 GB at most.
    """

    upload: int = 200 * 2**20
    sessions: int = 40
    fits: int = 2
    tasks: int = 2
    task_seconds: float = 120.0
    task_memory: int = field(default_factory=_half_of_memory)
