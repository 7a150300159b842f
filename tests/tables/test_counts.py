import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate.tables.counts import (
    averages_by_group,
    count_faults,
    counts_of,
    counts_to_fit,
    n_people,
    n_people_by_group,
    people_per_row,
    read_counts,
    rows_with_people,
    sound_counts,
    weights_of_rows,
)
from disaggregate.tables.problems import TableError
from disaggregate.tables.roles import Roles

CELLS = pd.DataFrame({"g": ["a", "a", "b"], "n": [3, 0, 5], "w": [1.0, 1.0, 0.0]})


def test_every_row_is_one_person_without_a_count():
    assert counts_of(CELLS, Roles("g")) is None
    assert n_people(CELLS, Roles("g")) == 3
    assert n_people_by_group(["a", None, "a"], None) == {"a": 2}


def test_rows_stand_for_as_many_people_as_their_count():
    roles = Roles("g", count="n")
    assert_array_equal(counts_of(CELLS, roles), [3, 0, 5])
    assert n_people(CELLS, roles) == 8
    assert n_people_by_group(["a", "c", "a", None], np.array([3, 0, 5, 9])) == {"a": 8}


@pytest.mark.parametrize("values", [[3.0, 0.0, 5.0], ["3", "0", "5"], pd.array([3, 0, 5], dtype="Int64")])
def test_whole_numbers_however_they_are_written(values):
    counts = counts_of(CELLS.assign(n=values), Roles("g", count="n"))
    assert counts.dtype == np.int64
    assert_array_equal(counts, [3, 0, 5])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, None, 2], "1 count missing (row 1); expected a whole number of 1 or more"),
        ([1, -1, -2], "2 counts negative (row 1, 2)"),
        ([1, 2.5, 2], "1 count fractional (row 1)"),
        ([1, np.inf, 2], "1 count of 2,147,483,648 or more (row 1)"),
        ([1, 1e300, 2], "1 count of 2,147,483,648 or more"),
        (["1", "many", "2"], "counts must be whole numbers: column 'n' must hold numbers, got 'many' at row 1"),
        ([True, False, True], "counts must be whole numbers: column 'n' holds True and False"),
    ],
)
def test_faults_name_the_rows(values, message):
    [fault] = count_faults(pd.Series(values, name="n"))
    assert message in fault
    people = CELLS.assign(n=values)
    with pytest.raises(TableError, match="people, column 'n': "):
        counts_of(people, Roles("g", count="n"))
    assert sound_counts(people, Roles("g", count="n")) is None


def test_a_table_of_cells_needs_its_count():
    with pytest.raises(TableError, match=r"people has no column 'n', which says .* add it, with 1 where"):
        counts_of(CELLS.drop(columns="n"), Roles("g", count="n"))


def test_rows_that_stand_for_nobody_do_not_count():
    assert rows_with_people(CELLS, Roles("g")) is CELLS
    assert rows_with_people(CELLS, Roles("g", count="n")).index.tolist() == [0, 2]
    assert rows_with_people(CELLS, Roles("g", weight="w")).index.tolist() == [0, 1]
    assert rows_with_people(CELLS, Roles("g", count="n", weight="w")).index.tolist() == [0]


def test_a_fit_is_reported_counts_only_where_there_are_some():
    assert counts_to_fit(CELLS, Roles("g")) == {}
    assert_array_equal(counts_to_fit(CELLS, Roles("g", count="n"))["counts"], [3, 0, 5])


def test_counts_that_a_caller_gives():
    assert_array_equal(read_counts(None, 2), [1, 1])
    assert_array_equal(read_counts([3.0, 0], 2), [3, 0])
    with pytest.raises(ValueError, match=r"one number for each of the 3 rows, got shape \(2,\)"):
        read_counts([1, 2], 3)
    with pytest.raises(ValueError, match="counts say how many people each row stands for: 1 count fractional"):
        read_counts([1, 0.5], 2)


def test_a_table_without_the_column_may_hold_single_people():
    roles = Roles("g", count="n")
    assert_array_equal(people_per_row(CELLS, roles), [3, 0, 5])
    assert_array_equal(people_per_row(CELLS.drop(columns="n"), roles), [1, 1, 1])
    assert_array_equal(people_per_row(CELLS, Roles("g")), [1, 1, 1])


def test_a_row_weighs_as_its_people():
    assert_allclose(weights_of_rows([0.5, 1.0, 2.0], np.array([3, 0, 5])), [1.5, 0.0, 10.0])
    assert_allclose(weights_of_rows(None, np.array([3, 0, 5])), [3, 0, 5])
    with pytest.raises(ValueError, match="at least one person must count"):
        weights_of_rows([0.0, 1.0], np.array([3, 0]))


def test_averages_are_over_people_and_over_all_pieces():
    X = np.array([[1.0, 0.0], [4.0, 2.0], [9.0, 9.0]])
    pieces = [
        (X, ["a", "a", "b"], np.array([2, 1, 5])),
        (X[:1], ["a"], np.array([1])),
        (X, ["c"] * 3, np.zeros(3)),
    ]
    means, groups = averages_by_group(pieces)
    assert groups == ["a", "b"]
    assert_allclose(means, [[7.0 / 4.0, 0.5], [9.0, 9.0]])
