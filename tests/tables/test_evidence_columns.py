import numpy as np
import pandas as pd
import pytest

import disaggregate as dg
from disaggregate.evidence import (
    AtLeast,
    AtMost,
    Between,
    Count,
    Fraction,
    NoisyCount,
    Population,
    RoundedCount,
    Survey,
    Unknown,
)
from disaggregate.tables.evidence_columns import evidence_and_problems, read_evidence
from disaggregate.tables.problems import TableError
from disaggregate.tables.roles import Roles

PEOPLE = pd.DataFrame({"g": ["a"] * 10 + ["b"] * 4})


def read(people=PEOPLE, groups=("a", "b"), sampled=False, noise_kind="laplace", **columns):
    results = pd.DataFrame({"g": list(groups), **columns})
    roles = Roles("g", **{name: name for name in columns})
    return read_evidence(people, results, roles, sampled=sampled, noise=noise_kind)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"share": [0.3, 0.5]}, (Fraction(0.3), Fraction(0.5))),
        ({"share": [0.3, None]}, (Fraction(0.3), Unknown())),
        ({"share": [0.3, 0.5], "confidence": [5, None]}, (Fraction(0.3, 5.0), Fraction(0.5, 1000.0))),
        ({"share": [0.3, 0.5], "confidence": [0, np.inf]}, (Fraction(0.3, 0.0), Fraction(0.5, np.inf))),
        ({"positives": [3, 0]}, (Count(3), Count(0))),
        ({"positives": [3, 2], "total": [10, 4]}, (Count(3), Count(2))),
        ({"positives": [3, 2], "total": [6, None]}, (Survey(3, 6), Count(2))),
        ({"positives": [3.5, -1], "noise": [2, 0.5]}, (NoisyCount(3.5, 2.0), NoisyCount(-1.0, 0.5))),
        ({"positives": [3, 2], "noise": [0, None]}, (Count(3), Count(2))),
        ({"positives": [6, 2], "rounded_to": [3, None]}, (RoundedCount(6, 3), Count(2))),
        ({"positives": [6, 3], "rounded_to": [3, 3], "total": [12, 3]}, (RoundedCount(6, 3), RoundedCount(3, 3))),
        ({"low": [1, 2]}, (AtLeast(1), AtLeast(2))),
        ({"high": [0, 3]}, (AtMost(0), AtMost(3))),
        ({"low": [1, None], "high": [3, 2]}, (Between(1, 3), AtMost(2))),
        ({"low": [0.25, 0.25], "high": [0.7, None]}, (Between(3, 7), AtLeast(1))),
        ({"low": [0.7, None], "high": [0.7, 0.5]}, (Between(7, 7), AtMost(2))),
        ({"share": [0.3, None], "low": [None, 1]}, (Fraction(0.3), AtLeast(1))),
    ],
)
def test_the_people_are_the_group(columns, expected):
    assert tuple(read(**columns).values()) == expected


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"share": [0.3, 0.52]}, (Population(0.3), Population(0.52))),
        ({"share": [0.3, 0.52], "size": [1000, None]}, (Population(0.3, 1000), Population(0.52))),
        ({"positives": [300, 1], "total": [1000, 4]}, (Population(0.3, 1000), Population(0.25, 4))),
        (
            {"positives": [300, 1], "total": [1000, 4], "size": [5000, 8]},
            (Population(0.3, 5000), Population(0.25, 8)),
        ),
        ({"positives": [300, None], "size": [1000, 40]}, (Population(0.3, 1000), Unknown())),
        ({"positives": [0, 1], "total": [0, 4]}, (Unknown(), Population(0.25, 4))),
    ],
)
def test_the_people_are_a_sample(columns, expected):
    assert tuple(read(sampled=True, **columns).values()) == expected


CELLS = pd.DataFrame({"g": ["a", "a", "b", "b"], "n": [60, 40, 7, 0]})


@pytest.mark.parametrize(
    ("sampled", "columns", "expected"),
    [
        (False, {"positives": [30, 7], "total": [100, 7]}, (Count(30), Count(7))),
        (False, {"positives": [30, 2], "total": [50, 7]}, (Survey(30, 50), Count(2))),
        (False, {"low": [0.255, 1]}, (AtLeast(26), AtLeast(7))),
        (True, {"share": [0.3, 0.5], "size": [100, 7]}, (Population(0.3, 100), Population(0.5, 7))),
    ],
)
def test_the_people_of_cells_are_the_sum_of_their_counts(sampled, columns, expected):
    results = pd.DataFrame({"g": ["a", "b"], **columns})
    roles = Roles("g", count="n", **{name: name for name in columns})
    assert tuple(read_evidence(CELLS, results, roles, sampled=sampled).values()) == expected


@pytest.mark.parametrize(
    ("sampled", "columns", "expected"),
    [
        (
            False,
            {"positives": [101, 2]},
            "more than the people .* Group 'a' has 101 of 100 with 100 people",
        ),
        (
            True,
            {"share": [0.3, 0.5], "size": [99, 7]},
            "smaller than .* Group 'a' has 99 with 100 people",
        ),
    ],
)
def test_reports_of_cells_are_compared_with_the_sum(sampled, columns, expected):
    results = pd.DataFrame({"g": ["a", "b"], **columns})
    roles = Roles("g", count="n", **{name: name for name in columns})
    with pytest.raises(TableError, match=expected):
        read_evidence(CELLS, results, roles, sampled=sampled)


