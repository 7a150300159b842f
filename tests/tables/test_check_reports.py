import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.check_reports import could_be_counts, report_problems
from disaggregate.tables.roles import Roles


def check(shares, sampled=False, people=("a",) * 3 + ("b",) * 8, **columns):
    results = pd.DataFrame({"g": ["a", "b", "c"], "share": shares, **columns})
    roles = Roles("g", share="share", **{name: name for name in columns})
    return list(report_problems(pd.DataFrame({"g": list(people)}), results, roles, sampled))


@pytest.mark.parametrize(
    ("shares", "sizes", "expected"),
    [
        ([0.33, 0.5], [3, 4], [True, True]),
        ([0.3, 0.5], [3, 4], [True, True]),
        ([0.33, 0.51], [3, 4], [True, False]),
        ([0.34, 0.5], [3, 4], [False, True]),
        ([1 / 3, 5 / 7], [3, 7], [True, True]),
        ([np.float32(1 / 3), 0.714], [3, 7], [True, False]),
        ([0.523, 0.523], [100, 1000], [False, True]),
        ([0.125, 0.375], [8, 16], [True, True]),
        ([0.12, 0.13], [8, 8], [True, True]),
        ([0, 1], [3, 3], [True, True]),
        ([100 * 0.5909 / 100, 0.1 + 0.2, 0.28 + 0.01], [22, 10, 22], [True, True, False]),
    ],
)
def test_shares_that_could_be_counts(shares, sizes, expected):
    found = could_be_counts(np.array(shares, dtype=float), np.array(sizes, dtype=float))
    assert found.tolist() == expected


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 12])
def test_every_rounded_count_could_be_one(digits):
    sizes = np.repeat(np.arange(1, 60), 60)
    counts = np.tile(np.arange(60), 59)
    usable = counts <= sizes
    shares = np.round(counts[usable] / sizes[usable], digits)
    assert could_be_counts(shares, sizes[usable].astype(float)).all()


def test_advice_names_the_groups():
    [problem] = check([0.4, 0.3125, 0.77])
    assert problem.level == "advice"
    assert "2 shares of 2 cannot be a count of the rows: 'a', 'b' (no whole number of 3 is 0.4)" in problem.message


def test_no_advice_where_shares_are_not_exact_anyway():
    assert check([0.4, 0.3125, 0.77], sampled=True) == []
    assert check([0.4, 0.3125, 0.77], confidence=[10, 10, 10]) == []


def test_no_report_at_all():
    [problem] = check([None, None, 0.5])
    assert problem.level == "error"
    assert "2 groups with a row but no report: 'a', 'b'" in problem.message


def test_groups_without_a_report():
    [problem] = check([None, 0.5, None])
    assert problem.level == "warning"
    assert "1 group with a row but no report: 'a'" in problem.message


@pytest.mark.parametrize("shares", [["5 %", "7 %", "9 %"], [52, 48, 12], ["x", "y", "z"]])
def test_what_cannot_be_read_is_reported_once(shares):
    [problem] = check(shares)
    assert problem.level == "error"
