"""What an adapter raises when its rival is not installed, so that the tables show the row as skipped and why."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class RivalMissing(Exception):
    """A rival cannot run here; the message says what to do about it."""


def require(module: str, install: str) -> ModuleType:
    """Import a rival's package, or raise RivalMissing with the way to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise RivalMissing(f"{module} is not installed: {install}") from error
