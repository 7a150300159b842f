"""Draws in a folder: the same draws, in memory that does not grow, whatever happens on the way."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import shutil
import threading
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest

import disaggregate as dg
from disaggregate.fitting.draw_storage import FolderStorage
from disaggregate.fitting.sparse import SparseSampling
from disaggregate.posterior import diagnostics, draws
from disaggregate.sampler.dense.chains import DenseChains, DenseDraws
from disaggregate.sampler.dense.whole import WholeData
from disaggregate.storage.draw_store import DrawsOnDisk, InMemoryDraws
from tests.helpers.interrupted_fits import (
    KINDS,
    TOWN,
    Killed,
    assert_same,
    fit,
    interrupt_after,
    killed_after,
    model_of,
    uninterrupted,
)
from tests.helpers.small import small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("kind", KINDS)
def test_the_place_of_the_draws_changes_no_bit(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(draws, "DRAWS_AT_ONCE", 37)
    monkeypatch.setattr(draws, "VALUES_AT_ONCE", 37)
    expected = fit(model_of(kind))
    model = fit(model_of(kind), draws_to=tmp_path / "draws")
    assert_same(model, expected)
    assert str(model.diagnostics_) == str(expected.diagnostics_)
    model.save(tmp_path / "m.dgz")
    shutil.rmtree(tmp_path / "draws")  # a saved model has its own
    assert_same(dg.load(tmp_path / "m.dgz"), expected)


@pytest.mark.parametrize("n_writes", [1, 3])
@pytest.mark.parametrize("kind", ["one replica", "sparse"])
def test_a_killed_fit_goes_on_in_the_folder(kind, n_writes, tmp_path, monkeypatch):
    length = {"n_draws": 1000}
    whole = uninterrupted(kind, **length)
    where = {"checkpoint": tmp_path / "run.dgc", "draws_to": tmp_path / "draws"}
    with monkeypatch.context() as patch:
        killed_after(n_writes, patch)
        with pytest.raises(Killed):
            fit(model_of(kind, **length), **where)
    for _ in range(2):  # from where it was killed, and from its end
        assert_same(fit(model_of(kind, **length), resume=True, **where), whole)


def test_a_checkpoint_does_not_repeat_what_is_in_the_folder(tmp_path):
    sizes = []
    for n_draws in (200, 2000):
        where = {"checkpoint": tmp_path / f"{n_draws}.dgc", "draws_to": tmp_path / str(n_draws)}
        fit(model_of("one replica", n_draws=n_draws), **where)
        sizes.append(where["checkpoint"].stat().st_size)
    assert sizes[1] < 1.2 * sizes[0]


def test_a_fit_in_memory_can_go_on_in_a_folder_but_not_the_other_way_round(tmp_path, monkeypatch):
    whole = uninterrupted("one replica", n_draws=1000)
    where = {"checkpoint": tmp_path / "run.dgc"}
    with monkeypatch.context() as patch:
        killed_after(3, patch)
        with pytest.raises(Killed):
            fit(model_of("one replica", n_draws=1000), **where)
    folder = tmp_path / "draws"
    assert_same(fit(model_of("one replica", n_draws=1000), resume=True, draws_to=folder, **where), whole)
    with pytest.raises(ValueError, match="are in a folder: give the same draws_to="):
        fit(model_of("one replica", n_draws=1000), resume=True, **where)


def test_files_that_changed_meanwhile_are_noticed(tmp_path):
    where = {"checkpoint": tmp_path / "run.dgc", "draws_to": tmp_path / "draws"}
    fit(model_of("sparse"), **where)
    file = tmp_path / "draws" / "chain0_1.raw"
    content = file.read_bytes()
    for changed in (content[:-1], b"x" + content[1:]):
        file.write_bytes(changed)
        with pytest.raises(ValueError, match="does not hold the draws that were written there"):
            fit(model_of("sparse"), resume=True, **where)
    file.unlink()
    with pytest.raises(ValueError, match="does not hold the draws that were written there"):
        fit(model_of("sparse"), resume=True, **where)


@pytest.mark.parametrize("kind", ["one replica", "sparse"])
def test_a_warm_start_adds_to_the_folder(kind, tmp_path):
    longer = fit(model_of(kind, n_draws=130))
    model = fit(model_of(kind, n_draws=65), draws_to=tmp_path)
    before, first = model.posterior_, model.predict_draws(TOWN.X)
    with pytest.raises(ValueError, match="give the same draws_to="):
        fit(model, warm_start=True)
    fit(model, warm_start=True, draws_to=tmp_path)
    assert_same(model, longer)
    model.posterior_ = before  # somebody may still look at the draws of the first fit
    np.testing.assert_array_equal(model.predict_draws(TOWN.X), first)


def test_an_interrupt_keeps_what_was_drawn(tmp_path, monkeypatch):
    whole = uninterrupted("one replica", n_draws=3000)
    interrupt_after(60, monkeypatch)
    model = fit(model_of("one replica", n_draws=3000), draws_to=tmp_path)
    assert model.stopped_early_
    [part], [full] = model.posterior_.parts, whole.posterior_.parts
    np.testing.assert_array_equal(part.delta2, full.delta2[:, : part.shape[1]])
    rows = full.weights.reshape(*full.shape, -1)[:, : part.shape[1]]
    np.testing.assert_array_equal(part.weights, rows.reshape(part.weights.shape))


@pytest.mark.full_pilots  # which other processes run
def test_other_processes_write_to_the_folder_too(tmp_path):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        model = fit(model_of("one replica", executor=pool), draws_to=tmp_path)
    assert_same(model, fit(model_of("one replica")))


def test_folders_that_cannot_be_had_are_refused_before_anything_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(DenseChains, "advance", lambda chain: pytest.fail("it was too late"))
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match=r"draws_to=.* is not empty; give another folder"):
        fit(model_of("one replica"), draws_to=tmp_path)
    for wrong in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match=r"draws_to=.* cannot be written to"):
            fit(model_of("one replica"), draws_to=wrong)
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_fit_that_was_killed_before_its_first_draw_can_be_resumed(tmp_path, monkeypatch):
    where = {"checkpoint": tmp_path / "run.dgc", "draws_to": tmp_path / "draws"}
    with monkeypatch.context() as patch:
        patch.setattr(SparseSampling, "start", raise_killed)
        with pytest.raises(Killed):
            fit(model_of("sparse"), **where)
    with pytest.raises(ValueError, match="is not empty"):
        fit(model_of("sparse"), **where)
    assert_same(fit(model_of("sparse"), resume=True, **where), fit(model_of("sparse")))


def raise_killed(*_):
    raise Killed


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("disaggregate.storage.draw_store.append_after", no_space)
    with pytest.raises(OSError, match="No space left"):
        fit(model_of("one replica"), draws_to=tmp_path)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("disaggregate")]


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="nowhere to count open files")
@pytest.mark.parametrize("kind", ["one replica", "sparse"])
def test_files_are_open_only_as_long_as_the_model_lives(kind, tmp_path):
    fit(model_of(kind))
    gc.collect()
    before = open_files()
    model = fit(model_of(kind), draws_to=tmp_path)
    gc.collect()
    assert open_files() <= before + 2 * len(model.posterior_.parts)
    del model
    gc.collect()
    assert open_files() == before


# ---- keeping ------------------------------------------------------------------------------------------

NOTHING = (np.empty((0, 2)), np.empty(0, dtype=np.int64))


def batch(n, first=0):
    return np.arange(first, first + 2 * n, dtype=float).reshape(n, 2), np.arange(n)


@pytest.mark.parametrize("make", [lambda folder: InMemoryDraws(), lambda folder: DrawsOnDisk(folder / "it")])
def test_what_is_kept_comes_back(make, tmp_path):
    kept = make(tmp_path)
    assert [len(array) for array in kept.joined(NOTHING)] == [0, 0]
    kept.append(batch(0))
    for n in (3, 1, 2):
        kept.append(batch(n))
    snapshot = kept.snapshot()
    kept.append(batch(5))
    other = make(tmp_path)
    other.restore(snapshot)
    other.append(batch(4, first=100))  # over what a run that was killed has left
    weights, whole = other.joined(NOTHING)
    np.testing.assert_array_equal(whole, [0, 1, 2, 0, 0, 1, 0, 1, 2, 3])
    np.testing.assert_array_equal(weights[:, 0], [0, 2, 4, 0, 0, 2, 100, 102, 104, 106])


def test_another_process_writes_nothing_and_brings_its_draws_back(tmp_path):
    kept = DrawsOnDisk(tmp_path / "it")
    kept.append(batch(3))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    elsewhere = pickle.loads(pickle.dumps(kept))
    elsewhere.append(batch(0))
    elsewhere.append(batch(2, first=50))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    kept.restore(pickle.loads(pickle.dumps(elsewhere)).snapshot())
    np.testing.assert_array_equal(kept.joined(NOTHING)[0][:, 0], [0, 2, 4, 50, 52])
    assert kept.snapshot()["on_disk"][0][0] == 5 * 16


def test_arrays_of_nothing_need_no_file(tmp_path):
    place = FolderStorage(tmp_path)
    assert place.put(0, "weights", (0, 3), np.dtype(float), [np.empty((0, 3))]).shape == (0, 3)
    assert not list(tmp_path.iterdir())


# ---- memory -------------------------------------------------------------------------------------------


def bytes_of_arrays():
    """Bytes that arrays hold; numba's own small objects come and go as they like."""
    gc.collect()
    of_arrays = tracemalloc.DomainFilter(inclusive=True, domain=np.lib.tracemalloc_domain)
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces([of_arrays]).traces)


