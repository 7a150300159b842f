"""Whether a fit ends well, is interrupted or fails: no thread, open file or process stays behind."""

import gc
import multiprocessing
import os
import threading
from collections import Counter
from pathlib import Path

import pytest

import disaggregate as dg
from disaggregate.sampler.dense.chains import DenseChains
from tests.helpers.interrupted_fits import interrupt_after
from tests.helpers.small import small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
TOWN = dg.datasets.make_districts(random_state=2)
FILES = Path("/proc/self/fd")
PROCESSES = Path(f"/proc/self/task/{os.getpid()}/children")


def fit(model, **how):
    return model.fit(TOWN.X, TOWN.shares, groups=TOWN.groups, **how)


def model_of(**settings):
    return small_model(n_replicas=1, n_jobs=2, **settings)


def what_is_there():
    """Threads, open files and processes of this process, as far as the system tells."""
    gc.collect()
    files = [path.resolve() for path in FILES.iterdir()] if FILES.is_dir() else []
    children = PROCESSES.read_text().split() if PROCESSES.is_file() else multiprocessing.active_children()
    return {
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "files": sorted(str(file) for file in files if not str(file).startswith("/proc/")),
        "processes": [str(child) for child in children],
    }


def assert_nothing_new(before):
    """Fail if there is more than before; what an earlier test left to die may be gone by now."""
    for kind, things in what_is_there().items():
        assert not Counter(things) - Counter(before[kind]), kind


@pytest.fixture
def before():
    fit(model_of())  # what the first fit loads may stay: libraries, and what they open
    return what_is_there()


def test_after_a_fit(before, tmp_path):
    fit(model_of(progress=True), checkpoint=tmp_path / "run.dgc")
    assert_nothing_new(before)
    assert [path.name for path in tmp_path.iterdir()] == ["run.dgc"]


def test_after_an_interrupt(before, tmp_path, monkeypatch):
    interrupt_after(60, monkeypatch)
    model = fit(model_of(n_draws=20_000), checkpoint=tmp_path / "run.dgc")
    assert model.stopped_early_
    assert_nothing_new(before)
    assert [path.name for path in tmp_path.iterdir()] == ["run.dgc"]


def test_after_a_failure(before, tmp_path, monkeypatch):
    real, turns = DenseChains.advance, []

    def advance(chain):
        real(chain)
        turns.append(1)
        if len(turns) == 3:
            raise KeyError("in a chain")

    monkeypatch.setattr(DenseChains, "advance", advance)
    with pytest.raises(KeyError, match="in a chain"):
        fit(model_of(n_draws=20_000), checkpoint=tmp_path / "run.dgc")
    assert_nothing_new(before)
    assert [path.name for path in tmp_path.iterdir()] == ["run.dgc"]


def test_after_a_failed_checkpoint(before, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("disaggregate.saving.archive.write_members", full)
    with pytest.raises(OSError, match="No space left"):
        fit(model_of(), checkpoint=tmp_path / "run.dgc")
    assert_nothing_new(before)
    assert not list(tmp_path.iterdir())


def test_something_left_behind_is_noticed(before, tmp_path):
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="left behind")
    thread.start()
    with (tmp_path / "left").open("w"):
        found = what_is_there()
    release.set()
    thread.join()
    assert found["threads"] != before["threads"]
    assert found["files"] != before["files"] or not FILES.is_dir()
