"""Compiled code on disk is used when it is whole and new, and never costs a fit."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from disaggregate.sampler.compiled import disk_cache
from disaggregate.sampler.compiled.disk_cache import DiskCache, keep_on_disk, stamp_of

MODULE = "def twice(x):\n    return 2 * x\n"


@pytest.fixture
def twice(tmp_path, monkeypatch):
    """Return a fresh dispatcher of the same function, as another process would have."""
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "twice.py").write_text(MODULE)

    def fresh():
        scope = {}
        exec(compile(MODULE, str(tmp_path / "twice.py"), "exec"), scope)
        dispatcher = keep_on_disk(numba.njit(scope["twice"]))
        assert dispatcher(4) == 8
        return dispatcher.stats

    return fresh


def files(tmp_path, ending):
    return list((tmp_path / "cache").rglob(f"*.{ending}"))


def test_the_second_process_does_not_compile(twice):
    assert sum(twice().cache_hits.values()) == 0
    assert sum(twice().cache_hits.values()) == 1


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("content", ["", "short", "changed"])
def test_damaged_files_are_compiled_again_and_mended(twice, tmp_path, ending, content):
    twice()
    [path] = files(tmp_path, ending)
    held = path.read_bytes()
    middle = len(held) // 2
    changed = held[:middle] + bytes([held[middle] ^ 1]) + held[middle + 1 :]
    path.write_bytes({"": b"", "short": held[:-5], "changed": changed}[content])
    twice()
    assert sum(twice().cache_hits.values()) == 1


def test_a_part_that_changed_is_noticed(twice, tmp_path, monkeypatch):
    twice()
    monkeypatch.setattr(disk_cache, "stamp_of", lambda kernels: b"other sources")
    assert sum(twice().cache_hits.values()) == 0


def test_the_stamp_is_that_of_all_sources(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("1")
    first = stamp_of.__wrapped__(tmp_path)
    assert stamp_of.__wrapped__(tmp_path) == first
    (tmp_path / "a" / "x.py").write_text("2")
    assert stamp_of.__wrapped__(tmp_path) != first


def test_files_that_kernels_import_are_part_of_the_stamp_and_others_are_not(tmp_path):
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "k.py").write_text("import math\nfrom disaggregate.model.constants import ONE\n")
    (tmp_path / "model").mkdir()
    for name in ("constants", "plain"):
        (tmp_path / "model" / f"{name}.py").write_text("ONE = 1")
    first = stamp_of.__wrapped__(kernels, tmp_path)
    (tmp_path / "model" / "plain.py").write_text("ONE = 2")
    assert stamp_of.__wrapped__(kernels, tmp_path) == first
    (tmp_path / "model" / "constants.py").write_text("ONE = 2")
    assert stamp_of.__wrapped__(kernels, tmp_path) != first


def test_a_full_disk_costs_nothing(twice, monkeypatch):
    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk_cache.WholeFiles, "_save_data", full)
    assert sum(twice().cache_hits.values()) == 0


def test_without_any_folder_kernels_are_compiled_in_memory(monkeypatch):
    def none(self, function):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(DiskCache, "__init__", none)
    assert keep_on_disk(numba.njit(lambda x: x + 1))(1) == 2


@pytest.mark.skipif(os.name == "nt", reason="folders that nobody may write to")
def test_the_kernels_can_be_imported_where_nothing_can_be_written(tmp_path):
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": "/dev/null/x",
        "HOME": "/dev/null",
        "XDG_CACHE_HOME": "/dev/null",
        "PYTHONPATH": str(Path(disk_cache.__file__).parents[3]),
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserWideCacheLocator",
    }
    code = "import disaggregate.sampler.compiled.dense as dense; print('imported')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "imported", done.stderr
