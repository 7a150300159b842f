import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.check_features import feature_problems
from disaggregate.tables.roles import Roles

N = 120
GROUPS = np.repeat(np.arange(6), 20)


def check(name="x", values=None, groups=GROUPS):
    people = pd.DataFrame({"g": groups, name: values})
    problems = list(feature_problems(people, Roles("g", features=(name,))))
    assert all(problem.where == f"people, column {name!r}" for problem in problems)
    return [(problem.level, problem.message) for problem in problems]


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(0, 1, N),
        np.arange(N) % 7,
        np.arange(N) ** 2 * 100 + 17,  # amounts that all differ
        np.array(list("abc"))[np.arange(N) % 3],
        np.arange(N) % 2 == 0,
        pd.date_range("2024-01-01", periods=N),
    ],
)
def test_features_without_a_problem(values):
    assert check(values=values) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([5] * N, "is constant, 5: it does not distinguish people; ignore it."),
        (["x"] * N, "has one level, x: it does not distinguish people; ignore it."),
        ([True] * N, "has one level, True"),
        ([pd.Timestamp("2024-01-31")] * N, "is constant, 2024-01-31"),
        ([None] * N, "holds no values"),
        ([np.nan] * N, "holds no values"),
        (GROUPS * 2.5, "is constant within every group: it distinguishes groups, but not individuals"),
        ([f"town {group}" for group in GROUPS], "is constant within every group"),
        ([f"person {row}" for row in range(N)], "seems to be an id: 120 values in 120 rows."),
        (np.arange(1000, 1000 + N), "seems to be an id"),
        (np.arange(N) * 7919 + 10**8, "seems to be an id"),
        ([f"level {row % 55}" for row in range(N)], "has 55 levels, more than 50; rare ones are pooled"),
    ],
)
def test_warnings(values, message):
    [(level, reported)] = check(values=values)
    assert level == "warning"
    assert message in reported


@pytest.mark.parametrize(
    ("name", "is_id"), [("id", True), ("person_id", True), ("voterID", True), ("serial no", True), ("paid", False)]
)
def test_names_that_say_so(name, is_id):
    assert bool(check(name, np.arange(N) ** 2 * 100 + 17)) is is_id


def test_nearly_as_many_values_as_rows():
    names = [f"person {row}" for row in range(N)]
    assert "seems to be an id: 115 values" in check(values=names[:-5] + names[:5])[0][1]
    assert "levels" in check(values=names[:-20] + names[:20])[0][1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [None, *range(N - 1)],
            "1 of 120 values missing (0.8%); they are filled with the median and marked by a column",
        ),
        ([None, None, *"abcdefgh"] * 12, "24 of 120 values missing (20.0%); they become a level of their own."),
        ([f"{1 + row % 28}/02/2024" for row in range(N)], "looks like dates ('1/02/2024')"),
        ([f"{1 + row % 28}.02.{1900 + row}" for row in range(N)], "looks like dates ('1.02.1900')"),
        ([str(row % 5) for row in range(N)], "holds numbers as text, and is read as a category"),
    ],
)
def test_advice(values, message):
    found = check(values=values)
    assert ("advice", message) in [(level, reported[: len(message)]) for level, reported in found]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([np.inf, -np.inf, *np.linspace(0, 1, N - 2)], "2 values infinite"),
        ([[1]] * N, "neither number, category nor date"),
    ],
)
def test_errors(values, message):
    [(level, reported)] = check(values=values)
    assert level == "error"
    assert message in reported


def test_groups_of_one_are_not_constant_within():
    assert check(values=np.linspace(0, 1, N), groups=np.arange(N)) == []


def test_a_column_left_out_because_of_its_name():
    people = pd.DataFrame({"g": GROUPS, "x": np.linspace(0, 1, N), "share": 0.5})
    [problem] = feature_problems(people, Roles("g", share="share", features=("x",)))
    assert (problem.level, problem.where) == ("advice", "people, column 'share'")
    assert "name is that of the share in results" in problem.message
    assert not list(feature_problems(people, Roles("g", share="share", features=("x",), ignore=("share",))))
