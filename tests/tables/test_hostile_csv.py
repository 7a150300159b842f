"""Files that mean harm, or look like it: a named error, and no more memory or time than a table takes."""

import gzip

import pytest

from disaggregate.tables import csv_files
from disaggregate.tables.files import iter_table, read_table
from disaggregate.tables.problems import TableError


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv"):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,x\x00y\n", "line 2: holds a zero byte"),
        (b"a\x00,b\n1,2\n", "line 1: holds a zero byte"),
        (b"a,\n1,2\n", "column without a name, number 2"),
        (b",,\n1,2,3\n", "column without a name, number 1"),
        (b"PK\x03\x04\n1,2,3\n", r"not a text file but a compressed file.*\.xlsx"),
        (b"\xd0\xcf\x11\xe0\n1,2,3\n", r"not a text file but an old Excel workbook: save it as \.xlsx"),
        (b"PAR1\n1,2,3\n", r"not a text file but a Parquet file.*\.parquet"),
        (b"a,b\r1,2\r", "line 1: holds a carriage return that ends no line"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(write, content, message):
    with pytest.raises(TableError, match=message):
        read_table(write(content))
    with pytest.raises(TableError, match=message):
        list(iter_table(write(content), 10))


def test_a_row_that_pandas_does_not_see_is_noticed(write, monkeypatch):
    path = write(b"a,b\n1,2\n3,4\n")
    monkeypatch.setattr(csv_files.pd, "read_csv", lambda *_, **__: csv_files.pd.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(TableError, match="as 2 or as 1 rows"):
        read_table(path)


def test_a_line_without_end_is_refused(write, monkeypatch):
    monkeypatch.setattr(csv_files, "LONGEST_LINE", 100)
    with pytest.raises(TableError, match="line 2: longer than 100 bytes"):
        read_table(write(b"a,b\n1," + b"9" * 200 + b"\n"))


def test_a_packed_table_without_end_is_refused_before_it_is_unpacked(write, monkeypatch):
    path = write(gzip.compress(b"a,b\n" + b"1,2\n" * 50_000, 9), "t.csv.gz")
    assert len(read_table(path)) == 50_000
    monkeypatch.setattr(csv_files, "ALWAYS_ALLOWED", 10**4)
    assert path.stat().st_size * csv_files._MOST_TIMES < 200_000
    with pytest.raises(TableError, match="expands to more than"):
        list(iter_table(path, 10))
