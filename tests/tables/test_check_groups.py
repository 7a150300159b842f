import pandas as pd
import pytest

from disaggregate.tables.check_groups import group_problems
from disaggregate.tables.roles import Roles


def check(of_people, of_results):
    people, results = pd.DataFrame({"g": of_people}), pd.DataFrame({"g": of_results})
    return [
        (problem.level, problem.where, problem.message) for problem in group_problems(people, results, Roles("g"))
    ]


SIX = list("abcdef") * 2


def test_matching_groups():
    assert check(SIX, list("abcdef")) == []


def test_missing_ids():
    [people, results] = check([*SIX, None, None], [*"abcdef", None])
    advice = "drop or fill them. Empty fields, NA, None and null are no ids: a group of such a name needs another."
    assert people == ("error", "people", f"2 rows without a group id (row 12, 13); {advice}")
    assert results == ("error", "results", f"1 row without a group id (row 6); {advice}")


def test_unmatched_groups_of_either_table():
    without_result, without_people = check([*SIX, "Northtown", "Northtown"], [*"abcdef", "North town", "z"])
    assert without_result[:2] == ("warning", "results")
    assert "1 group of people without a result: 'Northtown'" in without_result[2]
    assert "Are 'Northtown' and 'North town' the same?" in without_result[2]
    assert without_people == ("warning", "people", "2 results without people: 'North town', 'z'; left out.")


@pytest.mark.parametrize(
    ("people", "results", "hint"),
    [
        (["007", "012"] * 2, [7, 12], "Leading zeros or blanks differ: '007' and '7'"),
        (["a", "b"] * 2, ["A ", "B "], "Leading zeros or blanks differ: 'a' and 'A '"),
        (["a", "b"] * 2, [3, 4], "people has 'a', 'b', results has '3', '4'"),
    ],
)
def test_no_group_in_common(people, results, hint):
    [(level, where, message)] = check(people, results)
    assert (level, where) == ("error", "results")
    assert "no group of people has a result" in message
    assert hint in message


def test_few_groups():
    [(level, _, message)] = check(["a", "a", "b", "b"], ["a", "b"])
    assert level == "warning"
    assert "2 groups with people and a result; with fewer than 5" in message


def test_groups_of_one():
    [(level, where, message)] = check([*SIX, "lone", "quiet"], [*"abcdef", "lone", "quiet"])
    assert (level, where) == ("warning", "people")
    assert "2 groups of one person: 'lone', 'quiet'" in message
    assert "that person's own answer" in message
