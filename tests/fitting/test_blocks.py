"""Fits of data that are cut into blocks: the same posterior, the same bits everywhere, and nothing is lost."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from disaggregate.sampler.blocks import chains, cut
from disaggregate.sampler.blocks.block import Recipe, RowsInMemory, make_block
from disaggregate.sampler.compiled.blocks import room_for_tables
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

import disaggregate as dg
from disaggregate.basis import Basis, resolve_kernel
from disaggregate.groups import group_rows
from disaggregate.posterior.convergence import bulk_ess
from disaggregate.sampler.evidence import WHOLE_GROUP, make_evidence
from tests.fitting.test_going_on import Killed, killed_after

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def town(sizes: list[int], seed: int = 0):
    """People in groups, and what share of each group is positive."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((len(groups), 2)) + rng.standard_normal((len(sizes), 2))[groups]
    y = rng.random(len(groups)) < ndtr(1.5 * X[:, 0] - X[:, 1])
    shares = {group: y[groups == group].mean() for group in range(len(sizes))}
    shuffled = rng.permutation(len(groups))
    return X[shuffled], shares, groups[shuffled]


SMALL = town([8] * 40)
LARGE = town([WHOLE_GROUP + 20, *[8] * 30, WHOLE_GROUP + 1], seed=1)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(cut, "BLOCK_ROWS", 100)
    monkeypatch.setattr(cut, "TILE_ROWS", 30)
    monkeypatch.setattr(cut, "IN_ONE_PIECE", WHOLE_GROUP)
    monkeypatch.setattr(chains, "_TURN", 0.0)


def fit(data, how=None, **settings):
    X, shares, groups = data
    small = {"kernel": "rbf", "gamma": "scale", "centers": 25, "n_chains": 2, "n_draws": 20, "n_burn": 5}
    model = dg.GroupStatsClassifier(**{**small, "n_jobs": 1, "random_state": 0, **settings})
    return model.fit(X, shares, groups=groups, **(how or {}))


def assert_same(one, other, data):
    assert_array_equal(one.predict_draws(data[0]), other.predict_draws(data[0]))
    assert_array_equal(one.label_proba_, other.label_proba_)
    assert_array_equal(one.group_table()["implied"], other.group_table()["implied"])


@pytest.mark.parametrize(
    ("data", "in_one_piece"), [(SMALL, 1000), (LARGE, 1000), (LARGE, WHOLE_GROUP)], ids=["small", "large", "held"]
)
def test_blocks_have_the_posterior_of_the_whole(data, in_one_piece, monkeypatch):
    length = {"n_draws": 300, "n_burn": 100, "n_replicas": 1}
    whole = fit(data, **length)
    monkeypatch.setattr(cut, "BLOCK_ROWS", 100)
    monkeypatch.setattr(cut, "IN_ONE_PIECE", in_one_piece)
    in_blocks = fit(data, **length)
    assert not np.array_equal(whole.posterior_.delta2, in_blocks.posterior_.delta2)
    means, errors = [], []
    for model in (whole, in_blocks):
        f = model.posterior_.scores(data[0][::7]).reshape(2, 300, -1)
        f = np.concatenate([f, np.log(model.posterior_.delta2)[:, :, None]], axis=2)
        means.append(f.mean(axis=(0, 1)))
        errors.append(f.std(axis=(0, 1)) / np.sqrt(np.maximum(bulk_ess(f), 4.0)))
    assert np.abs((means[0] - means[1]) / np.hypot(*errors)).max() < 5.0
    assert_allclose(whole.label_proba_, in_blocks.label_proba_, atol=0.2)
    assert_allclose(whole.group_table()["implied"], in_blocks.group_table()["implied"], atol=0.03)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small groups", "large groups"])
def test_draws_do_not_depend_on_threads_or_storage(data):
    one = fit(data)
    assert_same(fit(data, n_jobs=2), one, data)
    assert_same(fit(data, n_jobs=4), one, data)
    assert_same(fit(data, storage="recomputed"), one, data)
    assert not np.array_equal(fit(data, storage="float32").posterior_.delta2, one.posterior_.delta2)


