import pandas as pd
import pytest
from matplotlib.figure import Figure

from disaggregate.experiments import Outcome, write_outcome


@pytest.fixture
def outcome():
    table = pd.DataFrame({"method": ["ours", "theirs"], "AUC": ["0.9", "0.8"]})
    raw = pd.DataFrame({"method": ["ours", "theirs"], "AUC": [0.91234567, 0.8]})
    return Outcome("figure9", "Figure 9: nothing", "What was *done*.", table, raw, Figure())


def test_figure_numbers_and_summary_are_written_into_a_new_folder(outcome, tmp_path):
    paths = write_outcome(outcome, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["figure9.png", "figure9.svg", "figure9.csv", "figure9.md"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in paths[1].read_bytes()
    assert pd.read_csv(paths[2])["AUC"].tolist() == [0.912346, 0.8]


def test_the_summary_has_heading_text_table_and_picture(outcome, tmp_path):
    text = write_outcome(outcome, tmp_path)[3].read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == "# Figure 9: nothing"
    assert "What was *done*." in lines
    table = lines.index("| method | AUC |")
    assert lines[table + 1 : table + 4] == ["| --- | --- |", "| ours | 0.9 |", "| theirs | 0.8 |"]
    assert "![Figure 9: nothing](figure9.png)" in lines
