"""The judge of subgroups: it knows the truth of each, and holds the right interval against it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks.cces import FEATURES
from benchmarks.cces_subgroups import covered, districts, judged, slope


@pytest.fixture
def people(rng):
    """One column of two levels, one of which 20 people have, and seven columns of one level."""
    table = pd.DataFrame({name: ["same"] * 100 for name in FEATURES})
    return table.assign(gender=["f"] * 80 + ["m"] * 20, cd=np.repeat(["a", "b", "c", "d"], 25))


def test_truth_and_intervals_of_large_subgroups(people, rng):
    votes = np.repeat([1.0, 0.0], [40, 60])
    draws = np.full((2000, 100), 0.3) + 0.01 * rng.standard_normal((2000, 1))
    table = judged(SimpleNamespace(predict_draws=lambda rows: draws[:, : len(rows)]), people, votes)
    women = table[(table["by"] == "gender") & (table["subgroup"] == "f")].iloc[0]
    assert women["n"] == 80
    assert women["truth"] == 0.5
    assert_allclose(women["estimate"], 0.3, atol=0.001)
    # Of many like them: 0.3 and 1.645 times 0.01; of these very people: sqrt(0.3 * 0.7 / 80) = 0.051 besides.
    assert_allclose(women["like_them_high"] - women["like_them_low"], 2 * 1.645 * 0.01, rtol=0.1)
    assert_allclose(women["people_high"] - women["people_low"], 2 * 1.645 * 0.052, rtol=0.2)
    assert "m" not in set(table["subgroup"])
    assert (table["by"] == "everybody").sum() == 1


def test_covered_counts_ends_and_takes_a_shift():
    table = pd.DataFrame({"truth": [0.2, 0.5, 0.81], "people_low": 0.5, "people_high": 0.8})
    assert covered(table, "people").tolist() == [False, True, False]
    assert covered(table, "people", 0.02).tolist() == [False, False, True]


def test_slope_says_when_differences_are_overstated():
    table = pd.DataFrame({"estimate": [0.1, 0.5, 0.9], "truth": [0.3, 0.5, 0.7], "n": [30, 40, 50]})
    assert_allclose(slope(table), 0.5)


def test_districts_that_people_explain_have_nothing_left_for_place(rng, tmp_path):
    share_old = np.repeat(np.linspace(0.1, 0.9, 6), 300)
    old = rng.random(1800) < share_old
    votes = (rng.random(1800) < np.where(old, 0.8, 0.2)).astype(float)
    people = pd.DataFrame(dict.fromkeys(FEATURES, "same"), index=range(1800)).assign(
        age=np.where(old, "old", "young"), race="White", cd=np.repeat([f"NY-{i:02d}" for i in range(1, 7)], 300)
    )
    results = tmp_path / "results.csv"
    shares = 0.2 + 0.6 * np.linspace(0.1, 0.9, 6)
    pd.DataFrame({"cd": people["cd"].unique(), "pct_trump": shares}).to_csv(results, index=False)
    reported = districts(people, votes, results)
    assert_allclose(reported["slope"], 1.0, atol=0.15)
    pd.DataFrame({"cd": people["cd"].unique(), "pct_trump": 2.0 * (shares - 0.5) + 0.5}).to_csv(
        results, index=False
    )
    assert_allclose(districts(people, votes, results)["slope"], 2.0, atol=0.3)
