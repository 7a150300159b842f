"""What groups cannot show: how far they differ in each feature."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from disaggregate.analysis.identification import between_group_share


def test_share_is_that_of_the_analysis_of_variance_by_hand():
    # Group means 2 and 6, mean 4: between 2 * 4 + 2 * 4 = 16; within 2 + 2 = 4.
    table = between_group_share(pd.DataFrame({"x": [1.0, 3.0, 5.0, 7.0]}), list("aabb"))
    assert table.columns.tolist() == ["feature", "between", "effective_groups", "says"]
    assert_allclose(table["between"], 16 / 20)
    assert_allclose(table["effective_groups"], 2.0)


def test_share_is_that_of_a_long_formula(rng):
    groups = rng.integers(0, 9, 200)
    x = rng.normal(size=200) + 0.3 * groups
    means = pd.Series(x).groupby(groups).transform("mean")
    expected = np.var(means) / np.var(x)
    table = between_group_share(np.column_stack([x, 5 - 3 * x]), groups)
    assert table["feature"].tolist() == ["feature 1", "feature 2"]
    assert_allclose(table["between"], expected)


def test_categories_are_judged_by_their_levels():
    town = pd.Categorical(["u", "u", "v", "v", "v", "w"])
    groups = [0, 0, 1, 1, 1, 1]
    indicators = pd.get_dummies(pd.Series(town)).astype(float)
    means = indicators.groupby(groups).transform("mean")
    expected = means.var(ddof=0).sum() / indicators.var(ddof=0).sum()
    table = between_group_share(
        pd.DataFrame({"town": town, "works": [True, True, False, False, False, False]}), groups
    )
    assert_allclose(table["between"], [expected, 1.0])


def test_effective_groups_count_those_that_stand_apart():
    groups = np.repeat(np.arange(10), 4)
    within = np.tile([-1.0, 1.0, -1.0, 1.0], 10)
    alone = within + 50.0 * (groups == 3)
    even = within + np.where(groups % 2, 2.0, -2.0)
    table = between_group_share(pd.DataFrame({"alone": alone, "even": even}), groups)
    # One group d from nine: contrasts (0.9 d)^2 and nine times (0.1 d)^2.
    assert_allclose(table["effective_groups"], [0.9**2 / (0.81**2 + 9 * 0.01**2), 10.0])
    assert "though mostly one of them" in table["says"][0]
    assert table["says"][1] == "groups differ in this: the reports carry information about its effect"


def test_words_follow_the_numbers(rng):
    groups = np.repeat(np.arange(20), 50)
    noise = rng.normal(size=1000)
    people = pd.DataFrame(
        {
            "same": 3.7,
            "balanced": np.tile([0.0, 1.0], 500),
            "hardly": noise,
            "somewhat": noise + 0.4 * np.where(groups % 2, 1.0, -1.0),
            "unknown": np.nan,
            "nobody": pd.Series([None] * 1000, dtype=object),
        }
    )
    table = between_group_share(people, groups).set_index("feature")["says"]
    for name in ("same", "balanced", "unknown", "nobody"):
        assert table[name] == "groups do not differ in this: its effect rests on the model's assumptions alone"
    assert table["hardly"] == "groups hardly differ in this: its effect rests on the model's assumptions"
    assert table["somewhat"].endswith("its effect is partly learned, partly assumed")
    assert "there is one group only" in between_group_share(people, np.zeros(1000))["says"][0]
    three = between_group_share(pd.DataFrame({"x": [1.0, 2.0, 3.0]}), [1, 2, 3])
    assert "though there are only 3 of them" in three["says"][0]


def test_gaps_are_left_out():
    table = between_group_share(pd.DataFrame({"x": [1.0, 3.0, 5.0, 7.0, np.nan]}), list("aabbc"))
    assert_allclose(table["between"], 0.8)


def test_groups_must_fit_the_people():
    with pytest.raises(ValueError, match="groups has 2 entries but X has 3 rows"):
        between_group_share(np.zeros((3, 1)), [0, 1])
    with pytest.raises(ValueError, match=r"array of shape \(n_rows, n_features\); got \(3,\)"):
        between_group_share(np.zeros(3), [0, 1, 1])


def test_dates_are_judged_by_their_days():
    dates = pd.to_datetime(["2000-01-01", "2000-01-03", "2000-01-05", "2000-01-07", None])
    table = between_group_share(pd.DataFrame({"born": dates}), list("aabbc"))
    assert_allclose(table["between"], 16 / 20)


def test_a_cell_counts_as_many_times_as_it_has_people(rng):
    cells = pd.DataFrame({"x": rng.normal(size=30), "job": rng.choice(["a", "b", "c"], 30)})
    cells.loc[2, "x"] = np.nan
    groups, counts = rng.integers(0, 7, 30), rng.integers(0, 6, 30)
    rows = np.repeat(np.arange(30), counts)
    found = between_group_share(cells, groups, counts)
    pd.testing.assert_frame_equal(found, between_group_share(cells.iloc[rows], groups[rows]))