def growth(chain, turns_first=3, turns_then=20):
    """Bytes that a chain takes more after some turns than after a few."""
    tracemalloc.start()
    try:
        for _ in range(turns_first):
            chain.advance()
        before = bytes_of_arrays()
        for _ in range(turns_then):
            chain.advance()
        return bytes_of_arrays() - before
    finally:
        tracemalloc.stop()


KINDS_OF_CHAIN = {
    "dense": {"n_replicas": 3},
    "places": {"n_replicas": 3, "context": True, "group_effects": True},
    "sparse": {"prior": "spike_slab"},
    "sparse ladder": {"prior": "spike_slab", "n_replicas": 3},
}
A_TURN = {
    "dense": 50 * 8 * 10,
    "places": 10 * 8 * 16,
    "sparse": 50 * 16,
    "sparse ladder": 10 * 16,
}  # bytes that it draws, at least


@pytest.fixture(scope="module", params=KINDS_OF_CHAIN)
def kind_and_chain(request):
    """The first chain of a fit that was set up but not run."""
    found = []

    def take(sampling, plan, watcher=None):
        found.append(sampling.chains[0])
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("disaggregate.fitting.session.run", take)
        with pytest.raises(Killed):
            fit(small_model(**KINDS_OF_CHAIN[request.param]))
    return request.param, found[0]


