from pathlib import Path

import pytest

from disaggregate.tables.formats import format_of, is_zipped, separator, split_sheet
from disaggregate.tables.problems import TableError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", ("csv", False, ",")),
        ("a.b.CSV.GZ", ("csv", True, ",")),
        ("a.tsv", ("csv", False, "\t")),
        ("a.tsv.csv", ("csv", False, ",")),
        ("a.tsv.gz", ("csv", True, "\t")),
        ("a.parquet", ("parquet", False, ",")),
    ],
)
def test_formats(name, expected):
    path = Path(name)
    assert (format_of(path), is_zipped(path), separator(path)) == expected


@pytest.mark.parametrize("name", ["a.ods", "a", "a.gz", "csv"])
def test_other_endings(name):
    with pytest.raises(TableError, match=r"must end in one of .csv, .csv.gz, .tsv, .tsv.gz, .parquet"):
        format_of(Path(name))


def test_workbooks_are_read_and_not_written():
    assert format_of(Path("a.XLSX")) == "excel"
    with pytest.raises(TableError, match="must end in one of"):
        format_of(Path("a.xlsx"), to_write=True)


def test_sheets(tmp_path):
    assert split_sheet("book.xlsx#Results") == (Path("book.xlsx"), "Results")
    assert split_sheet("a#b.csv") == (Path("a#b.csv"), None)
    (tmp_path / "book.xlsx#x").touch()
    assert split_sheet(tmp_path / "book.xlsx#x") == (tmp_path / "book.xlsx#x", None)


def test_a_folder_is_not_a_table_without_an_ending(tmp_path):
    with pytest.raises(TableError, match="is a folder, where one table is expected"):
        format_of(tmp_path)
