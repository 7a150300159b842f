"""Checkpoints, resuming, warm starts and interrupts: no draws are lost, and no others are drawn."""

from __future__ import annotations

import copy
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import disaggregate as dg
from disaggregate import estimator
from disaggregate.fitting.results import even_draws
from disaggregate.sampler.chain import ChainDraws, SparseChain
from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.saving import checkpoint as checkpoints
from disaggregate.saving.archive import ArchiveError
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

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("n_writes", [1, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_fit_goes_on_to_the_same_draws(kind, n_writes, tmp_path, monkeypatch):
    # Time for several checkpoints.
    length = {} if kind == "sparse ladder" else {"n_draws": 4000 if kind == "published" else 1000}
    whole = uninterrupted(kind, **length)
    path = tmp_path / "run.dgc"
    with monkeypatch.context() as patch:
        killed_after(n_writes, patch)
        with pytest.raises(Killed):
            fit(model_of(kind, **length), checkpoint=path)
    assert_same(fit(model_of(kind, **length), checkpoint=path, resume=True), whole)


def test_a_fit_without_a_seed_goes_on_too(tmp_path, monkeypatch):
    path = tmp_path / "run.dgc"
    with monkeypatch.context() as patch:
        killed_after(2, patch)
        with pytest.raises(Killed):
            fit(model_of("several kernels", random_state=None), checkpoint=path)
    kept = path.read_bytes()
    one = fit(model_of("several kernels", random_state=None), checkpoint=path, resume=True)
    path.write_bytes(kept)
    assert_same(fit(model_of("several kernels", random_state=None), checkpoint=path, resume=True), one)


def test_where_it_runs_may_change(tmp_path, monkeypatch):
    path = tmp_path / "run.dgc"
    with monkeypatch.context() as patch:
        killed_after(2, patch)
        with pytest.raises(Killed):
            fit(model_of("one replica", n_jobs=1), checkpoint=path)
    assert_same(fit(model_of("one replica", n_jobs=2), checkpoint=path, resume=True), uninterrupted("one replica"))


def test_nothing_is_done_twice_after_the_end(tmp_path, monkeypatch):
    path = tmp_path / "run.dgc"
    whole = fit(model_of("one replica"), checkpoint=path)
    monkeypatch.setattr(DenseChains, "advance", lambda self: pytest.fail("a finished chain was moved"))
    assert_same(fit(model_of("one replica"), checkpoint=path, resume=True), whole)


def test_without_a_file_the_fit_starts_anew(tmp_path):
    path = tmp_path / "run.dgc"
    assert_same(fit(model_of("sparse"), checkpoint=path, resume=True), uninterrupted("sparse"))
    assert path.exists()


@pytest.mark.parametrize("change", ["settings", "data", "weights"])
def test_another_fit_is_not_resumed(change, tmp_path):
    path = tmp_path / "run.dgc"
    fit(model_of("sparse"), checkpoint=path)
    kept = path.read_bytes()
    model = model_of("sparse", n_burn=61) if change == "settings" else model_of("sparse")
    X = TOWN.X + (1e-9 if change == "data" else 0.0)
    weight = np.arange(1.0, len(X) + 1.0) if change == "weights" else None
    with pytest.raises(ValueError, match="belongs to another fit"):
        model.fit(X, TOWN.shares, groups=TOWN.groups, sample_weight=weight, checkpoint=path, resume=True)
    assert path.read_bytes() == kept


def test_wrong_files_and_arguments_are_refused(tmp_path):
    path = tmp_path / "m.dgz"
    fit(model_of("sparse")).save(path)
    with pytest.raises(ArchiveError, match="is a saved model, not a checkpoint"):
        fit(model_of("sparse"), checkpoint=path, resume=True)
    path.write_bytes(b"nonsense")
    with pytest.raises(ArchiveError, match="damaged"):
        fit(model_of("sparse"), checkpoint=path, resume=True)
    with pytest.raises(ValueError, match="resume=True needs checkpoint="):
        fit(model_of("sparse"), resume=True)


def test_a_checkpoint_is_no_model(tmp_path):
    path = tmp_path / "run.dgc"
    fit(model_of("sparse"), checkpoint=path)
    with pytest.raises(ArchiveError, match="does not describe a classifier"):
        dg.load(path)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "several kernels"])
