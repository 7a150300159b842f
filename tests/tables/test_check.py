import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.check import Problem, check_tables
from disaggregate.tables.roles import resolve_roles


def tables(rng, n_groups=8, n=12):
    people = pd.DataFrame(
        {
            "g": np.repeat([f"town {j}" for j in range(n_groups)], n),
            "age": rng.normal(40, 10, n_groups * n),
            "job": rng.choice(["a", "b"], n_groups * n),
            "w": rng.random(n_groups * n) + 0.5,
        }
    )
    results = pd.DataFrame({"g": people["g"].unique(), "share": np.round(rng.integers(1, n, n_groups) / n, 3)})
    return people, results


@pytest.fixture
def two_tables(rng):
    return tables(rng)


def check(people, results, sampled=False, **roles):
    resolved = resolve_roles(people, results, **{"group": "g", "share": "share", "weight": "w", **roles})
    return check_tables(people, results, resolved, sampled)


def test_good_tables_have_no_problem(two_tables):
    assert check(*two_tables) == []


def test_a_problem_reads_as_a_sentence():
    assert str(Problem("warning", "people", "is odd.")) == "warning: people: is odd."


def test_everything_at_once_errors_first(two_tables):
    people, results = two_tables
    people["flat"], people["name"] = 1, [f"p{row}" for row in range(len(people))]
    people.loc[3, "w"], people.loc[5, "age"], people.loc[0, "g"] = -1.0, np.inf, None
    results.loc[2, "share"] = 1.4
    problems = check(people, results[:4])
    levels = [problem.level for problem in problems]
    assert levels == sorted(levels, key=["error", "warning", "advice"].index)
    assert [problem.where for problem in problems if problem.level == "error"] == [
        "people",
        "results, column 'share'",
        "people, column 'w'",
        "people, column 'age'",
    ]
    reported = "\n".join(map(str, problems))
    for words in (
        "without a group id",
        "shares from 0 to 1, got 1.4 in group 'town 2'",
        "1 weight negative",
        "1 value infinite",
        "4 groups of people without a result",
        "fewer than 5",
        "is constant, 1:",
        "seems to be an id",
    ):
        assert words in reported


def test_sampled_is_recommended_when_shares_cannot_be_counts(two_tables):
    people, results = two_tables
    results["share"] = [0.523, 0.481, 0.333, 0.25, 0.5, 0.6, 0.7, 0.8]
    [problem] = check(people, results)
    assert problem.level == "advice"
    assert problem.where == "results, column 'share'"
    assert (
        "5 shares of 8 cannot be a count of the rows: 'town 0', 'town 1', 'town 5', 'town 6', 'town 7'"
        in problem.message
    )
    assert "sampled, which is dg.evidence.Population" in problem.message
    assert check(people, results, sampled=True) == []


def test_sampled_with_counts_and_sizes(two_tables):
    people, results = two_tables
    results = results.assign(votes=300, valid=700).drop(columns="share")
    counts = {"share": None, "positives": "votes", "total": "valid"}
    [problem] = check(people, results, **counts)
    assert problem.level == "error"
    assert "sampled" in problem.message
    assert check(people, results, sampled=True, **counts) == []
