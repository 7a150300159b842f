"""Fits with all defaults: what is measured, and the table."""

import math
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from benchmarks import default_fits
from benchmarks.resumable import read_rows, run_left


def test_both_versions_are_measured_where_the_earlier_one_can(monkeypatch):
    asked = []

    def answer_of(module, setting, cache, source):
        asked.append((tuple(setting["shape"]), source.name))
        return {"seconds": 2.0 if source.name == "new" else 12.0, "rhat": 1.01}

    monkeypatch.setattr(default_fits, "answer_of", answer_of)
    sources = {"present": Path("new"), "baseline": Path("old")}
    both = default_fits.measure(sources, Path("work"), "300 in 10 groups", 0)
    assert both["baseline_seconds"] / both["present_seconds"] == 6.0
    alone = default_fits.measure(sources, Path("work"), "10,000 groups of one", 0)
    assert math.isnan(alone["baseline_seconds"])
    assert asked == [((300, 30, 5), "new"), ((300, 30, 5), "old"), ((10_000, 1, 5), "new")]


def test_tables_are_given_as_files(monkeypatch, tmp_path):
    asked = []

    def answer_of(module, setting, cache, source):
        asked.append(setting)
        return {"seconds": 2.0}

    task = SimpleNamespace(
        people=pd.DataFrame({"area": ["a", "b"], "age": [30, 40]}),
        results=pd.DataFrame({"area": ["a", "b"], "share": [0.3, 0.4]}),
        roles={"group": "area", "share": "share", "sampled": True},
    )
    monkeypatch.setattr(default_fits, "answer_of", answer_of)
    monkeypatch.setattr(default_fits, "TABLES", {"areas": lambda data: task})
    sources = {"present": Path("new"), "baseline": Path("old")}
    default_fits.measure(sources, tmp_path, "areas", 0, data=tmp_path)
    assert len(asked) == 2
    assert asked[0]["roles"] == task.roles
    pd.testing.assert_frame_equal(pd.read_csv(asked[0]["people"]), task.people)


def test_the_table_has_a_ratio_where_both_were_measured(tmp_path):
    path = tmp_path / "default_fits.csv"
    found = {"seconds": 2.0, "waited": 1.0, "rhat": 1.004, "effective": 900.0, "memory": 0.5}
    for name, before in (("20,000 in 200 groups", math.nan), ("300 in 10 groups", 12.0)):
        row = {f"present_{what}": value for what, value in found.items()} | {"baseline_seconds": before}
        run_left(path, 1, lambda seed, row=row: row, shape=name, code="c")
    text = default_fits.report(read_rows(path, code="c"), "c31a7ba")
    assert "| 300 in 10 groups | 2 | 12 | 6.0 | 1.004 | 900 | 0.50 |" in text
    assert "| 20,000 in 200 groups | 2 |  |  | 1.004 | 900 | 0.50 |" in text
    assert "5,000 in 50" not in text
