"""Stores for the draws of a chain: in memory, or in files that grow batch by batch."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any, Protocol

import numpy as np

Batch = tuple[np.ndarray, ...]

_AT_ONCE = 2**20


class DrawStore(Protocol):
    """The draws of one chain so far: a few arrays that grow along their first axis."""

    def append(self, batch: Batch) -> None:
        """Add some draws."""

    def joined(self, nothing: Batch) -> Batch:
        """Return all draws; ``nothing`` is what an empty batch looks like."""

    def snapshot(self) -> Any:
        """Take a snapshot of the draws, as plain data and arrays."""

    def restore(self, snapshot: Any) -> None:
        """Keep what was kept then, and nothing else."""


class InMemoryDraws:
    """Draws in a list of batches."""

    def __init__(self) -> None:
        self._batches: list[Batch] = []

    def append(self, batch: Batch) -> None:
        """Add some draws; batches without any take no room."""
        if any(len(array) for array in batch):
            self._batches.append(tuple(array.copy() for array in batch))  # not a view of a larger array

    def joined(self, nothing: Batch) -> Batch:
        """Return all draws."""
        return merged([nothing, *self._batches])

    def snapshot(self) -> list[Batch]:
        """Record what is kept, joined, because few arrays are written faster than many."""
        if len(self._batches) > 1:
            self._batches = [merged(self._batches)]
        return list(self._batches)

    def restore(self, snapshot: Any) -> None:
        """Keep what was kept then, and nothing else."""
        if not isinstance(snapshot, (list, tuple)):
            raise ValueError("the draws of this checkpoint are in a folder: give the same draws_to= to resume it.")
        self._batches = [tuple(batch) for batch in snapshot]


class DrawsOnDisk:
    """Draws in files, one per array, that are open only while a batch is written.

    What lies behind the last known byte is written over: it comes from a run that was killed after its last
    checkpoint. Only the process that has this object writes: a worker that outlives its fit must not write into
    the files of the one that resumes it. What is sent to other processes keeps new draws in memory, to bring
    them back.

    Parameters
    ----------
    stem : Path
        Beginning of the files' names.
    """

    def __init__(self, stem: Path) -> None:
        self._stem = stem
        self._known: list[tuple[int, int]] = []  # bytes of each file that count, and their checksum

    def __reduce__(self) -> tuple[type[DrawsInTransit], tuple[list[tuple[int, int]]]]:
        return DrawsInTransit, (self._known,)

    def append(self, batch: Batch) -> None:
        """Add some draws."""
        known = self._known or [(0, 0)] * len(batch)
        self._known = [
            append_after(self._path(index), array.tobytes(), *known[index]) for index, array in enumerate(batch)
        ]

    def joined(self, nothing: Batch) -> Batch:
        """Map all draws into memory, without reading them yet."""
        known = self._known or [(0, 0)] * len(nothing)
        return tuple(
            _mapped(self._path(index), n_bytes, like) if n_bytes else like
            for index, (like, (n_bytes, _)) in enumerate(zip(nothing, known, strict=True))
        )

    def snapshot(self) -> dict[str, Any]:
        """Take down how far the files are, once they are safe on disk."""
        for index in range(len(self._known)):
            with self._path(index).open("rb") as stream:
                os.fsync(stream.fileno())
        return {"on_disk": [list(known) for known in self._known]}

    def restore(self, snapshot: Any) -> None:
        """Go back to where the files were; draws that were in memory then are written to them."""
        before, self._known = self._known, []
        if isinstance(snapshot, (list, tuple)):
            for batch in snapshot:
                self.append(tuple(batch))
            return
        known = [(int(n_bytes), int(checksum)) for n_bytes, checksum in snapshot["on_disk"]]
        if known != before:  # else only this object has written since
            for index, (n_bytes, checksum) in enumerate(known):
                _require_content(self._path(index), n_bytes, checksum)
        self._known = known
        for batch in snapshot.get("new", ()):
            self.append(tuple(batch))

    def _path(self, index: int) -> Path:
        return self._stem.with_name(f"{self._stem.name}_{index}.raw")


class DrawsInTransit:
    """What :class:`DrawsOnDisk` is in another process: new draws stay in memory until they are back.

    Parameters
    ----------
    known : list of tuple of int
        Bytes of each file that count, and their checksum, when it was sent.
    """

    def __init__(self, known: list[tuple[int, int]]) -> None:
        self._known, self._new = known, InMemoryDraws()

    def append(self, batch: Batch) -> None:
        """Add some draws."""
        self._new.append(batch)

    def joined(self, nothing: Batch) -> Batch:
        """Return the new draws; the others are where the files are."""
        return self._new.joined(nothing)

    def snapshot(self) -> dict[str, Any]:
        """Take down what is new, for :meth:`DrawsOnDisk.restore`."""
        return {"on_disk": [list(known) for known in self._known], "new": self._new.snapshot()}

    def restore(self, snapshot: Any) -> None:
        """Go back to where it was sent from."""
        self._known = [(int(n_bytes), int(checksum)) for n_bytes, checksum in snapshot["on_disk"]]
        self._new.restore(snapshot.get("new", []))


def are_on_disk(snapshot: Any) -> bool:
    """Return whether the draws of a snapshot are in files beside it."""
    return isinstance(snapshot, dict)


def merged(batches: list[Batch]) -> Batch:
    """Join batches of arrays end to end."""
    return tuple(np.concatenate(parts) for parts in zip(*batches, strict=True))


def append_after(path: Path, content: bytes, n_bytes: int, checksum: int) -> tuple[int, int]:
    """Write right behind the bytes that count, and return how many there are then, with their checksum."""
    with path.open("r+b" if path.exists() else "wb") as stream:
        stream.seek(n_bytes)
        stream.truncate()
        stream.write(content)
    return n_bytes + len(content), zlib.crc32(content, checksum)


def _mapped(path: Path, n_bytes: int, like: np.ndarray) -> np.ndarray:
    n_rows = n_bytes // (like.dtype.itemsize * int(np.prod(like.shape[1:])))
    return np.asarray(np.memmap(path, dtype=like.dtype, mode="r", shape=(n_rows, *like.shape[1:])))


def _require_content(path: Path, n_bytes: int, checksum: int) -> None:
    found, left = 0, n_bytes
    if path.exists():
        with path.open("rb") as stream:
            while left and (piece := stream.read(min(_AT_ONCE, left))):
                found, left = zlib.crc32(piece, found), left - len(piece)
    if left or found != checksum:
        raise ValueError(
            f"{path} does not hold the draws that were written there: give the draws_to= of the fit that is to go "
            "on, with its files as they were."
        )
