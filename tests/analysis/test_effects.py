"""Slopes and comparisons of predictors whose effects are known."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr
from scipy.stats import norm

from disaggregate.analysis.effects import avg_comparisons, avg_slopes
from disaggregate.posterior import batches
from tests.helpers.predictors import probit

COLUMNS = ["term", "contrast", "estimate", "std_error", "conf_low", "conf_high"]
A, B = np.array([-0.3, 0.1, 0.4]), np.array([0.8, 1.1, -0.2])


@pytest.fixture
def people(rng):
    return pd.DataFrame(
        {
            "x": rng.normal(3.0, 2.0, 90),
            "size": rng.integers(1, 5, 90),
            "sex": pd.Categorical(rng.choice(["male", "female"], 90), categories=["male", "female", "other"]),
            "works": rng.random(90) < 0.5,
        }
    )


def by_category(people):
    """Make a predictor that reads categories, as one with an encoder would."""
    lift = people["sex"].map({"male": 0.0, "female": 0.2}).to_numpy(dtype=float)
    return np.stack([0.3 + lift, 0.5 - lift + 0.1 * people["works"].to_numpy()])


@pytest.mark.parametrize("weighted", [False, True])
def test_slope_of_a_probit_is_the_analytic_one(people, rng, weighted):
    weights = rng.gamma(1.0, size=90) if weighted else None
    table = avg_slopes(probit(A, B), people, ["x", "size"], weights=weights)
    density = norm.pdf(A[:, None] + B[:, None] * people["x"].to_numpy())
    expected = B * np.average(density, axis=1, weights=weights)
    assert table.columns.tolist() == COLUMNS
    assert table["contrast"].tolist() == ["dY/dX"] * 2
    assert_allclose(table["estimate"], [expected.mean(), 0.0], rtol=1e-5)
    assert_allclose(table["std_error"], [expected.std(), 0.0], rtol=1e-5)
    assert_allclose(table["conf_low"][0], np.quantile(expected, 0.05), rtol=1e-5)


def test_slopes_are_of_all_numbers_by_default(people):
    assert avg_slopes(probit(A, B), people)["term"].tolist() == ["x", "size"]


@pytest.mark.parametrize(
    ("step", "size", "label"), [(None, 1.0, "+1"), (2, 2.0, "+2"), (-0.5, -0.5, "-0.5"), ("sd", None, "+1 sd")]
)
def test_steps_of_a_number(people, step, size, label):
    x = people["x"].to_numpy()
    size = x.std() if size is None else size
    table = avg_comparisons(probit(A, B), people, {"x": step})
    expected = np.mean(ndtr(A[:, None] + B[:, None] * (x + size)) - ndtr(A[:, None] + B[:, None] * x), axis=1)
    assert table["contrast"].tolist() == [label]
    assert_allclose([table["estimate"][0], table["std_error"][0]], [expected.mean(), expected.std()])


def test_levels_of_categories_are_compared_with_a_reference(people):
    table = avg_comparisons(by_category, people, ["sex", "works"])
    assert table["term"].tolist() == ["sex", "works"]
    assert table["contrast"].tolist() == ["female - male", "True - False"]
    assert_allclose(table["estimate"], [0.0, 0.05], atol=1e-12)
    assert_allclose(table["std_error"], [0.2, 0.05])
    other = avg_comparisons(by_category, people, {"sex": "female"}, level=0.5)
    assert other["contrast"].tolist() == ["male - female"]


def test_all_columns_by_default_and_polars_too(people):
    def predict(table):
        return np.tile(0.2 + 0.1 * (table["town"].to_numpy() == "b") + 0.01 * table["size"].to_numpy(), (2, 1))

    for frame in (pd.DataFrame, pl.DataFrame):
        table = avg_comparisons(predict, frame({"town": ["a", "b", "c"], "size": [1, 2, 3]}))
        assert table["contrast"].tolist() == ["b - a", "c - a", "+1"]
        assert_allclose(table["estimate"], [0.1, 0.0, 0.01], atol=1e-12)
        assert_allclose(avg_slopes(predict, frame({"town": ["a", "b"], "size": [1, 2]}))["estimate"], 0.01)


def test_people_are_left_as_they_were(people):
    before = people.copy()
    avg_comparisons(by_category, people, ["sex", "works"])
    avg_slopes(probit(A, B), people)
    pd.testing.assert_frame_equal(people, before)


def test_rows_are_asked_for_in_bounded_number(people, monkeypatch):
    monkeypatch.setattr(batches, "VALUES_AT_ONCE", 3 * 20)
    monkeypatch.setattr(batches, "FIRST_ROWS", 10)
    sizes = []
    predict = probit(A, B)
    avg_slopes(lambda part: (sizes.append(len(part)), predict(part))[1], people, "x")
    assert max(sizes) == 20
    assert sum(sizes) == 2 * 90


def test_bad_input_is_explained(people):
    with pytest.raises(ValueError, match=r"column 'sex' is not numeric \(category\)"):
        avg_slopes(probit(A, B), people, "sex")
    with pytest.raises(ValueError, match="no column 'age'"):
        avg_comparisons(probit(A, B), people, "age")
    with pytest.raises(ValueError, match="column 'x' is constant"):
        avg_slopes(probit(A, B), people.assign(x=1.0), "x")
    with pytest.raises(ValueError, match="eps must be above 0"):
        avg_slopes(probit(A, B), people, "x", eps=0)
    with pytest.raises(ValueError, match="number other than 0, or \"sd\"; got 'iqr'"):
        avg_comparisons(probit(A, B), people, {"x": "iqr"})
    with pytest.raises(ValueError, match=r"one of its levels \['male', 'female'\], got 'other'"):
        avg_comparisons(by_category, people, {"sex": "other"})
    with pytest.raises(ValueError, match="nothing to compare"):
        avg_comparisons(probit(A, B), people, [])


def born(people):
    """Make a predictor that counts days, as the encoder does: one draw rises by 0.001 a day, the other falls."""
    days = (pd.to_datetime(pd.Series(list(people["born"]))) - pd.Timestamp("2000-01-01")) / pd.Timedelta(days=1)
    days = days.fillna(0.0).to_numpy()
    return np.stack([0.5 + 0.0001 * days, 0.5 - 0.0002 * days])


@pytest.mark.parametrize(
    ("span", "option", "label", "days"),
    [
        (2000, None, "+1 year", 365.25),
        (200, None, "+1 month", 365.25 / 12.0),
        (20, None, "+1 day", 1.0),
        (2000, "month", "+1 month", 365.25 / 12.0),
        (2000, -30, "-30 days", -30.0),
    ],
)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dates_move_on_by_a_step_that_is_said(frame, span, option, label, days):
    moments = pd.Timestamp("2000-01-01") + pd.to_timedelta(np.linspace(0, span, 30).round(), unit="D")
    people = frame({"born": list(moments.to_pydatetime())})
    table = avg_comparisons(born, people, {"born": option})
    assert table["contrast"].tolist() == [label]
    assert_allclose(table["estimate"], -0.00005 * days)
    assert_allclose(table["std_error"], abs(0.00015 * days))


def test_dates_without_a_time_of_day_and_their_slope():
    people = pd.DataFrame({"born": [pd.Timestamp("2000-01-01").date(), pd.Timestamp("2003-05-01").date(), None]})
    assert avg_comparisons(born, people)["contrast"].tolist() == ["+1 year"]
    assert_allclose(avg_slopes(born, people, "born")["estimate"], -0.00005)
    spread = np.std([0.0, 1216.0])
    assert_allclose(avg_comparisons(born, people, {"born": "sd"})["estimate"], -0.00005 * spread)


def test_who_has_no_value_does_not_count_in_an_effect(people):
    gaps = people.assign(x=people["x"].mask(people.index % 3 == 0))
    filled = probit(A, B)
    predict = lambda table: filled(table.fillna({"x": 3.0}))  # noqa: E731
    known = avg_comparisons(predict, gaps.dropna(), "x")
    assert_allclose(avg_comparisons(predict, gaps, "x")["estimate"], known["estimate"])
    assert_allclose(
        avg_slopes(predict, gaps, "x")["estimate"], avg_slopes(predict, gaps.dropna(), "x")["estimate"]
    )


def test_columns_without_values_are_left_out_unless_asked_for(people):
    empty = people[["x"]].assign(number=np.nan, word=pd.Series([None] * 90, dtype=object), when=pd.NaT)
    assert avg_comparisons(probit(A, B), empty)["term"].tolist() == ["x"]
    for name in ("number", "word", "when"):
        with pytest.raises(ValueError, match=f"column '{name}' holds no values"):
            avg_comparisons(probit(A, B), empty, name)


@pytest.mark.parametrize("values", [[0, 1, 1], [0.0, 1.0, np.nan], [False, True, None]])
def test_yes_and_no_are_compared_in_whatever_way_they_are_written(values):
    people = pd.DataFrame({"yes": values})
    predict = lambda table: 0.2 + 0.5 * (table["yes"].to_numpy(dtype=float, na_value=0.0) == 1.0)[None, :]  # noqa: E731
    table = avg_comparisons(predict, people)
    assert table["contrast"].tolist() in (["1 - 0"], ["True - False"])
    assert_allclose(table["estimate"], 0.5)
    if isinstance(values[0], bool):
        assert avg_comparisons(predict, people, {"yes": "True"})["contrast"].tolist() == ["False - True"]
    else:
        assert avg_comparisons(predict, people, {"yes": 2})["contrast"].tolist() == ["+2"]


def test_bad_steps_of_dates_are_explained():
    people = pd.DataFrame({"born": pd.to_datetime(["2000-01-01", "2001-01-01"])})
    with pytest.raises(ValueError, match=r"the step of the date 'born' must be one of 'year', .*; got 'week'"):
        avg_comparisons(born, people, {"born": "week"})
    with pytest.raises(ValueError, match="number of days other than 0; got 0"):
        avg_comparisons(born, people, {"born": 0})


def test_a_cell_counts_as_many_times_as_it_has_people(people, rng):
    counts, weights = rng.integers(0, 6, 90), rng.gamma(2.0, size=90)
    rows = np.repeat(np.arange(90), counts)
    everybody = people.iloc[rows].reset_index(drop=True)
    for variables in ({"x": "sd"}, {"x": 2}):
        found = avg_comparisons(probit(A, B), people, variables, weights=weights, counts=counts)
        expected = avg_comparisons(probit(A, B), everybody, variables, weights=weights[rows])
        pd.testing.assert_frame_equal(found, expected)
    pd.testing.assert_frame_equal(
        avg_comparisons(by_category, people, "sex", counts=counts), avg_comparisons(by_category, everybody, "sex")
    )
    pd.testing.assert_frame_equal(
        avg_slopes(probit(A, B), people, "x", counts=counts), avg_slopes(probit(A, B), everybody, "x")
    )
