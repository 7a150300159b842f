import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.report_numbers import bounds_are_shares, report_numbers
from disaggregate.tables.roles import Roles

GROUPS = ["a", "b", "c"]


def read(**columns):
    return report_numbers(pd.DataFrame({"g": GROUPS, **columns}), Roles("g", **{name: name for name in columns}))


def messages(**columns):
    problems = read(**columns)[1]
    assert all(problem.level == "error" for problem in problems)
    return [f"{problem.where}: {problem.message}" for problem in problems]


def test_numbers_and_gaps():
    numbers, problems = read(share=[0.0, None, 1.0], confidence=["10", None, "inf"])
    assert problems == []
    np.testing.assert_array_equal(numbers["share"], [0.0, np.nan, 1.0])
    np.testing.assert_array_equal(numbers["confidence"], [10.0, np.nan, np.inf])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            {"share": [52.3, 0.0, 97.0]},
            ["'share'", "up to 97", "look like percentages", "divide the column by 100"],
        ),
        ({"share": [100, 40, None]}, ["up to 100", "percentages"]),
        ({"share": ["52.3 %", "4 %", "1%"]}, ["percent sign such as '52.3 %'", "0.523"]),
        ({"share": ["0.5", "many", None]}, ["must hold numbers, got 'many' at row 1"]),
        ({"share": ["0,5", "0,25", None]}, ["must hold numbers, got '0,5'"]),
        ({"share": [0.5, 1.02, 0.1]}, ["shares from 0 to 1, got 1.02 in group 'b' (1 group: 'b')"]),
        ({"share": [0.5, -0.5, -1.0]}, ["got -0.5 in group 'b' (2 groups: 'b', 'c')"]),
        ({"share": [0.5, np.inf, 0.1]}, ["expected finite numbers, got inf in group 'b'"]),
        ({"share": [True, False, None]}, ["got True and False"]),
        ({"positives": [1.5, 2, 3]}, ["whole numbers of 0 or more, got 1.5 in group 'a'"]),
        ({"positives": [1, -2, 3]}, ["whole numbers of 0 or more, got -2 in group 'b'"]),
        ({"share": [0.5] * 3, "size": [10, 20.5, 3]}, ["column 'size'", "whole numbers", "20.5"]),
        ({"share": [0.5] * 3, "confidence": [10, -1, 3]}, ["column 'confidence'", "numbers of 0 or more, got -1"]),
        ({"low": [0.5, -0.1, None]}, ["column 'low'", "numbers of 0 or more, got -0.1"]),
        ({"low": [0.5, 3, None]}, ["shares from 0 to 1 or whole counts throughout, got 3"]),
        ({"low": [45.5, 30, None], "high": [60, 70, 80]}, ["divide percentages by 100"]),
    ],
)
def test_faults(columns, expected):
    [message] = messages(**columns)
    for words in expected:
        assert words in message


def test_a_fault_in_each_column_is_reported():
    assert len(messages(share=[2, -1, 0.5], confidence=[-1, 0, 0], size=[0.5, 1, 1])) == 3


def test_counts_with_noise_may_be_anything_finite():
    assert read(positives=[-1.5, 2.25, None], noise=[1, 1, 1])[1] == []
    assert "finite" in messages(positives=[-1.5, np.inf, None], noise=[1, 1, 1])[0]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ([0.5, 0], [1, 1], True),
        ([1, 1], [None, 1], False),
        ([0, 2], [3, 4], False),
        ([None, None], [None, 0.2], True),
    ],
)
def test_bounds_on_shares_and_on_counts(low, high, expected):
    numbers = {"low": np.array(low, dtype=float), "high": np.array(high, dtype=float)}
    assert bounds_are_shares(numbers) is expected
