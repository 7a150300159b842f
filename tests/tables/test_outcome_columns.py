"""Columns of results that tell of several outcomes."""

import numpy as np
import pandas as pd
import pytest

from disaggregate.groups.evidence import Unknown
from disaggregate.groups.outcome_evidence import Counts, Shares
from disaggregate.tables.check import check_tables
from disaggregate.tables.evidence_columns import read_evidence
from disaggregate.tables.problems import TableError
from disaggregate.tables.roles import resolve_roles

PEOPLE = pd.DataFrame({"place": np.repeat(["x", "y", "z"], 4), "age": np.arange(12.0)})
RESULTS = pd.DataFrame(
    {
        "place": ["x", "y", "z"],
        "green": [0.25, 0.5, np.nan],
        "purple": [0.5, np.nan, np.nan],
        "n_green": [1, 2, 0],
        "n_purple": [2, 0, 3],
        "voters": [4, 4, 4],
        "sure": [50.0, np.nan, 10.0],
    }
)


def evidence(results=RESULTS, **given):
    roles = resolve_roles(PEOPLE, results, group="place", **given)
    return read_evidence(PEOPLE, results, roles)


def test_shares_with_a_rest():
    found = evidence(shares=["green", "purple"], rest="other", confidence="sure")
    assert found["x"] == Shares({"green": 0.25, "purple": 0.5, "other": 0.25}, 50.0)
    assert found["y"] == Shares({"green": 0.5}, 1000.0)  # the others are not distinguished
    assert found["z"] == Unknown()


def test_counts_with_a_rest():
    found = evidence(positives=["n_green", "n_purple"], total="voters", rest="at home")
    assert found["x"] == Counts({"n_green": 1, "n_purple": 2, "at home": 1})
    assert evidence(positives="n_green", rest="others")["y"] == Counts({"n_green": 2, "others": 2})


def test_one_column_of_positives_is_the_binary_role():
    roles = resolve_roles(PEOPLE, RESULTS, group="place", positives=["n_green"])
    assert roles.positives == "n_green"
    assert not roles.names_outcomes


WRONG = {
    "percentages": ({"shares": ["green", "purple"], "rest": "o"}, {"green": [25.0, 0.5, 0.1]}, "'x'|from 0 to 1"),
    "too much": ({"shares": ["green", "purple"], "rest": "o"}, {"purple": 0.9}, "add up to 1.15.*nothing is left"),
    "other people": (
        {"positives": ["n_green", "n_purple"], "total": "voters"},
        {"voters": 9},
        "count 9.*4 people",
    ),
    "too little": (
        {"shares": ["green", "purple"]},
        {"purple": [0.5, 0.5, 0.1]},
        "'x'.*add up to 0.75.*\\(rest\\)",
    ),
    "other members": ({"positives": ["n_green", "n_purple"]}, {}, "'x'.*add up to 3.*4 members.*\\(rest\\)"),
    "nobody": (
        {"shares": ["green", "purple", "sure"]},
        {"green": 0.5, "purple": 0.5, "sure": 0.0},
        "no group has any share of 'sure'",
    ),
    "broken counts": ({"positives": ["n_green", "n_purple"]}, {"n_green": 0.5}, "whole numbers"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_numbers_are_reported(name):
    given, changed, message = WRONG[name]
    with pytest.raises(TableError, match=message):
        evidence(RESULTS.assign(**changed), **given)


ROLES = {
    "one outcome": ({"shares": "green"}, "one outcome"),
    "rest alone": ({"rest": "other", "share": "green"}, "rest"),
    "both": ({"shares": ["green", "purple"], "share": "sure"}, "alone"),
    "the same name": ({"shares": ["green", "purple"], "rest": "green"}, "another outcome"),
    "twice": ({"shares": ["green", "green", "purple"]}, "^column 'green' is given as shares and shares[^\n]*$"),
    "unknown": ({"shares": ["green", "purpel"]}, "did you mean 'purple'"),
}


@pytest.mark.parametrize("name", ROLES)
def test_wrong_roles_are_reported(name):
    given, message = ROLES[name]
    with pytest.raises(TableError, match=message):
        resolve_roles(PEOPLE, RESULTS, group="place", **given)


def errors_of_weighted_people(sampled):
    people = PEOPLE.assign(w=1.0)
    roles = resolve_roles(people, RESULTS, group="place", shares=["green", "purple"], rest="other", weight="w")
    problems = check_tables(people, RESULTS, roles, sampled=sampled)
    return [problem.message for problem in problems if problem.level == "error"]


def test_weights_of_several_outcomes_are_for_samples():
    assert errors_of_weighted_people(sampled=True) == []
    (message,) = errors_of_weighted_people(sampled=False)
    assert "weight" in message
    assert "sampled" in message


def test_shares_that_cannot_be_counts_are_perhaps_those_of_a_population():
    results = RESULTS.assign(green=[0.3, 0.5, 0.25], purple=[0.5, 0.5, 0.25])
    roles = resolve_roles(PEOPLE, results, group="place", shares=["green", "purple"], rest="other")
    (advice,) = [problem for problem in check_tables(PEOPLE, results, roles) if problem.kind == "sampled"]
    assert advice.where == "results, column 'green'"
    assert "PopulationShares" in advice.message
