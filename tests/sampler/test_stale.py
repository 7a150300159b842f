"""Compiled code that is older than its sources is not used again."""

import os
from pathlib import Path

from disaggregate.sampler.compiled.stale import forget_stale_code


def file_of(path: Path, time: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time, time))
    return path


def test_only_what_is_older_than_a_source_is_forgotten(tmp_path: Path) -> None:
    file_of(tmp_path / "kernel.py", 100.0)
    file_of(tmp_path / "parts" / "part.py", 200.0)
    cache = tmp_path / "__pycache__"
    stale = [file_of(cache / name, 150.0) for name in ("kernel.1.nbc", "kernel.nbi")]
    kept = [file_of(cache / "other.1.nbc", 250.0), file_of(cache / "kernel.pyc", 150.0)]
    forget_stale_code(tmp_path, cache)
    assert not any(path.exists() for path in stale)
    assert all(path.exists() for path in kept)


def test_there_may_be_no_cache(tmp_path: Path) -> None:
    file_of(tmp_path / "kernel.py", 100.0)
    forget_stale_code(tmp_path, tmp_path / "__pycache__")
