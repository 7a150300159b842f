import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.encoded_columns import (
    CategoryColumn,
    NumberColumn,
    column_from_state,
    column_state,
)
from disaggregate.tables.problems import TableError

AGE = NumberColumn("age", is_date=False, fill=40.0, mean=30.0, weight=0.1, missing=0.25)
BORN = NumberColumn("born", is_date=True, fill=10.0, mean=0.0, weight=0.5, missing=None)
JOB = CategoryColumn("job", levels=["a", "b", None], pooled=["c", "d"], shares=[0.4, 0.3, 0.2, 0.1])
SEX = CategoryColumn("sex", levels=["f", "m"], pooled=[], shares=[0.5, 0.5])


def column(name, values):
    return pd.Series(values, name=name, dtype=object)


def test_numbers_are_filled_scaled_and_marked():
    np.testing.assert_allclose(AGE.encode(column("age", [30, None, "50"])), [[0, -0.25], [1, 0.75], [2, -0.25]])
    assert AGE.column_names == ["age", "age (missing)"]


def test_dates_count_in_days():
    np.testing.assert_allclose(BORN.encode(column("born", ["1970-01-03", None])), [[1.0], [5.0]])
    assert BORN.column_names == ["born"]


def test_levels_have_columns_and_unknown_ones_count_as_rare():
    spread = 1.0 - 0.16 - 0.09 - 0.04 - 0.01
    places = [0, 2, 3, 3, 1]
    expected = (np.eye(4)[places] - [0.4, 0.3, 0.2, 0.1]) / np.sqrt(spread)
    np.testing.assert_allclose(JOB.encode(column("job", ["a", None, "d", "new", "b"])), expected)
    assert JOB.column_names == ["job=a", "job=b", "job=(missing)", "job=(rare)"]


def test_without_rare_levels_unknown_ones_have_no_column():
    encoded = SEX.encode(column("sex", ["f", "m", "x", None]))
    np.testing.assert_allclose(encoded[:2], np.array([[1, -1], [-1, 1]]) / np.sqrt(2))
    np.testing.assert_allclose(encoded[2:], np.full((2, 2), -1 / np.sqrt(2)))


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.99, 0.01], [1.0]])
def test_a_category_is_stretched_no_more_than_an_even_split(shares):
    assert CategoryColumn("x", [str(share) for share in shares], [], shares).weight == pytest.approx(np.sqrt(2))


def test_remarks():
    assert AGE.remarks(column("age", [None])) == []
    assert BORN.remarks(column("born", ["1970-01-01"])) == []
    [gap] = BORN.remarks(column("born", [None, None]))
    assert gap == "'born': 2 missing values filled with the median, though none was missing in the fit."
    assert JOB.remarks(column("job", ["a", "d", None])) == []
    [rare] = JOB.remarks(column("job", ["x", "x", "y"]))
    assert "count as rare (3 rows): 'x', 'y'" in rare
    [none] = SEX.remarks(column("sex", [None, "f"]))
    assert "count as none of the levels (1 row): '(missing)'" in none


@pytest.mark.parametrize("encoded", [AGE, BORN, JOB, SEX])
def test_state(encoded):
    assert column_from_state(column_state(encoded)) == encoded


def test_unknown_state():
    with pytest.raises(ValueError, match="a number or a category, got 'picture'"):
        column_from_state({"kind": "picture"})


def test_infinity_is_named():
    with pytest.raises(TableError, match="column 'age' must hold finite numbers, got infinity at row 1"):
        AGE.encode(pd.Series([1.0, np.inf], name="age"))
