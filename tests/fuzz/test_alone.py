import pytest

from fuzz import alone

pytestmark = pytest.mark.filterwarnings("ignore")


def test_nothing_is_learnt_about_one_person():
    assert alone.main(["--runs", "1"]) == 0


def test_the_attack_works_where_nothing_is_hidden(monkeypatch, capsys):
    monkeypatch.setattr(alone, "LEAST", 1)
    assert alone.main(["--runs", "1"]) == 1
    assert "number for the cell" in capsys.readouterr().out
