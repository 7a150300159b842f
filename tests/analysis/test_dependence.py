"""Partial dependence of known functions along grids."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr

from disaggregate.analysis.dependence import predictions
from tests.helpers.predictors import probit


def additive(people):
    """0.1 x + 0.3 [town is b], and a draw that is 0.2 higher."""
    base = 0.1 * people["x"].to_numpy() + 0.3 * (people["town"] == "b").to_numpy()
    return np.stack([base, base + 0.2])


PEOPLE = pd.DataFrame({"x": [0.0, 1.0, 2.0, 2.0], "town": pd.Categorical(list("abba"), categories=["b", "a"])})


def test_dependence_of_a_known_function():
    table = predictions(additive, PEOPLE, {"x": [1, 3]}, level=0.5)
    assert table.columns.tolist() == ["x", "estimate", "std_error", "conf_low", "conf_high"]
    assert table["x"].tolist() == [1, 3]
    assert_allclose(table["estimate"], [0.35, 0.55])
    assert_allclose(table["std_error"], 0.1)
    assert_allclose(table["conf_low"], [0.3, 0.5])
    weighted = predictions(additive, PEOPLE, {"x": [1]}, weights=[1, 0, 0, 1])
    assert_allclose(weighted["estimate"], 0.2)


def test_two_columns_make_all_combinations():
    table = predictions(additive, PEOPLE, {"x": np.array([0.0, 1.0]), "town": None})
    assert table["x"].tolist() == [0, 0, 1, 1]
    assert table["town"].tolist() == ["b", "a", "b", "a"]
    assert table["town"].dtype == PEOPLE["town"].dtype
    assert_allclose(table["estimate"], [0.4, 0.1, 0.5, 0.2])


def test_the_usual_grid(rng):
    assert predictions(additive, PEOPLE, "x")["x"].tolist() == [0, 1, 2]
    assert predictions(additive, PEOPLE, ["town"])["town"].tolist() == ["b", "a"]
    x = rng.normal(size=300)
    table = predictions(probit([0.0, 0.5], [1.0, 1.0]), pd.DataFrame({"x": x}), "x")
    assert len(table) == 21
    assert_allclose(table["x"].iloc[[0, -1]], np.quantile(x, [0.05, 0.95]))
    assert_allclose(table["estimate"], (ndtr(table["x"]) + ndtr(0.5 + table["x"])) / 2)


def test_bad_input_is_explained():
    with pytest.raises(ValueError, match=r"'c' is not a level of 'town'; its levels are \['b', 'a'\]"):
        predictions(additive, PEOPLE, {"town": ["c"]})
    with pytest.raises(ValueError, match="the grid of 'x' is empty"):
        predictions(additive, PEOPLE, {"x": []})
    with pytest.raises(ValueError, match="the grid of 'x' must be a list"):
        predictions(additive, PEOPLE, {"x": 3.0})
    with pytest.raises(ValueError, match="column 'estimate' has the name of a result"):
        predictions(additive, PEOPLE.rename(columns={"x": "estimate"}), "estimate")


def test_dates_make_a_grid_of_dates():
    def predict(table):
        return np.tile((table["born"] - pd.Timestamp("2000-01-01")).dt.days.to_numpy() / 1000.0, (2, 1))

    people = pd.DataFrame({"born": pd.date_range("2000-01-01", periods=101)})
    table = predictions(predict, people, "born")
    assert len(table) == 21
    assert table["born"].iloc[[0, -1]].tolist() == [pd.Timestamp("2000-01-06"), pd.Timestamp("2000-04-05")]
    chosen = predictions(predict, people, {"born": ["2000-02-01", "2000-03-01"]})
    assert chosen["born"].tolist() == [pd.Timestamp("2000-02-01"), pd.Timestamp("2000-03-01")]
    assert_allclose(chosen["estimate"], [0.031, 0.060])
