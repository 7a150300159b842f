import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.amounts import AmountForms, amount_of, read_amounts
from disaggregate.tables.problems import TableError


def forms_of(decimal=None, usual=None, **columns):
    forms = AmountForms("t", decimal, usual)
    for name, values in columns.items():
        forms.look(name, pd.Series(values, dtype=object))
    return forms


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("45.500,00", None, 45500.0),
        ("$45,500", 45500.0, 45.5),
        ("45,500.25 €", 45500.25, None),
        ("-$1,234,567", -1234567.0, None),
        ("\u22125,5", None, -5.5),
        ("56.4 %", 0.564, None),
        ("56,4%", None, 0.564),
        ("1 234,5", None, 1234.5),
        ("1\u202f234", 1234.0, 1234.0),
        ("12'345.60", 12345.6, None),
        ("0,123", None, 0.123),
        ("0.123", 0.123, None),
        ("12,34,567", None, None),
        ("CHF 12", 12.0, 12.0),
        ("(1,234.5)", -1234.5, None),
        ("($12)", -12.0, -12.0),
        ("\u0663\u0664", 34.0, 34.0),
        ("1e-3", 0.001, 0.001),
    ],
)
def test_both_readings(text, point, comma):
    amount = amount_of(text)
    assert (amount and amount.by_decimal) == (
        None if point is comma is None else {".": pytest.approx(point), ",": pytest.approx(comma)}
    )


@pytest.mark.parametrize(
    "text", ["", "x", "1-2", "12/5", "1.2.3.4", "12:30", "$", "%", "1 2", "--5", "(-5)", "(5", "()", "9" * 99]
)
def test_no_amounts(text):
    assert amount_of(text) is None


def test_percentages_are_the_fractions_that_one_would_type():
    for tenths in range(1001):
        assert amount_of(f"{tenths / 10} %").by_decimal["."] == round(tenths / 1000, 4)


def test_each_way_is_reported_once_with_an_example():
    settled, notes = forms_of(
        a=["0,5", "1.234,5"], b=["7,25", None], c=["$4,000.00", "12"], d=["5 %", "6 %"]
    ).resolve()
    assert settled == {"a": ",", "b": ",", "c": ".", "d": "."}
    assert [note.kind for note in notes] == ["decimal", "currency", "percent"]
    assert "'a', 'b'" in notes[0].where
    assert "'5 %' is read as 0.05" in notes[2].message


def test_what_nothing_tells_stops_with_the_choice():
    with pytest.raises(TableError, match=r"'1,234' is 1234 with a decimal point and 1.234") as stopped:
        forms_of(a=["1,234", "2,345"]).resolve()
    assert stopped.value.kind == "decimal"
    assert len(stopped.value.choices) == 2
    assert forms_of(a=["1,234"], decimal=",").resolve()[0] == {"a": ","}
    assert forms_of(a=["1,234"], b=["0,5"]).resolve()[0] == {"a": ",", "b": ","}
    assert forms_of(a=["$45,500", "$1,000"]).resolve()[0] == {"a": "."}
    with pytest.raises(TableError, match="--decimal"):
        forms_of(a=["€45,500"]).resolve()
    with pytest.raises(TableError, match="--decimal"):  # the table itself has both marks
        forms_of(a=["1,234"], b=["0,5"], c=["0.5 %"]).resolve()


@pytest.mark.parametrize("values", [["0,5", "0.5"], ["5 %", "0.05"], ["$5", "€6"], ["5 %", 0.5]])
def test_two_ways_in_one_column_stay_text_and_are_reported(values):
    settled, [note] = forms_of(a=values).resolve()
    assert settled == {}
    assert (note.level, note.kind) == ("warning", "numbers in two ways")


@pytest.mark.parametrize("values", [["a", "0,5"], ["1", "2"], [], ["$5", True]])
def test_other_columns_are_left_alone(values):
    assert forms_of(a=values).resolve() == ({}, [])


def test_numbers_beside_texts_stay():
    read = read_amounts(pd.Series([1, "2,5", None]), ",")
    np.testing.assert_array_equal(read.astype(float), [1.0, 2.5, np.nan])
