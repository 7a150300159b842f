"""How much the page takes on: sizes, numbers and times, all bounded."""

from __future__ import annotations

from dataclasses import dataclass


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
        Bytes of address space of a task.
    """

    upload: int = 200 * 2**20
    sessions: int = 40
    fits: int = 2
    tasks: int = 2
    task_seconds: float = 120.0
    task_memory: int = 8 * 2**30
