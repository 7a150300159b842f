import pandas as pd
import pytest

from disaggregate.tables.problems import TableError
from disaggregate.tables.schema import apply_schema, schema_of

FIRST = pd.DataFrame(
    {
        "id": ["007", "012"],
        "age": [30, 41],
        "owner": [True, False],
        "born": pd.to_datetime(["2024-01-31", None]),
        "tags": [[1], [2]],
    }
)
SCHEMA = {"id": "text", "age": "number", "owner": "yes/no", "born": "date"}


def test_schema_leaves_out_what_it_cannot_name():
    assert schema_of(FIRST) == SCHEMA


def test_text_is_read_as_the_schema_says():
    chunk = pd.DataFrame(
        {"id": ["003"], "age": ["50"], "owner": ["TRUE"], "born": ["1999-12-31"], "more": ["1"]}, dtype=str
    )
    read = apply_schema(chunk, SCHEMA)
    assert read.iloc[0].to_list() == ["003", 50, True, pd.Timestamp("1999-12-31"), "1"]
    assert schema_of(read) == {**SCHEMA, "more": "text"}
    assert chunk["age"].iloc[0] == "50"  # the given chunk stays as it was


def test_numbers_become_text_again():
    read = apply_schema(pd.DataFrame({"id": [7.0, None]}), SCHEMA)
    assert read["id"].to_list() == ["7", None]


def test_gaps():
    chunk = pd.DataFrame({"id": [None, "1"], "age": [None, "4"], "owner": [None, "false"], "born": [None, None]})
    read = apply_schema(chunk, SCHEMA)
    assert read.isna().sum().to_list() == [1, 1, 1, 2]
    assert read["age"].iloc[1] == 4.0
    assert not read["owner"].iloc[1]


def test_zeros_and_ones_are_yes_and_no():
    assert apply_schema(pd.DataFrame({"owner": [1, 0]}), SCHEMA)["owner"].to_list() == [True, False]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("age", "old", "'age' must hold numbers, got 'old' at row 5"),
        ("owner", "perhaps", "'owner' must hold True or False, as in the first table, got 'perhaps' at row 5"),
        ("born", "31.12.1999", "'born' must hold dates such as 2024-01-31, got '31.12.1999' at row 5"),
    ],
)
def test_what_disagrees_is_named(name, value, message):
    with pytest.raises(TableError, match=message):
        apply_schema(pd.DataFrame({name: [value]}, index=[5]), SCHEMA)
