import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.check import check_tables
from disaggregate.tables.check_counts import cell_problems, count_problems, weight_problems
from disaggregate.tables.check_features import feature_problems
from disaggregate.tables.roles import Roles, resolve_roles


def cells(n_groups=6):
    """Return a census table, one row per district, age and sex, and the votes of each district."""
    people = pd.MultiIndex.from_product(
        [[f"d{place}" for place in range(n_groups)], ["young", "old"], ["f", "m"]], names=["g", "age", "sex"]
    ).to_frame(index=False)
    people["n"] = 5 + np.arange(len(people)) % 7
    size = people.groupby("g")["n"].sum()
    return people, pd.DataFrame({"g": size.index, "yes": size.to_numpy() // 3, "all": size.to_numpy()})


def check(people, results, sampled=False, **roles):
    given = {"group": "g", "positives": "yes", "total": "all", "count": "n", **roles}
    problems = check_tables(people, results, resolve_roles(people, results, **given), sampled)
    return [problem for problem in problems if problem.kind != "no spread"]  # cells that were drawn at random


def test_a_good_table_of_cells_has_no_problem():
    assert check(*cells()) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "1 count missing (row 3)"),
        (-2, "1 count negative (row 3)"),
        (1.5, "1 count fractional (row 3)"),
    ],
)
def test_unsound_counts_are_errors_and_hide_no_other(value, message):
    people, results = cells()
    people["n"] = people["n"].astype(object).where(people.index != 3, value)
    results["yes"] = results["yes"].where(results.index != 1, -1)
    problems = check(people, results)
    assert [(problem.level, problem.where) for problem in problems] == [
        ("error", "results, column 'yes'"),
        ("error", "people, column 'n'"),
    ]
    assert message in problems[1].message
    results["yes"] = results["yes"].abs()
    assert len(check(people, results)) == 1  # what hangs on the number of people is not guessed at


def test_rows_of_count_zero_are_reported():
    people, _ = cells()
    people.loc[[2, 5], "n"] = 0
    [problem] = count_problems(people, Roles("g", count="n"), False)
    assert (problem.level, problem.where) == ("advice", "people, column 'n'")
    assert problem.message == "2 rows have count 0; the fit leaves them out."


def test_somebody_must_count():
    people, _ = cells()
    [problem] = count_problems(people.assign(n=0), Roles("g", count="n"), False)
    assert (problem.level, problem.message) == ("error", "no count is above 0; no person would count.")


def test_groups_are_as_large_as_their_counts():
    people, results = cells()
    people.loc[people["g"] == "d0", "n"] = [1, 0, 0, 0]
    people.loc[people["g"] == "d1", "n"] = 0
    results.loc[0, ["yes", "all"]] = [1, 1]
    reported = "\n".join(map(str, check(people, results)))
    assert "1 group of one person: 'd0'" in reported
    assert "1 result without people: 'd1'" in reported


def test_totals_are_compared_with_the_sum_of_counts():
    people, results = cells()
    [problem] = check(people, results.assign(all=results["all"] + 1))
    n = people.groupby("g")["n"].sum().iloc[0]
    assert "the results count more than the people in the table" in problem.message
    assert f"of {n + 1} with {n} people" in problem.message
    [problem] = check(people, results.assign(share=0.123456), positives=None, total=None, share="share")
    assert "cannot be a count of the people" in problem.message
    assert f"(no whole number of {n} is 0.123456)" in problem.message


def test_a_survey_weight_beside_a_count_is_for_samples():
    people, results = cells()
    people["w"] = 1.5
    [problem] = check(people, results, weight="w")
    assert (problem.level, problem.where) == ("error", "people, column 'w'")
    assert "say so (sampled), or leave the weight out" in problem.message
    assert check(people, results, sampled=True, weight="w") == []


def test_people_of_weight_zero_are_counted_by_their_count():
    people = pd.DataFrame({"g": ["a"] * 3, "n": [4, 5, 6], "w": [0.0, 1.0, 0.0]})
    [problem] = weight_problems(people, Roles("g", count="n", weight="w"))
    assert "10 people have weight 0" in problem.message


@pytest.mark.parametrize("name", ["count", "Counts", "n", "N", "pop", "Population", "people", "persons", "Total"])
def test_a_table_that_looks_like_cells_gets_a_warning(name):
    people, results = cells()
    people = people.rename(columns={"n": name})
    warnings = [
        problem for problem in check(people, results, sampled=True, count=None) if problem.level == "warning"
    ]
    [problem] = warnings
    assert problem.where == f"people, column {name!r}"
    assert problem.message.startswith("looks like the number of people per row; if each row is a cell of several")
    assert f"give --count {name}" in problem.message


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", [1, 2, 3]),
        ("n", [1, 1, 1]),
        ("n", [0, 1, 2]),
        ("n", [1, 2.5, 3]),
        ("n", [1, None, 3]),
        ("n", ["1", "2", "3"]),
        ("n", [-1, 2, 3]),
    ],
)
def test_other_columns_get_none(name, values):
    people = pd.DataFrame({"g": list("abc"), name: values})
    assert list(cell_problems(people, Roles("g", features=(name,)))) == []


def test_features_chosen_by_name_are_no_counts():
    people = pd.DataFrame({"g": list("abc"), "n": [1, 2, 3], "x": [1, 2, 3]})
    assert list(cell_problems(people, Roles("g", features=("n",)))) == []
    assert list(cell_problems(people, Roles("g", features=("x",), ignore=("n",)))) == []
    assert len(list(cell_problems(people, Roles("g", features=("n", "x"))))) == 1


def test_a_count_is_not_reported_to_be_no_feature():
    people = pd.DataFrame({"g": ["a", "a", "b", "b"], "n": [1, 2, 3, 4], "x": [1, 2, 1, 2]})
    roles = Roles("g", positives="yes", total="n", count="n", features=("x",))
    assert list(feature_problems(people, roles)) == []
