"""Checkpoints are checked against the data of the fit before any compiled code sees them."""

import copy
from contextlib import suppress

import numpy as np
import pytest

from disaggregate.fitting.resumable import require_sound_draws
from fuzz.resuming import StoppedFit, make_fit, read_tree, stopped_after, write_tree

KINDS = {
    "dense": {"n_replicas": 1},
    "ladder": {"n_replicas": 3},
    "sparse": {"prior": "spike_slab"},
    "sparse ladder": {"prior": "spike_slab", "n_replicas": 3},
    "outcomes": {"n_replicas": 1, "outcomes": 3},
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped")
    return {name: StoppedFit(kind, folder / name, in_folder=False) for name, kind in KINDS.items()}


def resume(stopped, path, change):
    """Forge a checkpoint, with checksums that match, and resume it."""
    tree = copy.deepcopy(stopped.tree)
    change(tree)
    write_tree(path, tree)
    return stopped.fit(checkpoint=path, resume=True)


def first(saved):
    return saved["chains"][0]


def set_in(*way, value):
    """Put something where a way through the checkpoint ends."""

    def change(saved):
        node = saved
        for step in way[:-1]:
            node = node[step]
        if isinstance(node, tuple):
            raise AssertionError("tuples do not change")
        node[way[-1]] = value(node[way[-1]]) if callable(value) else value

    return change


CHAIN = ("chains", 0)
KERNEL = ("resume_state", "kernels", 0)
DENSE = {
    "a tally of one element": set_in(*CHAIN, "tally", 0, value=np.zeros((1, 1))),
    "sums of one element": set_in(*CHAIN, "sums", 0, value=np.zeros((1, 1))),
    "tallies of another type": set_in(*CHAIN, "sums", 1, value=lambda old: old.astype(np.int64)),
    "a short position": set_in(*CHAIN, "state", 0, value=lambda old: old[..., :-1]),
    "a position too far away": set_in(*CHAIN, "state", 0, value=lambda old: 0.0 * old + 1e99),
    "a position that is nowhere": set_in(*CHAIN, "state", 0, value=lambda old: old * np.nan),
    "no sweep": set_in(*CHAIN, "state", 4, value=np.zeros(0, dtype=np.int64)),
    "a sweep of another time": set_in(*CHAIN, "state", 4, value=np.array([-(2**62)])),
    "a state of fewer parts": set_in(*CHAIN, "state", value=lambda old: old[:-1]),
    "sweeps beyond the end": set_in(*CHAIN, "n_done", value=10**9),
    "sweeps that are text": set_in(*CHAIN, "n_done", value="3"),
    "a generator of no state": set_in(*CHAIN, "generators", 0, value={}),
    "a generator of huge words": set_in(*CHAIN, "generators", 0, "uinteger", value=2**40),
    "steps of another number": set_in(*CHAIN, "step", value=np.ones(1)),
    "no steps": set_in(*CHAIN, "step", value=lambda old: 0.0 * old),
    "draws of another width": set_in(*CHAIN, "kept", value=[(np.zeros((3, 1, 1)),) * 3]),
    "draws that are none": set_in(*CHAIN, "kept", value=3),
    "a chain too few": set_in("chains", value=lambda old: old[:-1]),
    "a kernel that is not there": set_in(*KERNEL, "index", value=7),
    "a kernel before the first": set_in(*KERNEL, "index", value=-1),
    "masses of another size": set_in(*KERNEL, "metric", 1, value=lambda old: old[:, :-1, :-1]),
    "masses of another number": set_in(*KERNEL, "metric", 2, value=lambda old: old[:1]),
    "a mode too far away": set_in(*KERNEL, "mode", 0, value=lambda old: 0.0 * old + 1e99),
    "a short mode": set_in(*KERNEL, "mode", 0, value=np.zeros(1)),
    "no ladder": set_in(*KERNEL, "powers", value=np.zeros(0)),
    "a ladder of other rungs": set_in(*KERNEL, "powers", value=np.linspace(1.0, 0.0, 9)),
    "likelihood ratios of other rungs": set_in(*KERNEL, "log_ratios", value=np.zeros((2, 9, 2))),
    "scores that are none": set_in("resume_state", "scores", value=[3]),
    "a seed that is none": set_in("seed", value="x"),
}


@pytest.mark.parametrize("kind", ["dense", "ladder", "outcomes"])
@pytest.mark.parametrize("change", DENSE.values(), ids=DENSE)
def test_forged_chains_of_gaussian_processes_are_refused(kind, stopped, tmp_path, change):
    with pytest.raises(ValueError, match="damaged"):
        resume(stopped[kind], tmp_path / "run.dgc", change)


def in_state(place, value):
    """Change one array of a state, or of that of the first replica."""

    def change(saved):
        state = first(saved)["state"]
        one = state[0] if isinstance(state[0], list) else state
        one[place] = value(one[place])

    return change


def out_of_range(array):
    changed = array.copy()
    changed[-1] = 10**6
    return changed


SPARSE = {
    "scores of other people": in_state(0, lambda old: old[:-1]),
    "more active columns than room": in_state(2, lambda old: old + 1000),
    "fewer than the fixed": in_state(2, lambda old: old * 0 - 1),
    "active columns that are not there": in_state(3, out_of_range),
    "a fixed column elsewhere": in_state(3, lambda old: np.roll(old, 1) + 1),
    "a factor of another size": in_state(4, lambda old: old[:-1, :-1]),
    "a factor of other columns": in_state(4, lambda old: 2.0 * old),
    "scores of other weights": in_state(1, lambda old: old + 1.0),
    "weights of other scores": in_state(7, lambda old: old + 1.0),
    "a scale beyond its bounds": in_state(8, lambda old: old * 0.0 + 1e50),
    "weights without room": in_state(7, lambda old: old[:1]),
    "no scale": in_state(8, lambda old: -old),
    "candidates that are not there": in_state(9, out_of_range),
    "fewer candidates": in_state(9, lambda old: old[:1]),
    "a sweep beyond the end": in_state(11, lambda old: old + 10**9),
    "sums of one element": set_in(*CHAIN, "sums", 0, value=np.zeros(1, dtype=np.int64)),
    "draws of columns that are not there": set_in(
        *CHAIN, "kept", value=[(np.array([1]), np.ones(1), np.array([10**6]), np.ones(1), np.zeros((1, 2, 2)))]
    ),
    "a ladder of other rungs": set_in("resume_state", "powers", value=np.linspace(1.0, 0.0, 9)),
    "a kernel that is not there": set_in("resume_state", "index", value=5),
    "draws beyond all bounds": set_in("resume_state", "n_draws", value=10**18),
}


@pytest.mark.parametrize("kind", ["sparse", "sparse ladder"])
@pytest.mark.parametrize("change", SPARSE.values(), ids=SPARSE)
def test_forged_chains_of_sparse_weights_are_refused(kind, stopped, tmp_path, change):
    with pytest.raises(ValueError, match="damaged"):
        resume(stopped[kind], tmp_path / "run.dgc", change)


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_that_is_read_and_written_again_resumes(kind, tmp_path):
    fit, path = make_fit(KINDS[kind]), tmp_path / "run.dgc"
    with stopped_after(3), suppress(KeyboardInterrupt):  # before its first draw, most of them
        fit(checkpoint=path)
    write_tree(path, read_tree(path))
    resumed, whole = fit(checkpoint=path, resume=True), fit()
    np.testing.assert_array_equal(resumed.predict_draws(np.eye(2)), whole.predict_draws(np.eye(2)))


@pytest.mark.parametrize(
    "drawn",
    [
        (np.full((3, 2), 1e200), np.ones((3, 1))),
        (np.full((3, 2), np.nan), np.ones((3, 1))),
        (np.ones((3, 2)), np.ones((2, 1))),
        (np.ones(3, dtype=np.int64), np.ones(2), np.zeros(3, dtype=np.int64), np.ones(3)),
        (np.ones(2, dtype=np.int64), np.ones(2), np.zeros(2, dtype=np.int64), np.ones(2), np.zeros((1, 2, 2))),
    ],
)
def test_forged_draws_in_files_are_refused(drawn):
    with pytest.raises(ValueError, match="its draws does not fit"):
        require_sound_draws(drawn)


def test_draws_as_sampling_leaves_them_pass():
    dense = np.ones((3, 2)), np.full((3, 1), np.inf), np.ones((0, 0, 2))
    sparse = np.ones(2, dtype=np.int64), np.ones(2), np.zeros(5, dtype=np.int64), np.ones(5)
    assert [require_sound_draws(drawn) for drawn in (dense, sparse)] == [None, None]
