"""One fit at a time writes to a checkpoint or a folder: others are refused as far as locks reach."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]


_held: set[int] = set()


def _release_all() -> None:
    """Hold nothing in a forked process: the worker of a pool may outlive the fit, and with it the lock."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_all)


@contextmanager
def locked(**paths: Any) -> Iterator[None]:
    """Hold some files or folders for as long as the ``with`` lasts.

    A hidden file beside each is locked. The lock ends with the process, however that ends, and the file with the
    block.

    Parameters
    ----------
    **paths : path or None
        What to lock, by the names that messages use; None for nothing.
    """
    with ExitStack() as stack:
        for name, path in paths.items():
            if path is not None and fcntl is not None:
                stack.enter_context(_locked(Path(path).absolute(), name))
        yield


@contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    lock = path.with_name(f".{path.name}.lock")
    descriptor = _acquired(lock, f"{name}={str(path)!r}")
    if descriptor is None:
        yield
        return
    _held.add(descriptor)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)  # while it is held, so that no process holds a file without a name
        _held.discard(descriptor)
        os.close(descriptor)


def _acquired(lock: Path, what: str) -> int | None:
    """Lock a file, made for it; None where no file can be made, as writing will report that."""
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise ValueError(
                f"{what} is in use by another fit; give another one, or wait until that fit ends."
            ) from error
        except OSError:  # a file system without locks
            os.close(descriptor)
            return None
        if _is_at(descriptor, lock):
            return descriptor
        os.close(descriptor)  # it was removed by its last holder


def _is_at(descriptor: int, lock: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(lock))
    except FileNotFoundError:
        return False
