"""What makes a report easy to read: percentages, natural orders, bands, and axes with round ticks."""

import numpy as np
import pandas as pd
import pytest

from disaggregate.report.axis import axis_over
from disaggregate.report.bands import in_bands
from disaggregate.report.level_order import natural_order
from disaggregate.report.percentages import DASH, MINUS, points, share
from disaggregate.tables.outcome import outcome_of_column
from disaggregate.tables.roles import Roles


@pytest.mark.parametrize(
    ("ends", "reported"),
    [
        ((0.45, 0.41, 0.49), ("45%", f"41{DASH}49%")),
        ((0.384, 0.379, 0.389), ("38.4%", f"37.9{DASH}38.9%")),
        ((0.001, 0.0002, 0.04), ("<1%", f"<1{DASH}4%")),
        ((0.999, 0.96, 0.9999), (">99%", f"96{DASH}>99%")),
        ((0.5, 0.5, 0.5), ("50.000%", f"50.000{DASH}50.000%")),
    ],
)
def test_shares_have_the_digits_that_they_are_worth(ends, reported):
    assert share(*ends) == reported


def test_differences_are_in_points_with_their_sign():
    assert points(0.12, -0.03, 0.21) == ("+12", f"{MINUS}3 to +21")
    assert points(-0.001, -0.03, 0.03) == ("0", f"{MINUS}3 to +3")


@pytest.mark.parametrize(
    "levels",
    [
        ["18 to 24 years", "25 to 34 years", "65 years and over"],
        ["Less than 10k", "10k - 20k", "100k - 120k", "150k+", "Prefer not to say"],
        ["HS or Less", "Some College", "4-Year", "Post-Grad"],
        ["primary", "secondary", "vocational", "bachelor", "master"],
        ["low", "medium", "high", "missing"],
        ["never", "sometimes", "often"],
    ],
)
def test_levels_with_a_natural_order_have_it(levels):
    mixed = sorted(levels)
    order = natural_order(pd.Series(mixed), mixed)
    assert [mixed[place] for place in order] == levels


@pytest.mark.parametrize("levels", [["White", "Black", "Asian"], ["d1", "town"], ["f", "m"]])
def test_levels_without_an_order_have_none(levels):
    assert natural_order(pd.Series(levels), levels) is None


def test_ordered_categories_and_numbers_bring_their_order():
    column = pd.Series(pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True))
    assert natural_order(column, ["a", "b"]) == [1, 0]
    assert natural_order(pd.Series([10, 9]), [10, 9]) == [1, 0]


def test_numbers_fall_into_bands_that_hold_everybody():
    ages = pd.Series(np.random.default_rng(0).integers(18, 96, 1000))
    bands = in_bands(ages)
    assert bands.notna().all()
    assert bands.cat.categories[0].startswith("under")
    assert bands.value_counts().min() > 150
    low = ages[bands == bands.cat.categories[1]]
    first, last = map(int, bands.cat.categories[1].split(" to "))
    assert (low.min(), low.max()) == (first, last)
    assert in_bands(pd.Series([1.0, 1.0])) is None
    assert list(in_bands(pd.Series([3, 1, 2])).cat.categories) == [1, 2, 3]


def test_axes_hold_all_values_and_have_round_ticks():
    axis = axis_over([0.12, 0.63])
    assert axis.low == pytest.approx(0.0) or axis.low <= 0.12
    assert 2 <= len(axis.ticks) <= 6
    assert all(text.endswith("%") and text[:-1].isdecimal() for _, text in axis.ticks)
    assert 0.0 <= axis.position(0.12) < axis.position(0.63) <= 100.0
    signed = axis_over([-0.1, 0.2], signed=True)
    assert "0" in [text for _, text in signed.ticks]
    assert axis_over([]).ticks


@pytest.mark.parametrize(
    ("roles", "name"),
    [
        ({"share": "pct_trump"}, "trump"),
        ({"share": "share"}, "the outcome"),
        ({"positives": "food_stamps", "total": "n"}, "food stamps"),
        ({"low": "low"}, "the outcome"),
    ],
)
def test_a_column_may_name_the_outcome(roles, name):
    assert outcome_of_column(Roles(group="g", **roles)) == name
