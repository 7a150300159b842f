"""Rates of subgroups: by hand, by formula, in bounded memory."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from disaggregate.groups import group_rows
from disaggregate.groups.evidence import Count
from disaggregate.posterior import batches
from disaggregate.posterior.subgroups import subgroup_draws
from tests.helpers.predictors import of_table

PEOPLE = pd.DataFrame({"sex": ["m", "f", "m", "f"], "age": [1, 1, 2, 1]}, index=[7, 3, 3, 0])
DRAWS = np.array([[0.1, 0.2, 0.3, 0.6], [0.3, 0.4, 0.5, 0.8]])
WEIGHTS = np.array([1.0, 3.0, 2.0, 1.0])


def subgroup_rates(*given, level=0.9, **named):
    return subgroup_draws(*given, **named).table(level)


def test_weighted_means_by_hand():
    table = subgroup_rates(of_table(DRAWS), PEOPLE, ["sex"], WEIGHTS, level=0.5)
    assert table.columns.tolist() == ["sex", "estimate", "std_error", "conf_low", "conf_high", "n", "weight"]
    assert table["sex"].tolist() == ["f", "m"]
    # Women: (3 * 0.2 + 0.6) / 4 = 0.3 and (3 * 0.4 + 0.8) / 4 = 0.5; men: 0.7 / 3 and 1.3 / 3.
    assert_allclose(table["estimate"], [0.4, 1 / 3])
    assert_allclose(table["std_error"], [0.1, 0.1])
    assert_allclose(table["conf_low"], [0.35, 0.85 / 3])
    assert_allclose(table["conf_high"], [0.45, 1.15 / 3])
    assert table["n"].tolist() == [2, 2]
    assert table["weight"].tolist() == [4, 3]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_several_columns_make_the_combinations_that_occur(frame):
    people = frame({"sex": ["m", "f", "m", "f"], "age": [1, 1, 2, 1]})
    found = subgroup_draws(of_table(DRAWS), people, ["sex", "age"])
    assert found.keys.to_dict("list") == {"sex": ["f", "m", "m"], "age": [1, 1, 2]}
    assert_allclose(found.draws, [[0.4, 0.1, 0.3], [0.6, 0.3, 0.5]])
    assert_array_equal(found.n, found.weight)


def test_no_column_is_everybody():
    table = subgroup_rates(of_table(DRAWS), PEOPLE, [])
    assert table["estimate"].tolist() == pytest.approx([0.4])
    assert table.columns[0] == "estimate"


def test_categories_keep_their_order_and_missing_values_are_a_level():
    education = pd.Categorical(["low", "high", None, "low"], categories=["low", "middle", "high"], ordered=True)
    table = subgroup_rates(of_table(DRAWS), pd.DataFrame({"education": education}), "education")
    assert table["education"].tolist()[:2] == ["low", "high"]
    assert pd.isna(table["education"][2])
    assert table["n"].tolist() == [2, 1, 1]


def test_blocks_do_not_show_and_stay_small(rng, monkeypatch):
    draws, people = rng.random((6, 500)), pd.DataFrame({"g": rng.integers(0, 4, 500)})
    weights, replicates = rng.gamma(1.0, size=500), rng.gamma(1.0, size=(500, 8))
    whole = subgroup_rates(of_table(draws), people, "g", weights, replicates)
    monkeypatch.setattr(batches, "VALUES_AT_ONCE", 6 * 17)
    monkeypatch.setattr(batches, "FIRST_ROWS", 10)
    probability = of_table(draws)
    pd.testing.assert_frame_equal(subgroup_rates(probability, people, "g", weights, replicates), whole)
    assert max(map(len, probability.asked)) == 17
    assert sum(map(len, probability.asked)) == 500
    expected = [
        np.average(draws[:, people["g"] == g], axis=1, weights=weights[people["g"] == g]) for g in range(4)
    ]
    assert_allclose(whole["estimate"], np.mean(expected, axis=1))


@pytest.mark.parametrize(
    ("n_replicates", "given", "factor"), [(80, None, 4 / 80), (160, None, 4 / 160), (7, 0.3, 0.3)]
)
def test_design_variance_is_that_of_the_formula(rng, n_replicates, given, factor):
    draws, people = rng.random((30, 40)), pd.DataFrame({"g": np.repeat(["a", "b"], 20)})
    weights, replicates = rng.gamma(2.0, size=40), rng.gamma(2.0, size=(40, n_replicates))
    replicates[3, 2] = -0.1  # as some surveys have them
    found = subgroup_draws(of_table(draws), people, "g", weights, replicates, design_factor=given)
    assert found.design_factor == pytest.approx(factor)
    table = found.table()
    assert table.columns[-2:].tolist() == ["std_error_posterior", "std_error_design"]
    for row, inside in enumerate((slice(0, 20), slice(20, 40))):
        mean = draws.mean(axis=0)[inside]
        theta = np.average(mean, weights=weights[inside])
        theta_r = [replicates[inside, r] @ mean / replicates[inside, r].sum() for r in range(n_replicates)]
        design = np.sqrt(factor * sum((value - theta) ** 2 for value in theta_r))
        posterior = np.average(draws[:, inside], axis=1, weights=weights[inside]).std()
        assert table["std_error_design"][row] == pytest.approx(design)
        assert table["std_error_posterior"][row] == pytest.approx(posterior)
        assert table["std_error"][row] == pytest.approx(np.hypot(design, posterior))
    plain = subgroup_rates(of_table(draws), people, "g", weights)
    assert (table["conf_low"] < plain["conf_low"]).all()
    assert (table["conf_high"] > plain["conf_high"]).all()


def test_outcomes_add_the_spread_of_labels():
    n = np.array([5, 400])
    people = pd.DataFrame({"g": np.repeat(["small", "large"], n)})
    probability = of_table(np.full((5000, n.sum()), 0.3))
    found = subgroup_draws(probability, people, "g", outcomes=True).only(g="small")
    assert_allclose(found.draws.std(), np.sqrt(0.21 / 5), rtol=0.05)
    assert set(np.unique(found.draws)) <= set(np.arange(6) / 5)
    table = subgroup_rates(probability, people, "g", outcomes=True)
    assert_allclose(table["estimate"], 0.3, atol=0.02)
    assert_allclose(table["std_error"], np.sqrt(0.21 / n[::-1]), rtol=0.05)
    again = subgroup_rates(probability, people, "g", outcomes=True)
    pd.testing.assert_frame_equal(table, again)
    other = subgroup_rates(probability, people, "g", outcomes=True, random_state=1)
    assert not table.equals(other)
    assert_allclose(subgroup_rates(probability, people, "g")["std_error"], 0.0, atol=1e-12)


@pytest.mark.parametrize("outcomes", [False, True])
def test_members_agree_with_what_their_group_reported(rng, outcomes):
    people = pd.DataFrame({"group": list("abababab"), "half": list("xxxxyyyy")})
    members = group_rows(people["group"].tolist(), {"a": Count(1), "b": Count(3)})
    probability = of_table(rng.uniform(0.1, 0.9, (300, 8)))
    table = subgroup_rates(probability, people, "group", members=members, outcomes=outcomes)
    assert_allclose(table["estimate"], [0.25, 0.75])
    assert_allclose(table["std_error"], 0.0, atol=1e-12)
    halves = subgroup_rates(probability, people, "half", members=members, outcomes=outcomes)
    assert (halves["std_error"] > 0.01).all()


def test_a_subgroup_without_weight_has_no_estimate():
    table = subgroup_rates(of_table(DRAWS), PEOPLE, "sex", [0, 1, 0, 1])
    assert_array_equal(table["estimate"].isna(), [False, True])
    assert table["n"].tolist() == [2, 2]
    assert table["weight"].tolist() == [2, 0]


def test_only_keeps_what_was_asked_for():
    found = subgroup_draws(of_table(DRAWS), PEOPLE, ["sex", "age"], WEIGHTS, np.ones((4, 3)))
    men = found.only(sex="m", age=2)
    assert men.keys.to_dict("list") == {"sex": ["m"], "age": [2]}
    assert_allclose(men.draws, [[0.3], [0.5]])
    assert (men.n, men.weight, men.replicates.shape) == ([1], [2.0], (3, 1))
    with pytest.raises(ValueError, match=r"no subgroup has \{'sex': 'x'\}; there are \[\{'sex': 'f'"):
        found.only(sex="x")
    with pytest.raises(ValueError, match="no column 'town'"):
        found.only(town="x")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"by": ["town"]}, r"people has no column 'town'; its columns are 'sex', 'age'"),
        ({"people": PEOPLE.to_numpy()}, "people must be a dataframe with a row per person, got ndarray"),
        ({"people": PEOPLE.iloc[:0]}, "people is an empty table"),
        ({"people": PEOPLE.rename(columns={"sex": "n"}), "by": "n"}, "column 'n' has the name of a result"),
        ({"weights": np.ones(3)}, r"one number for each of the 4 people, got shape \(3,\)"),
        ({"weights": [1, -2, 1, 1]}, r"weights must be 0 or more, got -2.0 at row 1"),
        ({"weights": np.zeros(4)}, "weights are all 0"),
        ({"replicates": np.ones((4, 1))}, r"two or more columns of replicate weights .* got shape \(4, 1\)"),
        ({"replicates": np.full((4, 2), np.nan)}, "replicates must hold finite numbers"),
        ({"replicates": np.ones((4, 2)), "design_factor": 0}, "design_factor must be above 0"),
        ({"replicates": np.ones((4, 2)), "outcomes": True}, "give one of the two"),
        ({"members": group_rows([1, 1], {1: Count(1)})}, "groups of the 4 people in the table, got 2 members"),
        ({"level": 1.0}, "level must lie between 0 and 1"),
    ],
)
def test_bad_input_is_explained(changes, message):
    with pytest.raises(ValueError, match=message):
        subgroup_rates(**{"probability": of_table(DRAWS), "people": PEOPLE, "by": "sex", **changes})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fitted_model_is_a_predictor(seed):
    town = dg.datasets.make_districts(random_state=seed)
    model = dg.GroupStatsClassifier(
        kernel="linear", n_replicas=1, n_chains=2, n_draws=50, n_burn=20, n_jobs=1, random_state=seed
    ).fit(town.X, town.shares, groups=town.groups)
    people = pd.DataFrame({"district": town.groups})

    def probability(rows):
        return model.predict_draws(town.X[rows])

    table = subgroup_rates(probability, people, "district")
    mean = pd.Series(model.predict_proba(town.X)[:, 1]).groupby(town.groups).mean()
    assert_allclose(table["estimate"], mean)
    informed = subgroup_rates(probability, people, "district", members=model._data)
    labels = pd.Series(model.label_proba_).groupby(town.groups).mean()
    assert_allclose(informed["estimate"], labels, atol=0.02)
    assert (informed["std_error"] < table["std_error"]).all()


def in_people(counts):
    """Row of each person of some cells."""
    return np.repeat(np.arange(len(counts)), counts)


def test_a_cell_counts_as_many_times_as_it_has_people(rng):
    draws, counts = rng.random((6, 40)), rng.integers(0, 9, 40)
    weights, replicates = rng.gamma(2.0, size=40), rng.gamma(2.0, size=(40, 5))
    cells = pd.DataFrame({"g": rng.integers(0, 3, 40)})
    rows = in_people(counts)
    found = subgroup_rates(of_table(draws), cells, "g", weights, replicates, counts=counts)
    everybody = cells.iloc[rows].reset_index(drop=True)
    expected = subgroup_rates(of_table(draws[:, rows]), everybody, "g", weights[rows], replicates[rows])
    pd.testing.assert_frame_equal(found, expected)
    assert found["n"].sum() == counts.sum()


def test_labels_of_a_cell_are_those_of_its_people():
    p, counts = 0.3, np.array([40, 0, 60])
    cells = pd.DataFrame({"g": ["a", "a", "b"]})
    drawn = subgroup_draws(of_table(np.full((20_000, 3), p)), cells, "g", counts=counts, outcomes=True)
    assert_allclose(drawn.draws.mean(axis=0), [p, p], atol=0.005)
    assert_allclose(drawn.draws.std(axis=0), np.sqrt(p * (1 - p) / np.array([40, 60])), rtol=0.03)


def test_counts_are_whole_and_of_cells():
    with pytest.raises(ValueError, match="1 count negative"):
        subgroup_rates(of_table(DRAWS), PEOPLE, "sex", counts=[1, 2, -1, 1])
    members = group_rows([0, 0, 1, 1], {0: Count(1), 1: Count(1)})
    with pytest.raises(ValueError, match="members are single people"):
        subgroup_rates(of_table(DRAWS), PEOPLE, "sex", members=members, counts=[1, 2, 1, 1])
