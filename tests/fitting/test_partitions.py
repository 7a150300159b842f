"""Fits of data in partitions: the posterior of the whole, the same bits everywhere, and nothing is lost."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

import disaggregate as dg
from disaggregate.basis import Basis, resolve_kernel
from disaggregate.groups import group_rows
from disaggregate.model import reports
from disaggregate.model.reports import EXACT, NORMAL, make_reports
from disaggregate.parallel.threads import Threads
from disaggregate.posterior.convergence import bulk_ess
from disaggregate.sampler.dense.chains import DenseChains
from disaggregate.sampler.dense.partition import (
    ArraySource,
    Recipe,
    make_partition,
    partition_groups,
    runs_of_groups,
)
from disaggregate.sampler.dense.partitioned import PartitionedData
from tests.helpers.interrupted_fits import Killed, killed_after
from tests.helpers.partitions import use_small_partitions

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
PLACES = {"context": True, "group_effects": True}
LARGE = town([220, *[8] * 30, 201], seed=1)  # the counts of the first and the last group are taken for normal


@pytest.fixture
def normal_counts(monkeypatch):
    """Take the counts of groups of more than 200 for normal, as those of much larger ones are."""
    monkeypatch.setattr(reports, "MOST_STATES", 200 * 201)


@pytest.fixture
def small_partitions(monkeypatch, normal_counts):
    use_small_partitions(monkeypatch, 100, tile_rows=30)


def fit(data, how=None, **settings):
    X, shares, groups = data
    small = {"kernel": "rbf", "gamma": "scale", "centers": 25, "n_chains": 2, "n_draws": 20, "n_burn": 5}
    model = dg.GroupStatsClassifier(**{**small, "n_jobs": 1, "random_state": 0, **settings})
    return model.fit(X, shares, groups=groups, **(how or {}))


def assert_same(one, other, data):
    assert_array_equal(one.predict_draws(data[0]), other.predict_draws(data[0]))
    assert_array_equal(one.label_proba_, other.label_proba_)
    assert_array_equal(one.group_table()["implied"], other.group_table()["implied"])


def test_large_groups_have_the_other_law(normal_counts):
    _, shares, groups = LARGE
    evidence = {group: dg.evidence.Fraction(share) for group, share in shares.items()}
    law = make_reports(group_rows(groups.tolist(), evidence)).law
    assert np.bincount(law, minlength=3).tolist() == [0, 30, 2]
    assert (EXACT, NORMAL) == (1, 2)


@pytest.mark.full_pilots
@pytest.mark.parametrize(
    ("data", "settings", "n_draws"),
    [
        pytest.param(SMALL, {}, 300, id="plain-small groups"),
        pytest.param(LARGE, {}, 300, id="plain-large groups"),
        pytest.param(LARGE, PLACES, 120, id="places-large groups"),
        pytest.param(SMALL, PLACES, 300, id="places-small groups", marks=pytest.mark.thorough),
    ],
)
def test_partitions_have_the_posterior_of_the_whole(data, settings, n_draws, normal_counts, monkeypatch):
    length = {"n_draws": n_draws, "n_burn": n_draws // 3, "n_replicas": 1, **settings}
    whole = fit(data, **length)
    use_small_partitions(monkeypatch)
    in_parts = fit(data, **length)
    assert not np.array_equal(whole.posterior_.delta2, in_parts.posterior_.delta2)
    means, errors = [], []
    for model in (whole, in_parts):
        _, rows = model._fitted_and_rows(data[0][::7], data[2][::7])
        f = model.posterior_.scores(rows).reshape(2, n_draws, -1)
        f = np.concatenate([f, np.log(model.posterior_.delta2)[:, :, None]], axis=2)
        means.append(f.mean(axis=(0, 1)))
        errors.append(f.std(axis=(0, 1)) / np.sqrt(np.maximum(bulk_ess(f), 4.0)))
    assert np.abs((means[0] - means[1]) / np.hypot(*errors)).max() < 5.0
    assert_allclose(whole.label_proba_, in_parts.label_proba_, atol=0.2)
    assert_allclose(whole.group_table()["implied"], in_parts.group_table()["implied"], atol=0.03)


@pytest.mark.usefixtures("small_partitions")
@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small groups", "large groups"])
def test_draws_do_not_depend_on_threads_or_storage(data):
    one = fit(data)
    assert_same(fit(data, n_jobs=3), one, data)
    assert_same(fit(data, storage="recomputed"), one, data)
    assert not np.array_equal(fit(data, storage="float32").posterior_.delta2, one.posterior_.delta2)


@pytest.mark.usefixtures("small_partitions")
def test_chains_share_paths_but_not_random_numbers():
    model = fit(SMALL, n_chains=3)
    assert len(np.unique(model.posterior_.delta2[:, -1])) == 3


@pytest.mark.usefixtures("small_partitions")
def test_replicas_swap_and_tell_the_evidence():
    model = fit(LARGE, n_replicas=4, n_draws=20)
    assert np.isfinite(model.log_evidence_.value)
    assert len(model.diagnostics_.ladder.swap_rates) == 3
    assert_same(fit(LARGE, n_replicas=4, n_draws=20, n_jobs=2), model, LARGE)


@pytest.mark.full_pilots
@pytest.mark.usefixtures("small_partitions")
def test_the_most_probable_kernel_is_used():
    model = fit(SMALL, kernel="auto", gamma="auto")
    scores = model.diagnostics_.kernels
    assert len(scores) == 5
    best = max(scores, key=lambda score: score.weight)
    assert model.posterior_.parts[0].basis.kernel.name == best.kernel == "linear"
    assert len(model.posterior_.parts) == 1


@pytest.mark.full_pilots
def test_evidence_of_partitions_agrees_with_the_ladder(monkeypatch):
    """The border is straight, and both ways of comparing kernels say so about equally loudly."""
    ladder = fit(SMALL, kernel="auto", gamma="scale").diagnostics_.kernels
    use_small_partitions(monkeypatch)
    laplace = fit(SMALL, kernel="auto", gamma="scale").diagnostics_.kernels
    for one, other in zip(ladder, laplace, strict=True):
        assert abs(one.log_evidence.value - other.log_evidence.value) < 4.0


@pytest.mark.usefixtures("small_partitions")
@pytest.mark.parametrize("n_writes", [1, 6])
def test_a_killed_fit_goes_on_to_the_same_draws(n_writes, tmp_path, monkeypatch):
    whole = fit(LARGE)
    how = {"checkpoint": tmp_path / "run.dgc"}
    with monkeypatch.context() as patch:
        killed_after(n_writes, patch)
        with pytest.raises(Killed):
            fit(LARGE, how)
    assert_same(fit(LARGE, how | {"resume": True}), whole, LARGE)


@pytest.mark.usefixtures("small_partitions")
def test_draws_in_a_folder_are_those_in_memory(tmp_path):
    assert_same(fit(SMALL, {"draws_to": tmp_path / "draws"}), fit(SMALL), SMALL)
    assert list((tmp_path / "draws").glob("*.npy"))


@pytest.mark.thorough  # partitions with places have a context too, and its posterior is compared there
@pytest.mark.full_pilots
@pytest.mark.usefixtures("small_partitions")
def test_a_context_counts_in_partitions_too():
    """There is a second peak, with all of the difference put down to the context, that has no mass."""
    X, shares, groups = many = town([3] * 250)
    model = fit(
        many,
        context=True,
        kernel="linear",
        prior=dg.GaussianProcess(emphasis=1.0),
        n_chains=4,
        n_draws=200,
        n_burn=50,
    )
    assert np.max(model.diagnostics_.rhat["f"]) < 1.1
    assert set(model.posterior_.scales) == {"individual", "context"}
    small = dg.GroupStatsClassifier(
        kernel="linear", prior=dg.GaussianProcess(emphasis=1.0), centers=25, context=True, n_replicas=1
    )
    with pytest.MonkeyPatch.context() as patch:
        use_small_partitions(patch, 10**6)
        small.set_params(n_chains=2, n_draws=500, n_burn=300, random_state=0).fit(X, shares, groups=groups)
    apart = model.predict_proba(X, groups)[:, 1] - small.predict_proba(X, groups)[:, 1]
    assert np.abs(apart).mean() < 0.01


@pytest.mark.usefixtures("small_partitions")
def test_a_warm_start_adds_the_draws_of_a_longer_fit():
    longer = fit(SMALL, n_draws=40)
    model = fit(SMALL, n_draws=20)
    model.fit(SMALL[0], SMALL[1], groups=SMALL[2], warm_start=True)
    assert_same(model, longer, SMALL)


@pytest.mark.usefixtures("small_partitions")
def test_an_interrupt_keeps_what_was_drawn(monkeypatch):
    real, turned = DenseChains.advance, []

    def advance(self):
        real(self)
        turned.append(1)
        if len(turned) == 80:
            os.kill(os.getpid(), signal.SIGINT)

    whole = fit(SMALL, n_draws=150)
    monkeypatch.setattr(DenseChains, "advance", advance)
    with pytest.warns(match=r"Stopped early, with \d+ of 150 draws per chain"):
        model = fit(SMALL, n_draws=150)
    n_draws = model.posterior_.shape[1]
    assert 0 < n_draws < 150
    assert_array_equal(model.posterior_.delta2, whole.posterior_.delta2[:, :n_draws])


def test_small_data_are_in_no_partitions(monkeypatch):
    monkeypatch.setattr(PartitionedData, "advance", lambda *_: pytest.fail("a small fit ran in partitions"))
    fit(SMALL, n_draws=10)


@pytest.mark.usefixtures("small_partitions")
def test_samples_of_populations_stay_whole(monkeypatch):
    """Their composition is pooled over all groups, which no partition knows of the others."""
    monkeypatch.setattr(PartitionedData, "advance", lambda *_: pytest.fail("a sample ran in partitions"))
    X, shares, groups = SMALL
    reported = {group: dg.evidence.Population(share) for group, share in shares.items()}
    assert np.isfinite(fit((X, reported, groups), n_draws=10).predict_proba(X, groups)).all()


@pytest.mark.full_pilots
@pytest.mark.usefixtures("small_partitions")
def test_cells_in_partitions_have_the_posterior_of_the_whole():
    X, _, groups = SMALL
    counts = 1 + np.arange(len(X)) % 4
    length = {
        "n_draws": 150,
        "n_burn": 50,
        "n_replicas": 1,
        "kernel": "linear",
        "prior": dg.GaussianProcess(emphasis=1.0),
    }
    in_parts = fit(SMALL, {"counts": counts}, **length)
    with pytest.MonkeyPatch.context() as patch:
        use_small_partitions(patch, 10**6)
        whole = fit(SMALL, {"counts": counts}, **length)
    assert not np.array_equal(whole.posterior_.delta2, in_parts.posterior_.delta2)
    apart = whole.predict_proba(X, groups)[:, 1] - in_parts.predict_proba(X, groups)[:, 1]
    assert np.abs(apart).max() < 0.04
    assert_array_equal(in_parts.group_table()["n"], np.bincount(groups, counts)[list(dict.fromkeys(groups))])


def test_partitions_are_cut_by_the_groups_alone():
    offsets = np.concatenate([[0], np.cumsum([40, 70, 10, 300, 5, 5])])
    assert runs_of_groups(offsets, 100) == [(0, 1), (1, 3), (3, 4), (4, 6)]


def test_there_are_some_hundreds_of_partitions_at_most_and_some_for_all_cores():
    """Every one is a task of a cluster's scheduler at every step."""
    for n_groups, n_partitions in ((5, 1), (120, 12), (10_000, 100), (40_000, 400), (400_000, 400)):
        offsets = 500 * np.arange(n_groups + 1)
        assert len(partition_groups(offsets)) == n_partitions


