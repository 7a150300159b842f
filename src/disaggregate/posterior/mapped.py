"""Draws in files that are mapped into memory: whether the files still hold what was written there."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

_AT_ONCE = 2**22


class Stamp(NamedTuple):
    """What a file was like when it was mapped.

    Attributes
    ----------
    path : Path
        The file.
    identity : tuple of int
        Device and number of the file: a new file of the same name is another.
    size : int
        Its bytes.
    changed : int
        When it was last changed, in nanoseconds.
    checksum : int
        Of the numbers.
    """

    path: Path
    identity: tuple[int, int]
    size: int
    changed: int
    checksum: int


class MappedDraws(np.memmap):
    """An array in a file, with what the file was like."""

    stamp: Stamp | None = None


def map_draws(path: Path, checksum: int) -> np.ndarray:
    """Map an array of a file into memory, so that :func:`require_intact` can check whether the file has changed.

    Parameters
    ----------
    path : Path
        A file of numpy's own format, complete.
    checksum : int
        Checksum (CRC-32) of the numbers in it.
    """
    mapped = np.load(path, mmap_mode="r").view(MappedDraws)
    known = path.stat()
    mapped.stamp = Stamp(path, (known.st_dev, known.st_ino), known.st_size, known.st_ctime_ns, checksum)
    return np.asarray(mapped)


def is_mapped(array: np.ndarray) -> bool:
    """Return whether an array is in a file.

    Parameters
    ----------
    array : ndarray
        Of draws.
    """
    return _stamp_of(array) is not None


def require_intact(array: np.ndarray) -> None:
    """Raise ValueError if an array is in a file that was cut or changed since; others pass.

    A file that was cut would end the process when its numbers are read, without a message.

    Parameters
    ----------
    array : ndarray
        Of draws.
    """
    stamp = _stamp_of(array)
    if stamp is None:
        return
    try:
        found = os.stat(stamp.path)
    except OSError:
        return  # what is mapped stays readable without its name
    if (found.st_dev, found.st_ino) != stamp.identity or (found.st_size, found.st_ctime_ns) == stamp[2:4]:
        return
    if found.st_size < stamp.size or _checksum(array) != stamp.checksum:
        raise ValueError(
            f"{stamp.path} does not hold the draws that were written there: something has changed it. Fit again "
            "with another draws_to=, or load the model from the file that it was saved to."
        )


def _stamp_of(array: np.ndarray) -> Stamp | None:
    known: object = array
    while isinstance(known, np.ndarray):
        if isinstance(known, MappedDraws) and known.stamp is not None:
            return known.stamp
        known = known.base
    return None


def _checksum(array: np.ndarray) -> int:
    content, found = np.asarray(array).reshape(-1).view(np.uint8), 0
    for first in range(0, len(content), _AT_ONCE):
        found = zlib.crc32(content[first : first + _AT_ONCE].data, found)
    return found
