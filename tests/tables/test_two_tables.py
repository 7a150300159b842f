"""Both tables together: percentages, names of groups, and everything that was done, in one list."""

import pandas as pd
import pytest

from disaggregate.tables.group_names import match_groups
from disaggregate.tables.percentages import with_fractions
from disaggregate.tables.problems import TableError, require_no_errors
from disaggregate.tables.reading import Reading
from disaggregate.tables.roles import Roles
from disaggregate.tables.two_tables import examine, read_two_tables

NAMES = ["Nord", "Süd", "Ost", "West", "Mitte", "Rand"]
PEOPLE = pd.DataFrame({"g": [name for name in NAMES for _ in range(4)], "x": range(24)})


def results(share, names=NAMES):
    return pd.DataFrame({"g": names, "share": share})


def shares(values, said=None, name="share", percent=frozenset()):
    table, problems = with_fractions(
        pd.DataFrame({"g": range(len(values)), name: values}),
        Roles("g", share=name),
        Reading(shares_in=said),
        percent,
    )
    return table[name].to_list(), [(problem.level, problem.kind) for problem in problems]


def test_percentages():
    assert shares([50, 25.0, 0, None])[0][:3] == [0.5, 0.25, 0.0]
    assert shares([50, 25.0])[1] == [("note", "percent")]
    assert shares([0.5, 0.25]) == ([0.5, 0.25], [])
    assert shares([0.5, 0.25], name="pct")[1] == [("advice", "percent")]
    assert shares([0.5, 0.25], "percent")[0] == [0.005, 0.0025]
    assert shares([50, 0.5]) == ([50, 0.5], [("error", "percent")])
    assert shares([1.5, 1.5]) == ([1.5, 1.5], [("error", "percent")])
    assert shares([50, 0.5], "percent") == ([0.5, 0.005], [])
    assert shares([50, 120]) == ([50, 120], [])  # refused by whoever reads the reports
    assert shares([0.5, 0.25], percent=frozenset(["share"])) == ([0.5, 0.25], [])


@pytest.mark.parametrize(
    ("of_people", "of_results", "expected", "kinds"),
    [
        (["a", "b"], ["A ", " B"], ["a", "b"], ["note"]),
        (["01", "02"], [1, 2], ["01", "02"], ["note"]),
        ([1, 2], ["01", "02"], ["1", "2"], ["note"]),
        (["New  York"], ["new york"], ["New  York"], ["note"]),
        (["a", "A"], ["a", "A"], ["a", "A"], []),
        (["a", "A"], ["A"], ["A"], ["error"]),
        (["a"], ["A", "a "], ["A", "a "], ["error"]),
        (["caf\u00e9"], ["cafe\u0301"], ["caf\u00e9"], ["note"]),
        (["caf\u00e9", "cafe\u0301"], ["caf\u00e9"], ["caf\u00e9"], ["error"]),
        (["a"], ["b"], ["b"], []),
        ([1.0, 2.0], [1, 2], [1, 2], []),
    ],
)
def test_names_of_groups(of_people, of_results, expected, kinds):
    table, problems = match_groups(pd.DataFrame({"g": of_people}), pd.DataFrame({"g": of_results}), "g")
    assert table["g"].to_list() == expected
    assert [problem.level for problem in problems] == kinds


def test_everything_that_was_done_is_in_one_list():
    tables = read_two_tables(PEOPLE, results([50] * 6, [name.upper() for name in NAMES]), group="g", share="share")
    problems = tables.check()
    require_no_errors(problems)
    assert [problem.kind for problem in problems if problem.level == "note"] == ["percent", "groups"]
    assert tables.results["share"].to_list() == [0.5] * 6
    assert tables.results["g"].to_list() == NAMES


def test_examine_raises_nothing_and_lists_choices(tmp_path):
    _, problems = examine(PEOPLE, results([50, 0.5, 20, 30, 40, 25]), group="g", share="share")
    [error] = [problem for problem in problems if problem.level == "error"]
    assert {(choice.setting, choice.value) for choice in error.choices} == {
        ("shares_in", "percent"),
        ("shares_in", "fraction"),
    }
    tables, problems = examine(
        PEOPLE, results([50, 0.5, 20, 30, 40, 25]), group="g", share="share", reading=Reading(shares_in="percent")
    )
    require_no_errors(problems)
    assert tables.results["share"].iloc[1] == 0.005


def test_examine_tells_of_both_tables_and_of_all_roles(tmp_path):
    tables, problems = examine(tmp_path / "no.csv", tmp_path / "none.csv", group="g")
    assert tables is None
    assert [problem.where for problem in problems] == ["people", "results"]
    tables, problems = examine(PEOPLE, results([0.5] * 6), group="grp", share="shre")
    assert tables is None
    assert len(problems) == 3
    assert all(problem.kind == "roles" for problem in problems)


@pytest.mark.parametrize(
    "said", [{"decimal": "x"}, {"separator": "--"}, {"shares_in": "all"}, {"encoding": "klingon"}]
)
def test_what_is_said_of_a_table_is_checked(said):
    with pytest.raises(TableError, match=next(iter(said))):
        Reading(**said)
