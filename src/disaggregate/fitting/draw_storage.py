"""Storage of the draws of a fit: in memory, or in a folder."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from disaggregate.posterior.mapped import map_draws
from disaggregate.storage.atomic_files import atomic_write
from disaggregate.storage.draw_store import DrawsOnDisk, DrawStore, InMemoryDraws

_CLAIM = "README.txt"
_CLAIMED = """\
Posterior draws of one fit, written by disaggregate because draws_to= named this folder.

*.npy  weights of the kernels in every draw; the fitted model reads them here as long as it exists
*.raw  the same as the sampler left them, for a fit that is resumed or goes on with warm_start
"""


class DrawStorage(Protocol):
    """Where chains keep their draws, and where the posterior's arrays are."""

    def store_for(self, chain: int) -> DrawStore:
        """Return where a chain is to keep its draws."""

    def put(
        self, kernel: int, name: str, shape: tuple[int, ...], dtype: np.dtype, pieces: Iterable[np.ndarray]
    ) -> np.ndarray:
        """Make one array of a kernel's draws, of pieces along its first axis."""


class MemoryStorage:
    """Draws in memory, as usual."""

    def store_for(self, chain: int) -> DrawStore:
        """Return where a chain is to keep its draws."""
        return InMemoryDraws()

    def put(
        self, kernel: int, name: str, shape: tuple[int, ...], dtype: np.dtype, pieces: Iterable[np.ndarray]
    ) -> np.ndarray:
        """Make one array of a kernel's draws, of pieces along its first axis."""
        array, first = np.empty(shape, dtype), 0
        for piece in pieces:
            array[first : first + len(piece)] = piece
            first += len(piece)
        return array


@dataclass(frozen=True)
class FolderStorage:
    """A folder, so that memory does not grow with the number of draws.

    Attributes
    ----------
    folder : Path
        It is made if it is not there.
    """

    folder: Path

    def claim(self, *, again: bool) -> None:
        """Take the folder for a new fit; it must be empty, so that nothing is written over.

        Parameters
        ----------
        again : bool
            Whether the fit may have been killed before its first draw, with the folder just taken.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            found = {path.name for path in self.folder.iterdir()}
            if not found:
                with (self.folder / _CLAIM).open("x", encoding="utf-8") as stream:
                    stream.write(_CLAIMED)
        except OSError as error:
            raise ValueError(f"draws_to={str(self.folder)!r} cannot be written to: {error}.") from error
        if found and not (again and found == {_CLAIM}):
            raise ValueError(
                f"draws_to={str(self.folder)!r} is not empty; give another folder, or remove what an earlier fit "
                "has left there."
            )

    def store_for(self, chain: int) -> DrawStore:
        """Return where a chain is to keep its draws."""
        return DrawsOnDisk(self.folder / f"chain{chain}")

    def put(
        self, kernel: int, name: str, shape: tuple[int, ...], dtype: np.dtype, pieces: Iterable[np.ndarray]
    ) -> np.ndarray:
        """Write one array of pieces along its first axis, and map it into memory.

        It is written, not assigned to a map: a full disk is then an error and not the end of the process.
        """
        if not math.prod(shape):
            return np.empty(shape, dtype)
        path = self.folder / f"kernel{kernel}_{name}.npy"
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        with atomic_write(path) as partial, partial.open("wb") as stream:
            np.lib.format.write_array_header_2_0(stream, header)
            checksum = 0
            for piece in pieces:
                content = np.ascontiguousarray(piece, dtype).data
                checksum = zlib.crc32(content, checksum)
                stream.write(content)
        return map_draws(path, checksum)