def test_groups_of_nobody_are_left_out_and_unsound_counts_refused():
    results = pd.DataFrame({"g": ["a", "b"], "share": [0.3, 0.5]})
    roles = Roles("g", count="n", share="share")
    assert read_evidence(CELLS.assign(n=[1, 1, 0, 0]), results, roles) == {"a": Fraction(0.3)}
    with pytest.raises(TableError, match="column 'n': 1 count negative"):
        read_evidence(CELLS.assign(n=[1, -1, 1, 1]), results, roles)
    assert evidence_and_problems(CELLS.assign(n=[1, -1, 1, 1]), results, roles) == ({}, [])


def test_kind_of_noise():
    assert read(positives=[3, 2], noise=[1, 2], noise_kind="gaussian")["a"] == NoisyCount(3.0, 1.0, "gaussian")


def test_groups_without_a_result_are_unknown_and_results_without_people_left_out():
    evidence = read(groups=("b", "z"), share=[0.5, 0.9])
    assert evidence == {"a": Unknown(), "b": Fraction(0.5)}


def test_rows_without_a_group_do_not_count():
    people = pd.DataFrame({"g": ["a"] * 3 + [None]})
    assert read(people, groups=("a",), positives=[2], total=[3]) == {"a": Count(2)}


def test_ids_as_numbers_and_as_text():
    people = pd.DataFrame({"g": [7, 7, 8]})
    assert read(people, groups=("7", "8A"), share=[0.5, 0.1]) == {"7": Fraction(0.5), "8": Unknown()}


@pytest.mark.parametrize(
    ("sampled", "columns", "expected"),
    [
        (
            False,
            {"positives": [30, 2], "total": [100, 4]},
            "more than the people in the table; .*'a' has 30 of 100 with 10 people",
        ),
        (False, {"positives": [12, 5]}, r"2 groups \('a', 'b'\): .*sampled.*Population"),
        (
            False,
            {"positives": [5, 2], "total": [4, 4]},
            "more positives than people counted. Group 'a' has 5 of 4",
        ),
        (False, {"positives": [3.5, 1], "noise": [None, 1]}, "whole numbers of 0 or more where no noise is given"),
        (False, {"positives": [-1, 1], "noise": [None, 1]}, "whole numbers of 0 or more where no noise is given"),
        (
            False,
            {"positives": [3, 1], "total": [9, 4], "noise": [1, 1]},
            "must be of the people .* total 9 with 10",
        ),
        (False, {"positives": [3, 1], "rounded_to": [3, 3]}, "multiple of base, got value=1 and base=3"),
        (False, {"positives": [3, 3], "total": [6, 3], "rounded_to": [3, 3]}, "rounded count .* total 6 with 10"),
        (False, {"positives": [3, 3], "noise": [1, 1], "rounded_to": [3, 3]}, "noise or is rounded"),
        (True, {"share": [0.3, 0.5], "rounded_to": [3, 3]}, "column 'rounded_to': rounded_to is about the people"),
        (False, {"share": [0.3, None], "low": [1, 1]}, "leave the others empty. Group 'a' has share and bounds"),
        (False, {"low": [3, 1], "high": [2, 3]}, "no count of the people lies between .* low 3, high 2 with 10"),
        (False, {"low": [0.31, 0.0], "high": [0.39, 1.0]}, "no count of the people lies between"),
        (False, {"low": [11, 1]}, "low 11, high none with 10 people"),
        (
            False,
            {"share": [0.3, 0.5], "size": [100, 100]},
            "column 'size': size .* sample",
        ),
        (True, {"share": [0.3, 0.5], "confidence": [100, 100]}, "column 'confidence': .*leave it out"),
        (True, {"low": [1, 2], "high": [3, 3]}, "column 'low'.*\n.*column 'high'"),
        (
            True,
            {"share": [0.3, 0.5], "size": [100, 3]},
            "cannot be smaller than its sample; .* Group 'b' has 3 with 4 people",
        ),
        (True, {"positives": [3, 1], "total": [9, 4]}, "cannot be smaller than its sample"),
        (True, {"positives": [3, 1]}, "need its size: give total or size"),
        (
            True,
            {"positives": [30, 1], "total": [20, 4]},
            "more positives than people counted. Group 'a' has 30 of 20",
        ),
        (True, {"share": ["52 %", "3 %"]}, "percent sign"),
    ],
)
def test_refusals(sampled, columns, expected):
    with pytest.raises(TableError, match=expected):
        read(sampled=sampled, **columns)


def test_repeated_groups():
    with pytest.raises(TableError, match="results: 1 group has several rows: 'a'; keep one row per group"):
        read(groups=("a", "a"), share=[0.5, 0.5])


def test_every_problem_is_listed():
    results = pd.DataFrame({"g": ["a", "b"], "positives": [12, 3], "total": [None, 5], "low": [None, 1]})
    evidence, problems = evidence_and_problems(
        PEOPLE, results, Roles("g", positives="positives", total="total", low="low")
    )
    assert len(problems) == 2
    assert evidence["a"] == Unknown()


def test_evidence_is_what_a_fit_takes(rng):
    target = dg.group_target(PEOPLE["g"], read(positives=[3, 2], total=[10, 3]))
    assert len(target) == len(PEOPLE)


def test_a_population_beyond_all_counts_is_refused_as_a_table_is():
    people = pd.DataFrame({"g": ["a", "a"], "x": [1.0, 2.0]})
    results = pd.DataFrame({"g": ["a"], "share": [0.5], "size": [1.7e308]})
    with pytest.raises(TableError, match="the numbers make no evidence"):
        read_evidence(people, results, Roles(group="g", share="share", size="size", features=("x",)), sampled=True)
