from fuzz import spoiled


def test_every_way_of_writing_is_read_rightly_or_reported(capsys):
    assert spoiled.main(["--runs", str(len(spoiled.SPOILS)), "--quiet"]) == 0
    assert "SILENCE" not in capsys.readouterr().out


def test_a_wrong_reading_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(spoiled, "agree", lambda *given: False)
    assert spoiled.main(["--runs", "1"]) == 1
    assert "SILENCE" in capsys.readouterr().out