def test_a_warm_start_adds_the_draws_of_a_longer_fit(kind):
    """Chains have no memory of where they stopped."""
    longer = fit(model_of(kind, n_draws=130))
    model = fit(model_of(kind, n_draws=65))
    assert model.posterior_.shape[1] == 65
    assert_same(fit(model, warm_start=True), longer)


def test_a_warm_start_keeps_kernels_in_proportion():
    model = fit(model_of("several kernels", n_draws=60))
    before = np.bincount(model.posterior_.part_of_draw)
    fit(model, warm_start=True)
    after = np.bincount(model.posterior_.part_of_draw)
    assert after.sum() == 120
    assert np.abs(after - 2 * before).max() <= 1


@pytest.mark.parametrize("kind", ["several kernels", "one replica", "sparse"])
def test_a_warm_start_can_be_killed_and_resumed(kind, tmp_path, monkeypatch):
    """The settings tell the draws of one fit; the checkpoint knows that more are planned."""
    path = tmp_path / "run.dgc"
    whole = fit(fit(model_of(kind, n_draws=400)), warm_start=True)
    model = fit(model_of(kind, n_draws=400))
    with monkeypatch.context() as patch:
        killed_after(2, patch)
        with pytest.raises(Killed):
            fit(model, warm_start=True, checkpoint=path)
    for _ in range(2):  # from where it was killed, and from its end
        resumed = fit(model_of(kind, n_draws=400), checkpoint=path, resume=True)
        assert resumed.posterior_.shape[1] == 800
        assert not resumed.stopped_early_
        assert_same(resumed, whole)


def test_a_first_warm_start_is_a_fit():
    assert_same(fit(model_of("sparse"), warm_start=True), uninterrupted("sparse"))


def test_a_warm_start_needs_the_same_fit_and_its_chains(tmp_path):
    model = fit(model_of("sparse"))
    with pytest.raises(ValueError, match="other data or settings"):
        model.fit(TOWN.X + 1.0, TOWN.shares, groups=TOWN.groups, warm_start=True)
    with pytest.raises(ValueError, match="copies and saved models leave behind"):
        fit(copy.deepcopy(model), warm_start=True)
    assert_same(model, uninterrupted("sparse"))


@pytest.mark.parametrize(("kind", "chain"), [("several kernels", DenseChains), ("sparse", SparseChain)])
def test_an_interrupt_keeps_what_was_drawn(kind, chain, monkeypatch):
    whole = uninterrupted(kind, n_draws=3000)
    interrupt_after(60, monkeypatch, chain)
    with pytest.warns(match=r"Stopped early, with \d+ of 3000 draws per chain"):
        model = fit(model_of(kind, n_draws=3000))
    n_chains, n_draws = model.posterior_.shape
    assert n_chains == 2
    assert 0 < n_draws < 3000
    assert model.diagnostics_.verdict.startswith("Stopped early")
    assert np.isfinite(model.predict_proba(TOWN.X)).all()
    assert ((model.label_proba_ >= 0.0) & (model.label_proba_ <= 1.0)).all()
    assert np.isfinite(model.group_table()["implied"]).all()
    for part, full in zip(model.posterior_.parts, whole.posterior_.parts, strict=True):
        assert_array_equal(part.delta2, full.delta2[:, : part.shape[1]])