@pytest.fixture
def chain(kind_and_chain, monkeypatch):
    """The chain again for every test, with a plan for more draws than it will come to."""
    kind, first = kind_and_chain
    if kind == "places":  # whose sweeps are slow
        monkeypatch.setattr(WholeData, "sweeps_per_batch", 10)
    twin = copy.deepcopy(first)
    twin.schedule = replace(twin.schedule, n_burn=10, n_draws=10**6)
    return twin


@pytest.fixture
def kind(kind_and_chain):
    return kind_and_chain[0]


@pytest.fixture
def a_turn(kind):
    return A_TURN[kind]


def test_memory_grows_with_draws_in_memory(chain, a_turn):
    """If it did not, the tests below would see nothing."""
    assert growth(chain) > 20 * a_turn


def test_memory_does_not_grow_with_draws_on_disk(chain, a_turn, tmp_path):
    chain.store = DrawsOnDisk(tmp_path / "it")
    assert growth(chain) < 3 * a_turn


@pytest.mark.parametrize(
    "schedule", [{"n_burn": 10**6}, pytest.param({"thin": 10**6}, marks=pytest.mark.thorough)], ids=str
)
def test_memory_does_not_grow_with_sweeps_that_are_not_kept(schedule, chain, a_turn):
    chain.schedule = replace(chain.schedule, **schedule)
    assert growth(chain) < 3 * a_turn


def test_thinning_keeps_every_so_many_draws_with_what_belongs_to_them(chain, kind):
    """The likelihood ratios along the ladder too, which would grow with sweeps else."""
    thinned = copy.deepcopy(chain)
    thinned.schedule = replace(thinned.schedule, n_burn=13, n_draws=11, thin=7)
    chain.schedule = replace(chain.schedule, n_burn=13, n_draws=77)
    for one in (chain, thinned):
        while one.n_done < one.n_sweeps:
            one.advance()
    every, some = (own[0] if isinstance(own, list) else own for own in (chain.draws(), thinned.draws()))
    assert some.n_draws == 11
    name = "scales" if isinstance(some, DenseDraws) else "scale"
    np.testing.assert_array_equal(getattr(some, name), getattr(every, name)[6::7])
    np.testing.assert_array_equal(some.log_ratios, every.log_ratios[6::7])
    assert len(some.log_ratios) == (0 if kind == "sparse" else 11)


def test_diagnostics_look_at_few_individuals_at_once(monkeypatch):
    expected = fit(model_of("sparse")).diagnostics_
    monkeypatch.setattr(diagnostics, "VALUES_AT_ONCE", 1000)
    found = fit(model_of("sparse")).diagnostics_
    for name, values in expected.rhat.items():
        np.testing.assert_allclose(found.rhat[name], values)


@pytest.mark.parametrize("kind", ["one replica", "sparse"])
@pytest.mark.parametrize("how", ["cut", "changed"])
def test_draws_that_were_cut_or_changed_are_noticed(kind, how, tmp_path):
    model = fit(model_of(kind), draws_to=tmp_path / "draws")
    path = tmp_path / "draws" / "kernel0_weights.npy"
    before = path.read_bytes()
    if how == "cut":
        os.truncate(path, 200)
    else:
        with path.open("r+b") as stream:
            stream.seek(-8, os.SEEK_END)
            stream.write(bytes(8))
    with pytest.raises(ValueError, match="does not hold the draws that were written there"):
        model.predict_proba(TOWN.X)
    with pytest.raises(ValueError, match="does not hold the draws that were written there"):
        model.save(tmp_path / "m.dgz")
    assert not (tmp_path / "m.dgz").exists()
    with path.open("r+b") as stream:  # as it was: nothing is wrong any more
        stream.write(before)
    model.predict_proba(TOWN.X)
