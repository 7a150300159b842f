"""Splits show group statistics in training and labels only in judgement."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.tasks import random_groups as tasks
from benchmarks.tasks.random_groups import random_groups
from benchmarks.tasks.two_bags import MIXED, PURE, two_bags


@pytest.fixture
def folder(tmp_path):
    """Features that count the rows, so that a row can be recognised; one value is missing."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": np.arange(60.0), "b": rng.normal(size=60), "target": np.arange(60) % 3 == 0})
    table.loc[7, "b"] = np.nan
    (tmp_path / "uci").mkdir()
    table.astype({"target": int}).to_csv(tmp_path / "uci" / "toy.tsv.gz", sep="\t", index=False)
    return tmp_path


def test_folds_are_disjoint_and_cover_everybody(folder):
    X, y = tasks.load("toy", folder)
    splits = list(random_groups("toy", 4, 0, folder))
    assert [split.fold for split in splits] == [0, 1, 2, 3, 4]
    assert sum(len(split.y_test) for split in splits) == len(y)
    for split in splits:
        assert len(split.X) + len(split.X_test) == len(X)
        together = np.concatenate([split.X[:, 0], split.X_test[:, 0]])
        assert len(np.unique(together.round(9))) == len(X)
        assert split.X.mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_groups_have_the_size_asked_for_and_report_their_share(folder):
    for split in random_groups("toy", 5, 1, folder):
        sizes = np.bincount(split.groups)
        assert (sizes[:-1] == 5).all()
        assert 1 <= sizes[-1] <= 5
        for group, share in split.shares.items():
            assert share == split.labels[split.groups == group].mean()


def test_the_same_seed_gives_the_same_groups_and_another_one_others(folder):
    one, same, other = (next(random_groups("toy", 4, seed, folder)) for seed in (0, 0, 1))
    assert np.array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)


def test_missing_values_are_filled(folder):
    assert np.isfinite(tasks.load("toy", folder)[0]).all()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SystemExit, match=r"toy\.tsv\.gz is missing"):
        tasks.load("toy", tmp_path)


def test_one_bag_is_pure_and_the_other_holds_all_positives(folder):
    for split in two_bags("toy", 0, folder):
        assert split.task == "two bags, toy"
        assert split.shares[PURE] == 0.0
        assert split.labels[split.groups == PURE].sum() == 0
        assert split.shares[MIXED] == split.labels[split.groups == MIXED].mean()
        n_negative = (split.labels == 0).sum()
        assert (split.groups == PURE).sum() == n_negative // 2
