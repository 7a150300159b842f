import gzip

import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.csv_files import iter_csv, read_csv, scan_csv
from disaggregate.tables.files import iter_table, read_table
from disaggregate.tables.problems import TableError
from disaggregate.tables.reading import Reading


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
    table = read_csv(path, {}).table
    assert table["id"].to_list() == ["007", "12"]
    np.testing.assert_array_equal(table["age"], [30.0, np.nan])
    assert table["born"].to_list() == [pd.Timestamp("2024-01-31"), pd.Timestamp("1999-12-31")]
    assert table["at"].iloc[0] == pd.Timestamp("2024-01-31 12:00")
    assert table["mixed"].to_list() == ["1", "b"]
    assert table["owner"].to_list() == [True, False]


def test_order_of_columns_is_kept(write):
    assert list(read_csv(write("z,b,a\n2024-01-01,1,x\n"), {}).table) == ["z", "b", "a"]


@pytest.mark.parametrize("text", ["2024-13-01", "2024-01-01x", "01/02/2024"])
def test_text_like_dates_stays_text(write, text):
    assert read_csv(write(f"d\n2024-01-01\n{text}\n"), {}).table["d"].to_list() == ["2024-01-01", text]


def test_schema_goes_first(write):
    table = read_csv(
        write("a,b,c\n1,007,2024-01-01\n"), {"a": "text", "b": "number", "c": "text", "absent": "text"}
    ).table
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
    np.testing.assert_array_equal(read_csv(path, {}).table["x"], values)


def test_tabs_zip_and_marks_of_byte_order(write):
    text = "\ufeffa\tb\n1\tx,y\n"
    for name, content in {"t.tsv": text.encode(), "t.tsv.gz": gzip.compress(text.encode())}.items():
        table = read_csv(write(content, name), {}).table
        assert list(table) == ["a", "b"]
        assert table["b"].to_list() == ["x,y"]


