"""Compiled kernels on disk: used when whole and of the present sources, else kernels are compiled in memory."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

_KERNELS = Path(__file__).parent
_PACKAGE = _KERNELS.parents[1]
_IMPORTED = re.compile(rb"^from disaggregate\.([\w.]+) import", re.MULTILINE)
_DIGEST = hashlib.sha256().digest_size


@cache
def stamp_of(kernels: Path, package: Path = _PACKAGE) -> bytes:
    """Return a digest of all source files that kernels may be made of.

    numba looks only at the file of a kernel, not at those of its parts: who changes a part would go on with the
    old one, and never know. Constants and the layout of arguments come from files that kernels import.

    Parameters
    ----------
    kernels : Path
        Folder of kernels and their parts.
    package : Path, optional
        Folder of the package that they import from.
    """
    files = sorted(kernels.rglob("*.py"))
    imported = {name.decode() for file in files for name in _IMPORTED.findall(file.read_bytes())}
    files += [file for name in sorted(imported) if (file := _module_file(package, name)).is_file()]
    names_and_texts = [part for file in files for part in (file.name.encode(), file.read_bytes())]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in names_and_texts)).digest()


def _module_file(package: Path, name: str) -> Path:
    path = package.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


class WholeFiles(IndexDataCacheFile):
    """Files of numba's cache that end in a checksum, as damaged machine code would run."""

    def _save_data(self, name: str, data: Any) -> None:
        dumped = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(dumped + hashlib.sha256(dumped).digest())

    def _load_data(self, name: str) -> Any:
        stored = Path(self._data_path(name)).read_bytes()
        dumped, digest = stored[:-_DIGEST], stored[-_DIGEST:]
        if hashlib.sha256(dumped).digest() != digest:
            raise OSError(f"{name} is damaged")
        return pickle.loads(dumped)


class DiskCache(FunctionCache):
    """A cache that fails in silence: what cannot be read is compiled, what cannot be written is not kept.

    Parameters
    ----------
    function : callable
        The kernel, in Python.
    kernels : Path, optional
        Folder of all kernels and their parts.
    """

    def __init__(self, function: Callable, kernels: Path = _KERNELS) -> None:
        super().__init__(function)
        self._cache_file = WholeFiles(self._cache_path, self._impl.filename_base, stamp_of(kernels))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a kernel, None where the cache has it not, or not whole."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # damaged files may raise anything
            self._forget_index()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel, where that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk, a folder that has gone, an index that cannot be read
            self._forget_index()

    def _forget_index(self) -> None:
        try:
            Path(self._cache_file._index_path).unlink(missing_ok=True)
        except OSError:
            self.disable()


def keep_on_disk(dispatcher: Any) -> Any:
    """Let a compiled function use the cache on disk, if there is a folder for it.

    Parameters
    ----------
    dispatcher : Dispatcher
        What ``numba.njit`` returned, without a cache.
    """
    with suppress(RuntimeError, OSError):  # without a folder that can be written it is compiled in each process
        dispatcher._cache = DiskCache(dispatcher.py_func)
    return dispatcher
