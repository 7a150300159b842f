"""Files that are complete or absent: when something goes wrong, an earlier one of that name stays as it was."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

_FOR_ANYBODY = 0o666  # less what the process forbids by its umask


@contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """Give a hidden file beside the target to write to, which takes the target's name at the end.

    The file is there, empty, and as open to others as the one that it is to replace: what only its owner may read
    is never readable to others, not even while it is written.

    Parameters
    ----------
    target : Path
        Where the file is to be. On any failure, an interrupt among them, nothing is left of the new one.
    """
    require_plain_file(target)
    partial = _beside(target)
    try:
        _create(partial, _mode_of(target))
        yield partial
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def require_writable(target: Path) -> None:
    """Raise OSError now where a file could not be written later: a read-only folder, a name that is too long.

    Parameters
    ----------
    target : Path
        Where a file is to be. It stays as it is.
    """
    require_plain_file(target)
    partial = _beside(target)
    try:
        _create(partial, _mode_of(target))
    finally:
        partial.unlink(missing_ok=True)


def require_disk_space(target: Path, n_bytes: int) -> None:
    """Raise OSError now where the disk will be full before so much is written.

    Parameters
    ----------
    target : Path
        A file or folder that is there or is to be there.
    n_bytes : int
        Bytes that it will take at least.
    """
    folder = next(path for path in (target.absolute(), *target.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(folder).free
    if free < n_bytes:
        raise OSError(
            errno.ENOSPC,
            f"{target} will take {_megabytes(n_bytes)} MB or more, and {_megabytes(free)} MB are free; make "
            "room, write to another disk, or keep fewer draws or kernels (n_draws, n_chains, centers)",
        )


def _megabytes(n_bytes: int) -> str:
    megabytes = n_bytes / 2**20
    return f"{megabytes:,.0f}" if megabytes >= 1.0 else f"{megabytes:.2f}"


def require_plain_file(target: Path) -> None:
    """Raise OSError unless a file can be put there without putting away a link, a device or a pipe.

    Parameters
    ----------
    target : Path
        A file, or a name that is free.
    """
    if target.is_symlink():
        raise OSError(f"{target} is a link, which would be replaced; give the path of the file itself")
    if target.exists() and not target.is_file():
        raise OSError(f"{target} is not a plain file but a folder, a device or a pipe; give the path of a file")


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")


def _mode_of(target: Path) -> int | None:
    try:
        return stat.S_IMODE(target.stat().st_mode) & 0o777
    except FileNotFoundError:
        return None


def _create(path: Path, mode: int | None) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FOR_ANYBODY if mode is None else mode))
    if mode is not None:
        path.chmod(mode)  # the umask may have taken something away
