"""Compiled code that is older than the sources it was made of."""

from pathlib import Path


def forget_stale_code(sources: Path, cache: Path) -> None:
    """Remove compiled kernels from a cache unless they are newer than every source file.

    numba itself looks only at the file of a kernel, not at those of its parts: who changes a part would go on
    with the old one, and never know.

    Parameters
    ----------
    sources : Path
        Folder with all files that kernels may be made of.
    cache : Path
        Folder in which numba keeps compiled kernels; it need not exist.
    """
    newest = max(path.stat().st_mtime for path in sources.rglob("*.py"))
    for path in cache.glob("*.nb[ci]"):
        try:
            if path.stat().st_mtime < newest:
                path.unlink()
        except OSError:  # somebody else removed it just now, or nobody may
            continue