def test_an_interrupt_of_a_pool_keeps_what_was_drawn(monkeypatch):
    whole = uninterrupted("one replica", n_draws=3000)
    interrupt_after(60, monkeypatch)
    with ThreadPoolExecutor(2) as pool, pytest.warns(match="Stopped early"):
        model = fit(model_of("one replica", n_draws=3000, executor=pool))
    [part], [full] = model.posterior_.parts, whole.posterior_.parts
    assert 0 < part.shape[1] < 3000
    assert_array_equal(part.delta2, full.delta2[:, : part.shape[1]])


@pytest.mark.parametrize(
    ("owner", "name"), [(checkpoints.Checkpoint, "write"), (estimator, "check_reports"), (estimator, "diagnose")]
)
def test_an_interrupt_after_the_last_sweep_costs_nothing(owner, name, monkeypatch, tmp_path):
    real = getattr(owner, name)

    def interrupted(*given):
        os.kill(os.getpid(), signal.SIGINT)
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        with pytest.warns(match="after the last sweep"):
            model = fit(model_of("one replica"), checkpoint=tmp_path / "run.dgc")
    assert not model.stopped_early_
    assert_same(model, uninterrupted("one replica"))


def test_an_interrupted_fit_can_go_on(monkeypatch, tmp_path):
    path = tmp_path / "run.dgc"
    with monkeypatch.context() as patch:
        interrupt_after(30, patch)
        model = fit(model_of("one replica", n_draws=2000), checkpoint=path)
    assert model.stopped_early_
    whole = fit(model_of("one replica", n_draws=2000))
    assert_same(fit(model_of("one replica", n_draws=2000), checkpoint=path, resume=True), whole)


def test_an_interrupt_before_the_first_draw_is_an_interrupt(monkeypatch):
    interrupt_after(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        fit(model_of("one replica", n_burn=10**6))


def drawn(n, n_rows=3):
    ones = np.ones(n, dtype=int)
    return ChainDraws(
        ones, ones * 1.0, ones * 0, ones * 1.0, np.full(n_rows, n), np.full(4, n), np.zeros((n, 1, 2)), np.ones(1)
    )


def test_draws_are_cut_in_proportion():
    draws, missing = even_draws([[drawn(30), drawn(25)], [drawn(10), drawn(9)]], [60, 20])
    assert [[len(chain.size) for chain in chains] for chains in draws] == [[25, 25], [8, 8]]
    assert missing == "Stopped early, with 33 of 80 draws per chain."
    assert_array_equal(draws[0][0].label_sums, 25.0)
    assert draws[0][0].log_ratios.shape == (25, 1, 2)


def test_chains_without_draws_are_left_out():
    draws, missing = even_draws([[drawn(30), drawn(0), drawn(40)]], [60])
    assert [len(chain.size) for chain in draws[0]] == [30, 30]
    assert missing == "Stopped early, with 30 of 60 draws per chain of 2 chains out of 3."


def test_whole_fits_miss_nothing():
    draws, missing = even_draws([[drawn(7), drawn(7)]], [7])
    assert missing == ""
    assert draws[0][0].label_sums.dtype.kind == "i"


def test_a_disk_that_fills_up_costs_no_fit(tmp_path, monkeypatch):
    path, n_writes = tmp_path / "run.dgc", []
    real = checkpoints.write_archive

    def write(*parts, **how):
        n_writes.append(1)
        if len(n_writes) > 1:
            raise OSError(28, "No space left on device")
        real(*parts, **how)

    whole = uninterrupted("sparse")
    monkeypatch.setattr(checkpoints, "write_archive", write)
    with pytest.warns(UserWarning, match="could not be written .*No space left on device.* the fit continues"):
        kept = fit(model_of("sparse"), checkpoint=path)
    assert_same(kept, whole)
    monkeypatch.undo()
    assert_same(fit(model_of("sparse"), checkpoint=path, resume=True), whole)


def test_a_checkpoint_that_cannot_be_written_at_all_is_reported_at_once(tmp_path):
    with pytest.raises(OSError, match="none"):
        fit(model_of("sparse", n_draws=10**6), checkpoint=tmp_path / "none" / "run.dgc")