def test_quotes_and_empty_lines(write):
    table = read_csv(write('a,b\n\n1,"x\ny, ""z"""\n\n2,w\n'), {}).table
    assert table["b"].to_list() == ['x\ny, "z"', "w"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; expected a line of column names"),
        ("\n\n", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,b,a\n1,2,3\n", r"columns of the same name: 'a' \(2 times\)"),
        ("a,b\n1,2\n3\n", "line 3: expected 2 fields as in the first line, got 1"),
        ("a,b\n1,2\n\n3,4,5\n6,7\n", "line 4: expected 2 fields as in the first line, got 3"),
        ("a,b\n1,2,3\n1,2,3\n", "line 2: expected 2 fields"),
        ('a,b\n1,"x\ny"\n3\n', "line 4: expected 2 fields"),
        ('a,b\n1,2\n3,"x\n4,5\n6,7\n', "line 3: unexpected end of data; put quotes around"),
        ('a,b\n1,"x"y\n', "line 2: ',' expected after '\"'"),
        ("a,b\n1,Москва\n".encode("cp1251"), "line 2: is not UTF-8 text, and as Latin-1"),
        ("a,b\n1,Zürich\n".encode("mac-roman"), "line 2: is not UTF-8 text, and as Latin-1"),
        ("a,b\n1,Zürich\n".encode("cp850"), "not UTF-8 or Latin-1 text: byte 0x81 at line 2, byte 4"),
        ("a,b\n1,2\n".encode("utf-32"), "is UTF-32 text; save it as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16") + b"\0\xd8\n\0", "is not utf-16 text"),
        ("a;b,c;d\n1;2,3;4\n", "with commas or semicolons between its fields"),
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


def test_a_broken_last_line_is_reported_before_the_first_chunk(write):
    chunks = iter_csv(write("a,b\n1,2\n3,4\n5\n"), 1, {})
    with pytest.raises(TableError, match="line 4"):
        next(chunks)


WRITTEN = [
    ("people.csv", "district;Anteil\nZürich;0,56\nGenève;0,44\n", "utf-8"),
    ("people.csv", "district\tAnteil\nZürich\t0.56\nGenève\t0.44\n", "cp1252"),
    ("people.csv", "district,Anteil\nZürich,0.56\nGenève,0.44\n", "utf-16"),
    ("people.csv.gz", 'district,Anteil\nZürich,"0,56"\nGenève,"0,44"\n', "utf-16-le"),
    ("people.csv", "sep=;\ndistrict;Anteil\nZürich;0,56\nGenève;0,44\n", "cp1252"),
    ("people.txt", "district|Anteil\r\nZürich|0.56\r\nGenève|0.44\r\n", "utf-8-sig"),
]


@pytest.mark.parametrize(("name", "text", "encoding"), WRITTEN)
def test_what_spreadsheets_write(write, name, text, encoding):
    content = text.encode(encoding)
    path = write(gzip.compress(content) if name.endswith("gz") else content, name)
    read = read_csv(path, {})
    assert list(read.table) == ["district", "Anteil"]
    assert read.table["district"].to_list() == ["Zürich", "Genève"]
    assert read.table["Anteil"].to_list() == [0.56, 0.44]
    reported = {note.kind for note in read.notes}
    assert ("encoding" in reported) == (not encoding.startswith("utf-8"))
    assert ("separator" in reported) == ("," not in text.splitlines()[0])
    [chunk] = iter_csv(path, 9, {"Anteil": "number"})
    assert chunk["Anteil"].to_list() == [0.56, 0.44]


@pytest.mark.parametrize(
    ("written", "expected"), [("\u22125.5", -5.5), ("(5)", -5.0), ("\u0665", 5.0), ("\uff15", 5.0)]
)
def test_numbers_as_in_print_are_read_and_reported(write, written, expected):
    path = write(f"town,balance\na,{written}\nb,7\n")
    read = read_csv(path, {})
    assert read.table["balance"].to_list() == [expected, 7.0]
    assert [note.kind for note in read.notes] == ["signs"]
    assert f"{written!r} is read as {expected:g}" in read.notes[0].message
    [chunk] = iter_csv(path, 9, {"balance": "number"})
    assert chunk["balance"].to_list() == [expected, 7.0]


def test_names_of_columns_are_one_name_however_accents_are_stored(write):
    assert list(read_csv(write("re\u0301gion,a\nx,1\n"), {}).table) == ["r\u00e9gion", "a"]


def test_a_choice_settles_what_can_be_read_in_two_ways(write):
    path = write("district;income\na;1.234\nb;45.500\n")
    with pytest.raises(TableError, match=r"column 'income'.*1234.*--decimal") as stopped:
        read_csv(path, {})
    assert {choice.value for choice in stopped.value.choices} == {".", ","}
    for choice, expected in ((".", [1.234, 45.5]), (",", [1234.0, 45500.0])):
        assert read_csv(path, {}, Reading(decimal=choice)).table["income"].to_list() == expected
        [chunk] = iter_csv(path, 9, {"income": "number"}, reading=Reading(decimal=choice))
        assert chunk["income"].to_list() == expected
    both = write("a;b,c;d\n1;2,3;4\n")
    assert list(read_csv(both, {}, Reading(separator=";")).table) == ["a", "b,c", "d"]


def test_one_column_tells_the_decimal_mark_of_another(write):
    table = read_csv(write("district;income;share\na;1.234;0,5\nb;45.500;0,25\n"), {}).table
    assert table["income"].to_list() == [1234.0, 45500.0]
    table = read_csv(write('district,income,share\na,"1,234",0.5\nb,"45,500",0.25\n'), {}).table
    assert table["income"].to_list() == [1234.0, 45500.0]


def test_plain_numbers_between_commas_have_decimal_points(write):
    read = read_csv(write("a,b\n1.234,x\n45.500,y\n"), {})
    assert read.table["a"].to_list() == [1.234, 45.5]
    assert read.notes == ()


def test_an_encoding_that_was_named_is_used(write):
    path = write("a,b\n1,Москва\n".encode("cp1251"))
    assert read_csv(path, {}, Reading(encoding="cp1251")).table["b"].to_list() == ["Москва"]


def test_blanks_around_names_of_columns(write):
    read = read_csv(write("a, b\n1,2\n"), {})
    assert list(read.table) == ["a", "b"]
    assert [note.kind for note in read.notes] == ["names"]


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_rows_are_numbered_as_in_the_file(tmp_path, rows):
    path = tmp_path / "people.csv"
    path.write_text("age,town\n30,a\n40,b\nmany,c\n50,d\n")
    with pytest.raises(TableError, match="got 'many' at row 4"):
        list(iter_table(path, rows, {"age": "number"}))
    with pytest.raises(TableError, match="got 'many' at row 4"):
        read_table(path, {"age": "number"})
