import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.check import check_tables
from disaggregate.tables.check_rows import row_problems
from disaggregate.tables.check_spread import spread_problems
from disaggregate.tables.check_values import number_category_problems, sentinel_problems
from disaggregate.tables.roles import Roles

ROLES = Roles("g", features=("x",))


@pytest.mark.parametrize(
    ("values", "is_reported"),
    [
        ([20, 30, 41, -99], True),
        ([20, 30, -1], True),
        ([20000, 45000, 200000, 999999], True),
        ([20, 30, -98, -99], True),
        ([20, 30, 95, 99], False),  # somebody's age
        ([20, 30, 95, 999], True),
        ([-20, 30, -99], False),
        ([1, 2, 9], False),
        ([0.5, 0.25, np.nan], False),
        ([-99, np.nan], False),
        ([800, 850, 888, 900], False),
    ],
)
def test_sentinels(values, is_reported):
    found = list(sentinel_problems("x", np.array(values, dtype=float)))
    assert [problem.kind for problem in found] == ["sentinel"] * is_reported


def test_numbers_that_became_categories():
    numbers = [str(number) for number in range(20)]
    [problem] = number_category_problems("x", pd.Series([*numbers, "n.a.", "?", "refused"]))
    assert (problem.level, problem.kind) == ("warning", "numbers as categories")
    assert "'n.a.'" in problem.message
    [problem] = number_category_problems("x", pd.Series(["1", "2", "3"]))
    assert problem.level == "advice"
    assert not list(number_category_problems("x", pd.Series(["1", "2", "3", "x"])))
    assert not list(number_category_problems("x", pd.Series(list("abc"))))


@pytest.mark.parametrize("written", ["{} years", "{}k", "'{}", '="{}"', "~{}"])
def test_numbers_with_something_around_them(written):
    levels = pd.Series([written.format(number) for number in range(20, 60)])
    [problem] = number_category_problems("x", levels)
    assert (problem.level, problem.kind) == ("warning", "numbers as categories")
    assert repr(levels[0]) in problem.message


@pytest.mark.parametrize("written", ["Ward {}", "A{}", "{0}-{0}9", "{0}{1}"])
def test_names_with_numbers_in_them_are_names(written):
    levels = pd.Series([written.format(number, "ABCD"[number % 4]) for number in range(20, 60)])
    assert not list(number_category_problems("x", levels))


def test_rows_that_occur_twice(rng):
    people = pd.DataFrame({"g": np.repeat(range(6), 10), "x": rng.normal(size=60)})
    assert not list(row_problems(people, ROLES))
    [problem] = row_problems(pd.concat([people, people.iloc[:3]], ignore_index=True), ROLES)
    assert problem.kind == "duplicates"
    assert "3 rows repeat another one in every column though 'x' differs" in problem.message
    alike = people.assign(x=np.arange(60) % 5)
    assert not list(row_problems(alike.iloc[:30], Roles("g", features=("x",), count="x")))
    assert [problem.kind for problem in row_problems(pd.concat([alike] * 2), ROLES)] == ["duplicates"]
    few = pd.DataFrame({"g": np.repeat(range(6), 10), "x": np.tile(range(10), 6)})
    assert not list(row_problems(pd.concat([few, few.iloc[:9]]), ROLES))  # people may be that much alike


def test_an_id_is_found_though_rows_are_duplicated():
    people = pd.DataFrame({"g": np.repeat(range(6), 10), "x": np.arange(60)})
    twice = pd.concat([people, people], ignore_index=True)
    results = pd.DataFrame({"g": range(6), "share": [0.5] * 6})
    kinds = {problem.kind for problem in check_tables(twice, results, Roles("g", share="share", features=("x",)))}
    assert {"id", "duplicates"} <= kinds


def test_a_feature_that_no_group_differs_in(rng):
    g = np.repeat(range(6), 50)
    reported = pd.DataFrame(
        {"g": g, "x": np.tile([0.0, 1.0], 150), "c": np.tile(list("ab"), 150), "y": g + rng.normal(size=300)}
    )
    roles = Roles("g", features=("x", "c", "y"))
    [problem] = spread_problems(reported, roles)  # one for all of them
    assert "no more than by chance in 'x', 'c': their results" in str(problem)
    assert not list(spread_problems(reported.iloc[:50], roles))  # one group differs from none
    assert not list(spread_problems(reported.assign(x=1e308, c="a"), roles))
    assert not list(spread_problems(reported.assign(x=5.0, c=None), roles))


@pytest.mark.parametrize("levels", [["north", "North "], ["caf\u00e9", "cafe\u0301"]])
def test_levels_that_are_spelt_in_two_ways(levels):
    people = pd.DataFrame({"g": np.repeat(range(6), 4), "x": [*levels, "south", "east"] * 6})
    results = pd.DataFrame({"g": range(6), "share": [0.5] * 6})
    kinds = {problem.kind for problem in check_tables(people, results, Roles("g", share="share", features=("x",)))}
    assert "spelling" in kinds