@pytest.mark.usefixtures("small_blocks")
def test_chains_share_paths_but_not_random_numbers():
    model = fit(SMALL, n_chains=3)
    assert len(np.unique(model.posterior_.delta2[:, -1])) == 3


@pytest.mark.usefixtures("small_blocks")
def test_replicas_swap_and_tell_the_evidence():
    model = fit(LARGE, n_replicas=4, n_draws=20)
    assert np.isfinite(model.log_evidence_.value)
    assert len(model.diagnostics_.ladder.swap_rates) == 3
    assert_same(fit(LARGE, n_replicas=4, n_draws=20, n_jobs=2), model, LARGE)


@pytest.mark.usefixtures("small_blocks")
def test_the_most_probable_kernel_is_used():
    model = fit(SMALL, kernel="auto", gamma="auto")
    scores = model.diagnostics_.kernels
    assert len(scores) == 5
    best = max(scores, key=lambda score: score.weight)
    assert model.posterior_.parts[0].basis.kernel.name == best.kernel == "linear"
    assert len(model.posterior_.parts) == 1


def test_evidence_of_blocks_agrees_with_the_ladder(monkeypatch):
    """The border is straight, and both ways of comparing kernels say so about equally loudly."""
    ladder = fit(SMALL, kernel="auto", gamma="scale").diagnostics_.kernels
    monkeypatch.setattr(cut, "BLOCK_ROWS", 100)
    laplace = fit(SMALL, kernel="auto", gamma="scale").diagnostics_.kernels
    for one, other in zip(ladder, laplace, strict=True):
        assert abs(one.log_evidence.value - other.log_evidence.value) < 4.0


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_writes", [1, 6])
def test_a_killed_fit_goes_on_to_the_same_draws(n_writes, tmp_path, monkeypatch):
    whole = fit(LARGE)
    how = {"checkpoint": tmp_path / "run.dgc"}
    with monkeypatch.context() as patch:
        killed_after(n_writes, patch)
        with pytest.raises(Killed):
            fit(LARGE, how)
    assert_same(fit(LARGE, how | {"resume": True}), whole, LARGE)


@pytest.mark.usefixtures("small_blocks")
def test_draws_in_a_folder_are_those_in_memory(tmp_path):
    assert_same(fit(SMALL, {"draws_to": tmp_path / "draws"}), fit(SMALL), SMALL)
    assert list((tmp_path / "draws").glob("*.npy"))


@pytest.mark.usefixtures("small_blocks")
def test_a_context_counts_in_blocks_too():
    """There is a second peak, with all of the difference put down to the context, that has no mass."""
    X, shares, groups = many = town([3] * 250)
    told = fit(many, context="auto", kernel="linear", emphasis=1.0)
    assert {score.context for score in told.diagnostics_.kernels} == {False, True}
    model = fit(many, context=True, kernel="linear", emphasis=1.0, n_chains=4, n_draws=200, n_burn=50)
    assert np.max(model.diagnostics_.rhat["f"]) < 1.1
    small = dg.GroupStatsClassifier(kernel="linear", emphasis=1.0, centers=25, context=True, n_replicas=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut, "BLOCK_ROWS", 10**6)
        small.set_params(n_chains=2, n_draws=500, n_burn=300, random_state=0).fit(X, shares, groups=groups)
    apart = model.predict_proba(X, groups)[:, 1] - small.predict_proba(X, groups)[:, 1]
    assert np.abs(apart).mean() < 0.01


@pytest.mark.usefixtures("small_blocks")
def test_a_warm_start_adds_the_draws_of_a_longer_fit():
    longer = fit(SMALL, n_draws=40)
    model = fit(SMALL, n_draws=20)
    model.fit(SMALL[0], SMALL[1], groups=SMALL[2], warm_start=True)
    assert_same(model, longer, SMALL)


