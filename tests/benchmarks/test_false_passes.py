"""Answers without a ladder: the data sets, and what counts as a false pass."""

import math

import numpy as np
import pytest

from benchmarks import false_passes
from benchmarks.resumable import read_rows, run_left


@pytest.mark.parametrize("case", false_passes.CASES)
def test_every_group_reports_the_share_of_its_people(case, rng):
    X, shares, groups = false_passes.CASES[case](rng)
    assert len(X) == len(groups)
    assert set(shares) == set(np.unique(groups).tolist())
    assert all(0.0 <= share <= 1.0 for share in shares.values())


def test_mirror_images_are_in_the_same_group(rng):
    X, _, groups = false_passes.mirror(rng)
    for row in range(10):
        image = np.flatnonzero((X[row] * [-1.0, 1.0] == X).all(axis=1))
        assert groups[row] in groups[image]


def test_single_chains_that_are_off_are_counted(tmp_path):
    path = tmp_path / "false_passes.csv"
    rows = [
        {"single": True, "rhat": 1.01, "difference": 0.01, "between_ladders": 0.02},
        {"single": True, "rhat": 1.01, "difference": 0.20, "between_ladders": 0.02},
        {"single": True, "rhat": 1.20, "difference": 0.30, "between_ladders": 0.02},
        {"single": False, "rhat": 1.01, "difference": math.nan, "between_ladders": math.nan},
    ]
    run_left(path, 4, lambda seed: rows[seed], case="mirror", code="c")
    text = false_passes.report(read_rows(path, code="c"))
    assert "| mirror | 4 | 3 | 2 | 1 | 0.300 | 0.020 |" in text
    assert "| all | 4 | 3 | 2 | 1 | 0.300 | 0.020 |" in text
