import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.kinds import (
    dates_from_days,
    dates_of,
    days_of,
    is_text,
    is_yes_no,
    kind_of,
    levels_of,
    numbers_of,
)
from disaggregate.tables.problems import TableError


def column(values, dtype=None):
    return pd.Series(values, dtype=dtype, name="x")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (column([1, 2]), "number"),
        (column([1.5, None]), "number"),
        (column([1, None], "Int64"), "number"),
        (column([Decimal("1.5"), None], object), "number"),
        (column([None, None], object), "number"),
        (column(["a", None]), "category"),
        (column(["a", 1], object), "category"),
        (column([True, False]), "category"),
        (column([True, None], object), "category"),
        (column([True, None], "boolean"), "category"),
        (column([1, 2], "category"), "category"),
        (column(pd.to_datetime(["2024-01-31", None])), "date"),
        (column(pd.to_datetime(["2024-01-31"], utc=True)), "date"),
        (column([datetime.date(2024, 1, 31), None], object), "date"),
    ],
)
def test_kinds(values, expected):
    assert kind_of(values) == expected


@pytest.mark.parametrize(
    "values",
    [
        column([[1], [2]], object),
        column(pd.to_timedelta([1, 2], unit="s")),
        column([1 + 2j]),
        column([b"a"], object),
        column(pd.period_range("2024-01", periods=2, freq="M")),
    ],
)
def test_other_types_are_refused(values):
    with pytest.raises(TableError, match=r"column 'x' holds .* neither number, category nor date"):
        kind_of(values)


def test_yes_no_and_text():
    assert is_yes_no(column([True, None], object))
    assert not is_yes_no(column([1, 0]))
    assert not is_yes_no(column([None, None], object))
    assert is_text(column(["a", None]))
    assert not is_text(column(["a", 1], object))


@pytest.mark.parametrize(
    "values",
    [column([1, None, 2.5]), column(["1", None, "2.5"]), column([Decimal("1"), None, Decimal("2.5")], object)],
)
def test_numbers(values):
    np.testing.assert_array_equal(numbers_of(values), [1.0, np.nan, 2.5])
    np.testing.assert_array_equal(numbers_of(column([1, None], "Int64")), [1.0, np.nan])


def test_what_is_no_number_is_named():
    values = pd.Series(["1", "two", "three"], index=[10, 11, 12], name="x")
    with pytest.raises(TableError, match=r"'x' must hold numbers, got 'two' at row 11 \(2 such values in all\)"):
        numbers_of(values)


@pytest.mark.parametrize(
    "values",
    [
        column(["1970-01-02", None, "1969-12-31T12:00"]),
        column([pd.Timestamp("1970-01-02"), None, pd.Timestamp("1969-12-31 12:00")]),
        column(pd.to_datetime(["1970-01-02 02:00", None, "1969-12-31 14:00"]).tz_localize("Africa/Maputo")),
    ],
)
def test_days(values):
    np.testing.assert_array_equal(days_of(values), [1.0, np.nan, -0.5])


def test_days_of_python_dates():
    np.testing.assert_array_equal(days_of(column([datetime.date(1970, 1, 11), None], object)), [10.0, np.nan])


@pytest.mark.parametrize(
    ("values", "got"), [(["2024-01-31", "31/01/2024"], "'31/01/2024' at row 1"), ([1, 2], "numbers")]
)
def test_what_is_no_date_is_named(values, got):
    with pytest.raises(TableError, match=f"'x' must hold dates such as 2024-01-31, got {got}"):
        dates_of(column(values))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (column(["b", None, "a"]), ["b", None, "a"]),
        (column([True, None, False], object), ["True", None, "False"]),
        (column([1, None, 2], "category"), ["1", None, "2"]),
        (column([1.0, None, 2.5]), ["1", None, "2.5"]),
    ],
)
def test_levels(values, expected):
    assert levels_of(values).tolist() == expected


def test_lists_beside_whole_numbers_are_refused():
    with pytest.raises(TableError, match="neither number, category nor date"):
        kind_of(pd.Series([[], "", 3, 2.5], name="x", dtype=object))


def test_whole_numbers_beyond_all_floats_are_refused():
    with pytest.raises(TableError, match="'x' holds a whole number too large for a float"):
        numbers_of(pd.Series([10**400, 1], name="x", dtype=object))


def test_days_become_the_dates_that_they_were():
    dates = pd.to_datetime(pd.Series(["1912-06-23 07:30", "2024-02-29", None], name="x"), format="ISO8601")
    assert dates_from_days(days_of(dates)).tolist()[:2] == dates.tolist()[:2]
    assert dates_from_days(days_of(dates)).isna().tolist() == [False, False, True]