@pytest.mark.usefixtures("small_partitions")
def test_a_fit_has_one_pool_of_threads_and_leaves_none(monkeypatch):
    real, made = Threads.new_pool, []

    def new_pool(self):
        made.append(real(self))
        return made[-1]

    monkeypatch.setattr(Threads, "new_pool", new_pool)
    model = fit(SMALL, n_jobs=2, context=True)
    assert len(made) == 1, "partitions were asked by threads that came and went"
    assert not any(thread.name.startswith("disaggregate") for thread in threading.enumerate())
    model.fit(SMALL[0], SMALL[1], groups=SMALL[2], warm_start=True)
    assert model.posterior_.shape[1] == 40
    assert not any(thread.name.startswith("disaggregate") for thread in threading.enumerate())


@pytest.mark.usefixtures("small_partitions")
def test_a_failure_in_a_partition_leaves_no_thread(monkeypatch):
    def fail(*_):
        raise KeyError("in a partition")

    monkeypatch.setattr("disaggregate.sampler.dense.partitioned.expected_in", fail)
    with pytest.raises(KeyError, match="in a partition"):
        fit(SMALL, n_jobs=2)
    assert not any(thread.name.startswith("disaggregate") for thread in threading.enumerate())


def test_unknown_storage_is_refused():
    with pytest.raises(ValueError, match='storage must be "auto" or "float64" or "float32" or "recomputed"'):
        fit(SMALL, storage="disk")


