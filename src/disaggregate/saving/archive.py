"""The file itself: a zip of one JSON document and raw arrays, checked in full before anything is used.

Reading never runs code, never unpickles, and never takes more memory than the file's own size allows for.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, TypeGuard

import numpy as np

from disaggregate.storage.atomic_files import atomic_write

FORMAT = 1
_DOCUMENT, _CHECKSUM = "disaggregate.json", "checksum"
_KINDS = ("<f8", "<f4", "<i8", "<i4", "|i1", "|u1", "|b1")

# Deflate shrinks real draws by ten at most, and what it shrinks by more we do not deflate: a small file cannot
# become a large one. Documents grow once more when they are read, a bracket into an object, hence their own bound.
ALWAYS_ALLOWED = 2**26
_MOST_TIMES = 20
_SHORT_DOCUMENT = 2**20
_AT_ONCE = 2**20
_LARGE_MEMBER = 2**30
_MOST_AXES = 8
_LONGEST_EMPTY = 2**20


class ArchiveError(ValueError):
    """A file that cannot be loaded; the message says why."""


def write_archive(
    path: Path, document: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, packed: bool = True
) -> None:
    """Write a document and its arrays; whatever happens, the path holds either the old file or the new one.

    Parameters
    ----------
    path : Path
        Where to.
    document : mapping
        Anything that JSON can hold.
    arrays : mapping of ndarray
        Arrays of numbers, by name.
    packed : bool, default=True
        Whether to make the file smaller, which takes longer than writing it.
    """
    plain = {name: _little_endian(array) for name, array in arrays.items()}
    described = {
        name: {"kind": array.dtype.str, "shape": list(array.shape), "sha256": _digest(_bytes_of(array))}
        for name, array in plain.items()
    }
    text = json.dumps({"format": FORMAT, "arrays": described, "document": document}, allow_nan=False)
    members: dict[str, Any] = {_DOCUMENT: text.encode(), _CHECKSUM: _digest(text.encode()).encode()}
    members |= {f"arrays/{name}": _bytes_of(array) for name, array in plain.items()}
    with atomic_write(path) as partial, partial.open("wb") as stream:
        write_members(stream, members, zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED)
        if sum(map(len, members.values())) > _allowed(stream.tell()):
            stream.seek(0)
            stream.truncate()
            write_members(stream, members, zipfile.ZIP_STORED)
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
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = _read_sizes(path, archive)
            whole = _read_document(path, archive, sizes)
            _require_only(path, sizes, whole["arrays"])
            return whole["document"], {
                name: _read_array(path, archive, sizes, name, description)
                for name, description in whole["arrays"].items()
            }
    except _DAMAGE as error:
        raise ArchiveError(f"{path} is damaged or not a model file: {error}.") from error


# What the reader of zip files raises on bytes that are none.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, OSError),
    *(struct.error, UnicodeError, OverflowError, IndexError),
)


def write_members(stream: IO[bytes], members: Mapping[str, Any], compression: int) -> None:
    """Write the members of an archive."""
    with zipfile.ZipFile(stream, "w", compression, compresslevel=1) as archive:
        for name, content in members.items():
            if name == _DOCUMENT and len(content) > _SHORT_DOCUMENT:
                archive.writestr(name, content, zipfile.ZIP_STORED)
                continue
            with archive.open(name, "w", force_zip64=len(content) > _LARGE_MEMBER) as target:
                for first in range(0, len(content), _AT_ONCE):  # never all that is packed in memory
                    target.write(content[first : first + _AT_ONCE])


def _read_sizes(path: Path, archive: zipfile.ZipFile) -> dict[str, int]:
    """Size of each member, once the directory of the archive makes sense."""
    sizes: dict[str, int] = {}
    for member in archive.infolist():
        if member.filename in sizes:
            raise ArchiveError(f"{path} is damaged: it holds {member.filename!r} twice.")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(
                f"{path} is not a model file: {member.filename!r} is compressed in an unsupported way."
            )
        sizes[member.filename] = member.file_size
    if sum(sizes.values()) > _allowed(path.stat().st_size):
        raise ArchiveError(f"{path} claims to hold {sum(sizes.values()):,} bytes, far more than is possible.")
    return sizes


def _allowed(n_bytes: int) -> int:
    """Bytes that a file of so many may hold."""
    return max(ALWAYS_ALLOWED, _MOST_TIMES * n_bytes)


def _require_only(path: Path, sizes: Mapping[str, int], arrays: Mapping[str, Any]) -> None:
    others = set(sizes) - {_DOCUMENT, _CHECKSUM, *(f"arrays/{name}" for name in arrays)}
    if others:
        raise ArchiveError(f"{path} is not a model file: it holds {min(others)!r}, which no model does.")


def _read_document(path: Path, archive: zipfile.ZipFile, sizes: Mapping[str, int]) -> dict[str, Any]:
    if _DOCUMENT not in sizes or _CHECKSUM not in sizes:
        raise ArchiveError(f"{path} is not a model file: it lacks {_DOCUMENT}.")
    if sizes[_DOCUMENT] > max(_SHORT_DOCUMENT, path.stat().st_size):
        raise ArchiveError(f"{path} is damaged: its description is longer than is possible.")
    text = _read_member(path, archive, _DOCUMENT, sizes[_DOCUMENT])
    if _digest(text).encode() != _read_member(path, archive, _CHECKSUM, 64):
        raise ArchiveError(f"{path} is damaged: its checksum does not match.")
    whole = _parsed(path, text)
    found = whole.get("format") if isinstance(whole, dict) else None
    if type(found) is not int or found != FORMAT:
        newer = isinstance(found, int) and found > FORMAT
        advice = (
            "it was written by a newer version of disaggregate; update yours"
            if newer
            else "no version can read it"
        )
        raise ArchiveError(f"{path} has format {_shown(found)}, expected {FORMAT}: {advice}.")
    if not (isinstance(whole.get("arrays"), dict) and isinstance(whole.get("document"), dict)):
        raise ArchiveError(f"{path} is damaged: its description lacks arrays or document.")
    return whole


def _parsed(path: Path, text: bytes | bytearray) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"{path} is damaged: its description cannot be read ({error}).") from error


def _read_array(
    path: Path, archive: zipfile.ZipFile, sizes: Mapping[str, int], name: str, description: Any
) -> np.ndarray:
    kind, shape, digest = (
        description.get(key) if isinstance(description, dict) else None for key in ("kind", "shape", "sha256")
    )
    if kind not in _KINDS or not _is_shape(shape) or not isinstance(digest, str):
        raise ArchiveError(f"{path} is damaged: its array {_shown(name)} is described as {_shown(description)}.")
    n_bytes = math.prod(shape) * np.dtype(kind).itemsize
    if sizes.get(f"arrays/{name}") != n_bytes:
        raise ArchiveError(f"{path} is damaged: its array {_shown(name)} does not have the stated size.")
    content = _read_member(path, archive, f"arrays/{name}", n_bytes)
    if _digest(content) != digest:
        raise ArchiveError(f"{path} is damaged: the checksum of its array {_shown(name)} does not match.")
    array = np.frombuffer(content, dtype=kind).reshape(shape)
    # Truth values are single bytes, but only two of the 256 are ones.
    return array.view(np.uint8) != 0 if kind == "|b1" else array


def _is_shape(shape: Any) -> TypeGuard[list[int]]:
    """Return whether this is a shape; an empty one must not be large in its other directions."""
    if not isinstance(shape, list) or len(shape) > _MOST_AXES:
        return False
    if not all(type(length) is int and length >= 0 for length in shape):
        return False
    return math.prod(shape) > 0 or max(shape) <= _LONGEST_EMPTY


def _read_member(path: Path, archive: zipfile.ZipFile, name: str, n_bytes: int) -> bytearray:
    """Read so many bytes and no more, whatever the directory of the archive says."""
    content = bytearray()
    with archive.open(name) as stream:
        while len(content) < n_bytes:
            piece = stream.read(min(_AT_ONCE, n_bytes - len(content)))
            if not piece:
                raise ArchiveError(f"{path} is damaged: {name} is shorter than it claims.")
            content += piece
        if stream.read(1):
            raise ArchiveError(f"{path} is damaged: {name} is longer than it claims.")
    return content


def _shown(value: Any) -> str:
    """Show a value, shortened when it is long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:100]}…"


def _little_endian(array: np.ndarray) -> np.ndarray:
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
    if plain.dtype.str not in _KINDS:
        raise TypeError(f"arrays of {array.dtype} cannot be saved")
    return plain


def _bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _digest(content: bytes | bytearray | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()
