import pytest

from disaggregate.posterior import bounds
from disaggregate.tables import suppression
from fuzz import alone

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("first", [0, 2])
def test_nothing_is_learnt_about_one_person(first):
    assert alone.WAYS[first] == (2 + first // 2, False)
    assert alone.main(["--runs", "1", "--first", str(first)]) == 0


def test_the_attack_works_where_nothing_is_hidden(monkeypatch, capsys):
    monkeypatch.setattr(alone, "LEAST", 1)
    assert alone.main(["--runs", "1"]) == 1
    reported = capsys.readouterr().out
    for leak in ("effects: a number", "page: a number", "page: a sentence", "file: the name of the group"):
        assert leak in reported


def test_tables_that_can_be_solved_for_a_hidden_cell_are_noticed(monkeypatch, capsys):
    monkeypatch.setattr(
        "disaggregate.tables.suppression.hidden_beside_margins", lambda keys, *given: suppression.hidden(*given)
    )
    assert alone.main(["--runs", "2"]) == 1
    assert "follows from all tables together" in capsys.readouterr().out


def test_bounds_that_tell_what_a_hidden_group_reports_are_noticed(monkeypatch, capsys):
    monkeypatch.setattr(bounds, "hidden", lambda sizes, least: suppression.hidden(sizes, 1))
    assert alone.main(["--runs", "1"]) == 1
    assert "the outcome follows from the bounds" in capsys.readouterr().out


def test_a_page_that_names_the_person_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr("disaggregate.report.page.data_elements", lambda analysis, people, least: [_remark()])
    assert alone.main(["--runs", "1"]) == 1
    assert "a sentence about the cell or the group" in capsys.readouterr().out


def test_a_file_that_keeps_the_names_and_the_income_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr("disaggregate.saving.model.without_rare_levels", lambda tables: tables)
    monkeypatch.setattr("disaggregate.analysis.privacy.without_extremes", lambda rows, size: rows)
    assert alone.main(["--runs", "1"]) == 1
    assert "file: the name of the group or the cell" in capsys.readouterr().out


def _remark():
    from disaggregate.report.elements import Notes

    return Notes([f"group '{alone.HOME}' lies 1000 standard deviations above"])
