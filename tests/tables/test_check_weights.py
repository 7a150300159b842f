import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.check_counts import weight_problems
from disaggregate.tables.roles import Roles


def check(**columns):
    people = pd.DataFrame({"g": ["a"] * 3, **columns})
    first, *others = columns
    return list(weight_problems(people, Roles("g", weight=first, replicates=tuple(others))))


def test_good_weights():
    assert check(w=[1, 2.5, 0.1], r1=[1, 0, 1]) == []


def test_people_who_count_for_nothing_are_named():
    [problem] = check(w=[1, 0, 2])
    assert problem.level == "advice"
    assert "1 person has weight 0; the fit leaves them out" in problem.message


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, None, 2], "1 weight missing; expected a number of 0 or more for every person"),
        ([1, -1, -2], "2 weights negative"),
        ([1, np.inf, 2], "1 weight infinite"),
        (["1", "much", "2"], "weights must be numbers: column 'w' must hold numbers, got 'much' at row 1"),
        ([0, 0, 0], "no weight is above 0"),
    ],
)
def test_faults(weights, message):
    [problem] = check(w=weights)
    assert (problem.level, problem.where) == ("error", "people, column 'w'")
    assert message in problem.message


def test_replicates_and_several_faults():
    problems = check(w=[1, 1, 1], r1=[None, -1, 2], r2=[1, 1, 1])
    assert [problem.where for problem in problems] == ["people, column 'r1'"] * 2
