import gzip

import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.csv_files import iter_csv, read_csv, scan_csv
from disaggregate.tables.errors import TableError


@pytest.fixture
def write(tmp_path):
    def _write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


def test_types(write):
    path = write(
        "id,age,born,at,mixed,owner\n007,30,2024-01-31,2024-01-31T12:00,1,True\n12,,1999-12-31,,b,False\n"
    )
    table = read_csv(path, {})
    assert table["id"].to_list() == ["007", "12"]
    np.testing.assert_array_equal(table["age"], [30.0, np.nan])
    assert table["born"].to_list() == [pd.Timestamp("2024-01-31"), pd.Timestamp("1999-12-31")]
    assert table["at"].iloc[0] == pd.Timestamp("2024-01-31 12:00")
    assert table["mixed"].to_list() == ["1", "b"]
    assert table["owner"].to_list() == [True, False]


def test_order_of_columns_is_kept(write):
    assert list(read_csv(write("z,b,a\n2024-01-01,1,x\n"), {})) == ["z", "b", "a"]


@pytest.mark.parametrize("text", ["2024-13-01", "2024-01-01x", "01/02/2024"])
def test_text_like_dates_stays_text(write, text):
    assert read_csv(write(f"d\n2024-01-01\n{text}\n"), {})["d"].to_list() == ["2024-01-01", text]


def test_schema_goes_first(write):
    table = read_csv(
        write("a,b,c\n1,007,2024-01-01\n"), {"a": "text", "b": "number", "c": "text", "absent": "text"}
    )
    assert table.iloc[0].to_list() == ["1", 7, "2024-01-01"]


@pytest.mark.parametrize(
    ("field", "is_code"), [("00", True), ("0123", True), ("0", False), ("0.5", False), ("-05", False)]
)
def test_codes(write, field, is_code):
    path = write(f'a,b\n1,1\n2,"{field}"\n3,{field}\n')
    assert scan_csv(path).codes == (["b"] if is_code else [])


def test_digits_of_floats_are_kept(write, rng):
    values = rng.random(200)
    path = write("x\n" + "\n".join(repr(float(value)) for value in values))
    np.testing.assert_array_equal(read_csv(path, {})["x"], values)


def test_tabs_zip_and_marks_of_byte_order(write):
    text = "\ufeffa\tb\n1\tx,y\n"
    for name, content in {"t.tsv": text.encode(), "t.tsv.gz": gzip.compress(text.encode())}.items():
        table = read_csv(write(content, name), {})
        assert list(table) == ["a", "b"]
        assert table["b"].to_list() == ["x,y"]


def test_quotes_and_empty_lines(write):
    table = read_csv(write('a,b\n\n1,"x\ny, ""z"""\n\n2,w\n'), {})
    assert table["b"].to_list() == ['x\ny, "z"', "w"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; expected a line of column names"),
        ("\n\n", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,b,a\n1,2,3\n", r"columns of the same name: 'a' \(2 times\)"),
        ("a;b\n1;2\n", "separated by semicolons; expected commas"),
        ("a,b\n1,2\n3\n", "line 3: expected 2 fields as in the first line, got 1"),
        ("a,b\n1,2\n\n3,4,5\n6,7\n", "line 4: expected 2 fields as in the first line, got 3"),
        ("a,b\n1,2,3\n1,2,3\n", "line 2: expected 2 fields"),
        ('a,b\n1,"x\ny"\n3\n', "line 4: expected 2 fields"),
        ('a,b\n1,2\n3,"x\n4,5\n6,7\n', "line 3: unexpected end of data; put quotes around"),
        ('a,b\n1,"x"y\n', "line 2: ',' expected after '\"'"),
        ("a,b\n1,2\n3,\xe9\n".encode("latin-1"), "not UTF-8 text: byte 0xe9 at line 3, byte 3 of the line; save"),
        ("a,b\n1,2\n".encode("utf-16"), "byte 0xff at line 1, byte 1"),
    ],
)
def test_faults_are_named(write, content, message):
    path = write(content)
    with pytest.raises(TableError, match=message):
        read_csv(path, {})
    with pytest.raises(TableError, match=message):
        list(iter_csv(path, 1, {}))


CUT_SHORT = gzip.compress(b"a,b\n" + b"1,2\n" * 999, mtime=0)[:-20]


@pytest.mark.parametrize("content", [b"no gzip", CUT_SHORT], ids=["no gzip", "cut short"])
def test_broken_zip(write, content):
    with pytest.raises(TableError, match="cannot be read"):
        read_csv(write(content, "t.csv.gz"), {})


def test_chunks_follow_the_schema_and_leave_the_rest_as_written(write):
    path = write("id,age,note\n007,30,1\n8,,2.50\n9,41,x\n")
    chunks = list(iter_csv(path, 2, {"id": "text", "age": "number"}))
    assert [len(chunk) for chunk in chunks] == [2, 1]
    whole = pd.concat(chunks)
    assert whole.index.to_list() == [0, 1, 2]
    assert whole["id"].to_list() == ["007", "8", "9"]
    assert whole["note"].to_list() == ["1", "2.50", "x"]
    np.testing.assert_array_equal(whole["age"], [30.0, np.nan, 41.0])


def test_a_broken_last_line_is_told_before_the_first_chunk(write):
    chunks = iter_csv(write("a,b\n1,2\n3,4\n5\n"), 1, {})
    with pytest.raises(TableError, match="line 4"):
        next(chunks)
