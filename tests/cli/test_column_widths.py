import io
import re

import pandas as pd
import pytest

from disaggregate.cli.column_widths import column_widths, table_width
from disaggregate.cli.main import main
from disaggregate.cli.output import print_table
from disaggregate.cli.subgroups import names_of_few

HEADERS = ["town", "estimate", "conf_low", "conf_high", "note"]
COLUMNS = [["Ashford", "Lea"], ["0.340", "0.29"], ["0.072", "0.1"], ["0.817", "0.9"], ["rests on the prior", ""]]
WRAPS = [True, False, False, False, True]


def test_with_room_nothing_is_wrapped():
    assert column_widths(HEADERS, COLUMNS, WRAPS, None) == [7, 8, 8, 9, 18]
    assert column_widths(HEADERS, COLUMNS, WRAPS, 66) == [7, 8, 8, 9, 18]


def test_names_of_numbers_are_broken_before_words_are():
    assert column_widths(HEADERS, COLUMNS, WRAPS, 59) == [7, 8, 5, 5, 18]
    assert column_widths(HEADERS, COLUMNS, WRAPS, 50) == [7, 8, 5, 5, 9]


@pytest.mark.parametrize("room", [1, 20, 45])
def test_nothing_is_ever_cut(room):
    widths = column_widths(HEADERS, COLUMNS, WRAPS, room)
    assert widths == [7, 8, 5, 5, 5]
    assert table_width(widths) == 46


def test_a_column_of_nothing():
    assert column_widths(["x"], [[]], [False], 1) == [1]


class Narrow(io.StringIO):
    """A terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("columns", ["80", "20"])
def test_numbers_of_a_table_are_whole_on_any_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "dumb")
    terminal = Narrow()
    monkeypatch.setattr("sys.stdout", terminal)
    numbers = {name: [0.123, 0.456] for name in ("estimate", "conf_low", "conf_high", "bound_low", "bound_high")}
    table = pd.DataFrame({"town": ["Ashford on the Water", "Lea"], **numbers, "n": [7, 9], "weight": [7.0, 9.0]})
    print_table(table.assign(rests_on="prior", contraction=0.0, std_error=0.0), "Rates", as_json=False)
    said = terminal.getvalue()
    assert said.count("0.123") == said.count("0.456") == 5
    assert "…" not in said
    assert "weight" not in said  # it says what n says


def test_where_room_is_short_a_row_says_once_that_it_is_suppressed_and_why_beneath(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    terminal = Narrow()
    monkeypatch.setattr("sys.stdout", terminal)
    table = pd.DataFrame({"job": ["clerk", "keeper"], "estimate": [0.5, None], "conf_low": [0.4, None]})
    table = table.assign(conf_high=[0.6, None], n=[70, 1], note=["", "suppressed: fewer than 10 people"])
    print_table(table, "By job", as_json=False)
    said = re.sub(r"\x1b\[[\d;]*m", "", terminal.getvalue())
    assert said.count("suppressed") == 2
    assert said.splitlines()[-1] == "keeper: suppressed: fewer than 10 people"
    assert max(map(len, said.splitlines())) <= 60
    assert "nan" not in said


def test_names_that_few_people_have_are_warned_of():
    rows = pd.DataFrame({"income": [1, 2, 3], "note": ["", *["suppressed: fewer than 10 people"] * 2]})
    (warning,) = names_of_few(rows, ["income"])
    assert "2 of 3 rows are suppressed, but still show rare values of 'income'" in warning
    assert not list(names_of_few(rows[:2], ["income"]))
    assert not list(names_of_few(rows.assign(note="suppressed: a smaller one would follow from it"), ["income"]))
    assert not list(names_of_few(rows[["income"]], ["income"]))


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["check", "p.csv"], "RESULTS: table of results, one row per group"),
        (["check", "p.csv", "r.csv"], "--group COLUMN: group of each person"),
        (["subgroups", "m.dgz", "p.csv"], "--by COLUMNS: columns"),
        (["predict", "m.dgz", "p.csv", "-o", "o.csv", "--level", "90"], "did you mean 0.9?"),
        (["predict", "m.dgz", "p.csv", "-o", "o.csv", "--level", "x"], "between 0 and 1, such as 0.9, got 'x'"),
        (["predict", "p.csv", "m.dgz", "-o", "o.csv"], "p.csv is a table; expected the model"),
    ],
)
def test_mistakes_are_reported_in_few_lines(arguments, reported, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert reported in said
    assert len(said.splitlines()) <= 4


@pytest.mark.parametrize(("columns", "is_wide"), [("60", False), (None, True)])
def test_a_pipe_has_all_the_room_unless_columns_says_how_much(monkeypatch, capsys, columns, is_wide):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    table = pd.DataFrame({"feature": ["age"], "between": [0.1], "says": ["groups differ somewhat in this " * 4]})
    print_table(table, "Features", as_json=False)
    assert (max(map(len, capsys.readouterr().out.splitlines())) > 60) == is_wide
