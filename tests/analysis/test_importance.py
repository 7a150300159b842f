"""Shuffling shows which features a score needs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from disaggregate.analysis.importance import permutation_importance


@pytest.fixture
def people(rng):
    return pd.DataFrame({"x": rng.normal(size=200), "noise": rng.normal(size=200), "z": rng.normal(size=200)})


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_only_what_the_score_uses_matters(people, frame, seed):
    truth = people["x"].to_numpy() + 0.1 * people["z"].to_numpy()

    def score(table):
        return -np.mean((truth - table["x"].to_numpy() - 0.1 * table["z"].to_numpy()) ** 2)

    table = permutation_importance(score, frame(people.to_dict("list")), ["noise", "z", "x"], 10, seed)
    assert table["term"].tolist() == ["x", "z", "noise"]
    # A shuffled feature is as good as a stranger's: the loss is twice its variance.
    assert_allclose(table["estimate"][0], 2 * people["x"].var(), rtol=0.15)
    assert table["estimate"][2] == 0.0
    assert (table["conf_low"] <= table["estimate"]).all()
    again = permutation_importance(score, frame(people.to_dict("list")), ["noise", "z", "x"], 10, seed)
    pd.testing.assert_frame_equal(table, again)


def test_columns_of_one_bundle_are_shuffled_together(people):
    twins = people.assign(twin=people["x"])

    def apart(table):
        return -np.mean((table["x"].to_numpy() - table["twin"].to_numpy()) ** 2)

    assert permutation_importance(apart, twins, [("x", "twin")])["estimate"].tolist() == [0.0]
    assert permutation_importance(apart, twins, "x")["estimate"][0] > 1.0


def test_error_is_that_of_the_mean_of_the_repeats(people):
    scores = iter([5.0, 4.0, 3.0, 2.0])
    row = permutation_importance(lambda table: next(scores), people, ["x"], n_repeats=3, level=0.9).iloc[0]
    assert row["estimate"] == 2.0
    assert row["std_error"] == pytest.approx(1 / np.sqrt(3))
    assert row["conf_high"] == pytest.approx(2.0 + 2.919986 / np.sqrt(3))


def test_bad_input_is_explained(people):
    with pytest.raises(ValueError, match="no column 'age'"):
        permutation_importance(len, people, ["x", ("z", "age")])
    with pytest.raises(ValueError, match="n_repeats must be 2 or more"):
        permutation_importance(len, people, ["x"], n_repeats=1)
