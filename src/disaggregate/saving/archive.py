"""The file itself: a zip of one JSON document and raw arrays, checked in full before anything is believed.

Reading never runs code, never unpickles, and never takes more memory than the file's own size allows for.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from disaggregate.complete_file import complete_or_absent

FORMAT = 1
_DOCUMENT, _CHECKSUM = "disaggregate.json", "checksum"
_KINDS = ("<f8", "<f4", "<i8", "<i4", "|i1", "|u1", "|b1")

# A document is small beside its arrays, and deflate shrinks real draws by ten at most: whoever claims more lies.
_LARGEST_DOCUMENT = 2**28
_ALWAYS_ALLOWED = 2**26
_MOST_TIMES = 200


class ArchiveError(ValueError):
    """A file that cannot be loaded; the message says why."""


def write_archive(path: Path, document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a document and its arrays; whatever happens, the path holds either the old file or the new one.

    Parameters
    ----------
    path : Path
        Where to.
    document : mapping
        Anything that JSON can hold.
    arrays : mapping of ndarray
        Arrays of numbers, by name.
    """
    plain = {name: _little_endian(array) for name, array in arrays.items()}
    described = {
        name: {"kind": array.dtype.str, "shape": list(array.shape), "sha256": _digest(array)}
        for name, array in plain.items()
    }
    text = json.dumps({"format": FORMAT, "arrays": described, "document": document}, allow_nan=False)
    with complete_or_absent(path) as partial, partial.open("xb") as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(_DOCUMENT, text)
            archive.writestr(_CHECKSUM, hashlib.sha256(text.encode()).hexdigest())
            for name, array in plain.items():
                archive.writestr(f"arrays/{name}", array.tobytes())
        stream.flush()
        os.fsync(stream.fileno())


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a document and its arrays, or raise ArchiveError.

    Parameters
    ----------
    path : Path
        The file.
    """
    if not path.is_file():
        raise ArchiveError(f"{path} is not there; expected a model that was written with save.")
    allowed = max(_ALWAYS_ALLOWED, _MOST_TIMES * path.stat().st_size)
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
            if sum(sizes.values()) > allowed:
                raise ArchiveError(f"{path} claims to hold {sum(sizes.values()):,} bytes, far more than it can.")
            whole = _read_document(path, archive, sizes)
            return whole["document"], {
                name: _read_array(path, archive, sizes, name, told) for name, told in whole["arrays"].items()
            }
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise ArchiveError(f"{path} is damaged or is no model file: {error}.") from error


def _read_document(path: Path, archive: zipfile.ZipFile, sizes: Mapping[str, int]) -> dict[str, Any]:
    if _DOCUMENT not in sizes or _CHECKSUM not in sizes:
        raise ArchiveError(f"{path} is no model file: it lacks {_DOCUMENT}.")
    text = _read_member(path, archive, _DOCUMENT, min(sizes[_DOCUMENT], _LARGEST_DOCUMENT))
    checksum = _read_member(path, archive, _CHECKSUM, 64)
    if hashlib.sha256(text).hexdigest().encode() != checksum:
        raise ArchiveError(f"{path} is damaged: its checksum does not match.")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"{path} is damaged: its description cannot be read ({error}).") from error
    found = whole.get("format") if isinstance(whole, dict) else None
    if found != FORMAT:
        newer = isinstance(found, int) and found > FORMAT
        advice = (
            "it was written by a newer version of disaggregate; update yours" if newer else "nothing can read it"
        )
        raise ArchiveError(f"{path} has format {found!r}, expected {FORMAT}: {advice}.")
    if not (isinstance(whole.get("arrays"), dict) and isinstance(whole.get("document"), dict)):
        raise ArchiveError(f"{path} is damaged: its description lacks arrays or document.")
    return whole


def _read_array(
    path: Path, archive: zipfile.ZipFile, sizes: Mapping[str, int], name: str, told: Any
) -> np.ndarray:
    kind, shape, digest = (
        told.get(key) if isinstance(told, dict) else None for key in ("kind", "shape", "sha256")
    )
    is_shape = isinstance(shape, list) and all(type(length) is int and length >= 0 for length in shape)
    if kind not in _KINDS or not is_shape or not isinstance(shape, list) or not isinstance(digest, str):
        raise ArchiveError(f"{path} is damaged: its array {name!r} is described as {told!r}.")
    n_bytes = math.prod(shape) * np.dtype(kind).itemsize
    if sizes.get(f"arrays/{name}") != n_bytes:
        raise ArchiveError(f"{path} is damaged: its array {name!r} has not the {n_bytes:,} bytes that it claims.")
    array = np.frombuffer(_read_member(path, archive, f"arrays/{name}", n_bytes), dtype=kind).reshape(shape).copy()
    if _digest(array) != digest:
        raise ArchiveError(f"{path} is damaged: the checksum of its array {name!r} does not match.")
    return array


def _read_member(path: Path, archive: zipfile.ZipFile, name: str, n_bytes: int) -> bytes:
    """Read so many bytes and no more, whatever the directory of the archive says."""
    with archive.open(name) as stream:
        content = stream.read(n_bytes)
        if len(content) != n_bytes or stream.read(1):
            raise ArchiveError(f"{path} is damaged: {name} is longer or shorter than it claims.")
    return content


def _little_endian(array: np.ndarray) -> np.ndarray:
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
    if plain.dtype.str not in _KINDS:
        raise TypeError(f"arrays of {array.dtype} cannot be saved")
    return plain


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()