def test_single_precision_is_nearly_double_precision():
    X = SMALL[0][:50]
    basis = Basis(resolve_kernel("rbf", "scale", 3.0, 1.0, X), X[:10], True)
    reported = make_reports(group_rows([0] * 50, {0: dg.evidence.Unknown()}))
    mixing = np.random.default_rng(0).standard_normal((4, 11))
    double, single = (
        make_partition(ArraySource(0, X, reported), Recipe(basis, mixing, np.ones(1), storage)).columns()
        for storage in ("float64", "float32")
    )
    for (_, one), (_, other) in zip(double, single, strict=True):
        assert other.dtype == np.float64
        assert_allclose(one, other, atol=1e-5)
        assert not np.array_equal(one, other)


COUNT = """
import pytest
from disaggregate.sampler.compiled import count_kernels, dense
from disaggregate.sampler.prepare import prepare_dense
from tests.fitting.test_partitions import SMALL, fit
from tests.helpers.partitions import use_small_partitions

def compiled():
    parts = {**vars(dense), **vars(count_kernels)}
    return {name: len(part.signatures) for name, part in parts.items() if hasattr(part, "signatures")}

prepare_dense(in_partitions=PARTITIONS)
before = compiled()
with pytest.MonkeyPatch.context() as patch:
    if PARTITIONS:
        use_small_partitions(patch)
    fit(SMALL, n_draws=2, n_burn=0, n_replicas=2)
print(before, compiled(), sep="\\n")
"""


@pytest.mark.parametrize("in_partitions", [False, True])
def test_a_first_fit_has_compiled_everything_before_it_starts(in_partitions):
    """So that people learn once what they wait for, and a progress bar never stands still."""
    reported = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COUNT.replace("PARTITIONS", str(in_partitions))],
        capture_output=True,
        text=True,
        check=True,
    )
    before, after = map(ast.literal_eval, reported.stdout.splitlines())
    assert len(before) > 3
    assert {name for name in after if after[name] != before[name]} == set()
