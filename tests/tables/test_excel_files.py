import datetime

import pandas as pd
import pytest

from disaggregate.tables.excel_files import MISSING
from disaggregate.tables.files import iter_table, read_table, read_with_notes
from disaggregate.tables.problems import TableError

openpyxl = pytest.importorskip("openpyxl")

ROWS = [
    ["district", "age", "born", "share", "owner", "income"],
    ["a", 30, datetime.date(1990, 1, 31), 0.564, True, "$45,500"],
    ["b", None, datetime.date(1980, 12, 1), "N/A", False, 1200],
]


@pytest.fixture
def book(tmp_path):
    def _book(name="t.xlsx", change=None, **sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
            if change:
                change(sheet)
        book.save(tmp_path / name)
        return tmp_path / name

    return _book


def test_types(book):
    read = read_with_notes(book(people=[[], *ROWS, [], ["c", 1]]))
    assert list(read.table) == ROWS[0]
    assert read.table["district"].to_list() == ["a", "b", "c"]
    assert read.table["born"].iloc[0] == pd.Timestamp("1990-01-31")
    assert read.table["age"].iloc[0] == 30
    assert read.table["share"].isna().to_list() == [False, True, True]
    assert read.table["income"].iloc[:2].to_list() == [45500, 1200]
    assert [note.kind for note in read.notes] == ["currency"]
    assert [len(chunk) for chunk in iter_table(book(people=ROWS), 1)] == [1, 1]


def test_sheets(book):
    path = book(people=ROWS, results=ROWS[:2], empty=[])
    with pytest.raises(TableError, match=r"has 2 sheets, 'people', 'results'; say which: t\.xlsx#people"):
        read_table(path)
    assert len(read_table(f"{path}#results")) == 1
    with pytest.raises(TableError, match="no sheet 'result'; did you mean 'results'"):
        read_table(f"{path}#result")
    [note] = read_with_notes(book(people=ROWS, empty=[])).notes[:1]
    assert "sheet 'people' is read" in note.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda sheet: sheet.merge_cells("A2:A3"), "merged cells"),
        (lambda sheet: sheet.__setitem__("B3", "=B2+1"), "cell B3 holds a formula without a stored result"),
        (lambda sheet: sheet.__setitem__("B3", "#DIV/0!"), "cell B3 holds the error #DIV/0!"),
        (lambda sheet: sheet.__setitem__("H3", 5), "column H has values and no name"),
        (lambda sheet: sheet.__setitem__("A1", "age"), "columns of the same name"),
    ],
)
def test_what_is_not_what_one_sees_is_refused(book, change, message):
    with pytest.raises(TableError, match=message):
        read_table(book(people=ROWS, change=change))


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04" + b"\0" * 50, b"a,b\n1,2\n"])
def test_what_is_no_workbook(tmp_path, content):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(TableError, match="cannot be read as an Excel workbook"):
        read_table(tmp_path / "t.xlsx")


def test_without_the_extra(book, monkeypatch):
    path = book(people=ROWS)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match="pip install") as stopped:
        read_table(path)
    assert str(stopped.value) == MISSING


def test_rows_are_numbered_as_in_the_workbook(book):
    path = book(people=[["g", "x"], ["a", 1], ["b", "many"]])
    with pytest.raises(TableError, match="'many' at row 3"):
        read_table(path, {"x": "number"})
