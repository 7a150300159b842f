import pandas as pd
import pytest

from benchmarks.markdown import markdown_table, share_and_error
from benchmarks.resumable import append_row, read_rows, run_left, seeds_left


def test_only_what_is_missing_is_done(tmp_path):
    path, done = tmp_path / "rows.csv", []

    def one(seed):
        done.append(seed)
        return {"found": seed / 3.0}

    run_left(path, 2, one, case="a", code="0012")
    run_left(path, 3, one, case="a", code="0012")
    run_left(path, 1, one, case="b", code="0012")
    assert done == [0, 1, 2, 0]
    assert len(read_rows(path)) == 4
    assert read_rows(path, case="a", code="0012")["found"].tolist() == [0.0, 0.333333, 0.666667]


def test_a_gap_is_filled(tmp_path):
    path = tmp_path / "rows.csv"
    for seed in (0, 2):
        append_row(path, {"case": "a", "seed": seed})
    assert seeds_left(path, 4, case="a") == [1, 3]
    assert seeds_left(path, 2, case="b") == [0, 1]


def test_a_column_that_the_file_does_not_have_is_refused(tmp_path):
    path = tmp_path / "rows.csv"
    append_row(path, {"case": "a", "seed": 0})
    with pytest.raises(ValueError, match="width"):
        append_row(path, {"case": "a", "seed": 1, "width": 0.1})


def test_tables():
    assert markdown_table(["a", "b"], [["1", "2"]]) == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]
    assert share_and_error(pd.Series([0.8, 1.0])) == "90.0% ± 10.0%"