@pytest.mark.usefixtures("small_blocks")
def test_an_interrupt_keeps_what_was_drawn(monkeypatch):
    real, turned = chains.BlockChains.advance, []

    def advance(self):
        real(self)
        turned.append(1)
        if len(turned) == 80:
            os.kill(os.getpid(), signal.SIGINT)

    whole = fit(SMALL, n_draws=150)
    monkeypatch.setattr(chains.BlockChains, "advance", advance)
    with pytest.warns(match=r"Stopped early, with \d+ of 150 draws a chain"):
        model = fit(SMALL, n_draws=150)
    n_draws = model.posterior_.shape[1]
    assert 0 < n_draws < 150
    assert_array_equal(model.posterior_.delta2, whole.posterior_.delta2[:, :n_draws])


def test_small_data_are_no_blocks(monkeypatch):
    monkeypatch.setattr(chains.BlockChains, "advance", lambda self: pytest.fail("a small fit ran in blocks"))
    fit(SMALL, n_draws=10)


def test_blocks_are_cut_by_the_groups_alone():
    offsets = np.concatenate([[0], np.cumsum([40, 70, 10, 300, 5, 5])])
    assert cut.runs_of_groups(offsets, 100) == [(0, 1), (1, 3), (3, 4), (4, 6)]


def test_there_are_some_hundreds_of_blocks_at_most():
    """Every one is a task of a cluster's scheduler at every step."""
    for n_groups, n_blocks in ((100, 1), (10_000, 100), (40_000, 400), (400_000, 400)):
        offsets = 500 * np.arange(n_groups + 1)
        assert len(cut.blocks_of_groups(offsets)) == n_blocks


def test_tables_have_room_for_the_largest_group_that_is_in_one_piece():
    """Compiled code does not look where an array ends."""
    sizes, weights = [3, 210, 260], [1.0, 2.0]
    groups = np.repeat(np.arange(3), sizes)
    even = group_rows(groups.tolist(), dict.fromkeys(range(3), dg.evidence.Fraction(0.5)))
    assert room_for_tables(make_evidence(even), 1000) == 261 * 261
    assert room_for_tables(make_evidence(even), 250) == 211 * 211
    heavy = group_rows(
        groups.tolist(), dict.fromkeys(range(3), dg.evidence.Fraction(0.5)), np.resize(weights, len(groups))
    )
    assert room_for_tables(make_evidence(heavy), 1000) == 261 * (390 + 1)


def test_unknown_storage_is_refused():
    with pytest.raises(ValueError, match='storage must be "auto" or "float64" or "float32" or "recomputed"'):
        fit(SMALL, storage="disk")


def test_single_precision_is_nearly_double_precision():
    X = SMALL[0][:50]
    basis = Basis(resolve_kernel("rbf", "scale", 3.0, 1.0, X), X[:10], True)
    evidence = make_evidence(group_rows([0] * 50, {0: dg.evidence.Unknown()}))
    mixing = np.random.default_rng(0).standard_normal((4, 11))
    double, single = (
        make_block(RowsInMemory(0, X, evidence), Recipe(basis, mixing, np.ones(1), storage)).columns()
        for storage in ("float64", "float32")
    )
    for (_, one), (_, other) in zip(double, single, strict=True):
        assert other.dtype == np.float64
        assert_allclose(one, other, atol=1e-5)
        assert not np.array_equal(one, other)


COUNT = """
import numpy as np
from disaggregate.sampler.compiled import blocks
from disaggregate.fitting.blocks import prepare_blocks
from disaggregate.sampler.blocks import cut
from tests.fitting.test_blocks import LARGE, fit

def compiled():
    return {name: len(part.signatures) for name, part in vars(blocks).items() if name.startswith("tile_")}

prepare_blocks()
before = compiled()
cut.BLOCK_ROWS, cut.IN_ONE_PIECE = 100, 200
fit(LARGE, n_draws=2, n_burn=0)
print(before, compiled(), sep="\\n")
"""


def test_a_first_fit_has_compiled_everything_before_it_starts():
    """So that people are told once what they wait for, and a progress bar never stands still."""
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COUNT], capture_output=True, text=True, check=True
    )
    before, after = map(ast.literal_eval, told.stdout.splitlines())
    assert set(before.values()) == {0, 1}
    grown = {name for name in after if after[name] != before[name]}
    assert grown <= {"tile_table"}, "only swaps need more, which are asked for by n_replicas"
