import pytest

from disaggregate.tables import suppression
from fuzz import alone

pytestmark = pytest.mark.filterwarnings("ignore")


def test_nothing_is_learnt_about_one_person():
    assert alone.main(["--runs", "1"]) == 0


def test_the_attack_works_where_nothing_is_hidden(monkeypatch, capsys):
    monkeypatch.setattr(alone, "LEAST", 1)
    assert alone.main(["--runs", "1"]) == 1
    assert "number for the cell" in capsys.readouterr().out


def test_tables_that_can_be_solved_for_a_hidden_cell_are_noticed(monkeypatch, capsys):
    monkeypatch.setattr(
        "disaggregate.tables.suppression.hidden_beside_margins", lambda keys, *given: suppression.hidden(*given)
    )
    assert alone.main(["--runs", "2"]) == 1
    assert "follows from all tables together" in capsys.readouterr().out
