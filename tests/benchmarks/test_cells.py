import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks import cells
from benchmarks.cells import cost_table, crowd_of, in_standard_errors, report, same_table, small_crowd, spread_out

SCALE = {"groups": 200, "cells": 100, "people": 1_000_000}


def test_both_forms_hold_the_same_people():
    crowd = small_crowd()
    arguments = crowd.fit_arguments("rows")
    assert len(arguments["X"]) == len(arguments["groups"]) == crowd.counts.sum()
    assert arguments["counts"].tolist() == [1] * crowd.counts.sum()
    assert_allclose(arguments["X"].mean(axis=0), np.average(crowd.X, axis=0, weights=crowd.counts))
    assert crowd.fit_arguments("cells")["counts"] is crowd.counts
    assert set(crowd.counts) == {1, 2, 3, 4, 5}
    first = crowd.groups == 0
    assert crowd.shares[0] == pytest.approx(crowd.positives[first].sum() / crowd.counts[first].sum())


def test_people_are_spread_over_all_cells():
    counts = spread_out(5_000, 100)
    assert (counts.sum(), len(counts), counts.min() >= 1) == (5_000, 100, True)
    assert spread_out(100, 100).tolist() == [1] * 100
    assert (crowd_of(counts, 10, 3).positives <= counts).all()


def test_differences_are_reported_in_standard_errors(rng):
    same = in_standard_errors(rng.standard_normal((40, 3000)), rng.standard_normal((40, 3000)))
    assert np.sqrt(np.mean(same**2)) == pytest.approx(1.0, abs=0.1)
    other = in_standard_errors(rng.standard_normal((50, 200)) + 1.0, rng.standard_normal((50, 200)))
    assert other.mean() == pytest.approx(5.0, rel=0.1)
    assert in_standard_errors(np.ones((3, 2)), np.array([[1.0, 0.5]] * 3)).tolist() == [0.0, np.inf]


def test_fits_are_compared_by_form(rng):
    names = [f"{name}_{cell}" for name in cells.QUANTITIES for cell in range(2)]
    rows = [
        {"reports": kind, "form": form, "seed": seed}
        | {name: (form == "rows") + 0.1 * rng.standard_normal() for name in names}
        for kind, n_fits in (("shares", 10), ("populations", 1))
        for form in cells.FORMS
        for seed in range(n_fits)
    ]
    lines = same_table(pd.DataFrame(rows))
    assert len(lines) == 5  # one fit is not enough for standard errors
    assert [line.split(" | ")[1] for line in lines[2:]] == ["prediction", "lower end", "upper end"]
    assert all(float(line.split(" | ")[4]) > 10.0 for line in lines[2:])


def test_cost_is_a_ratio():
    rows = pd.DataFrame(
        {"cells_seconds": [3.0, 4.0], "rows_seconds": 2.0, "cells_memory": [0.5, 0.5], "rows_memory": 0.4}
    )
    lines = cost_table(rows, SCALE)
    assert lines[2] == "| cells | 20,000 | 1,000,000 | 3.5 | 0.5 |"
    assert lines[3] == "| rows | 20,000 | 20,000 | 2 | 0.4 |"
    assert lines[4] == "| ratio |  | 50 | 1.75 (1.50 to 2.00) | 1.25 (1.25 to 1.25) |"
    assert "Medians over 2 repeats" in report(pd.DataFrame({"reports": [], "form": []}), rows, SCALE)


def test_a_fit_answers_for_every_cell(monkeypatch):
    class Model:
        def predict_proba(self, X, groups):
            return np.column_stack([np.full(len(X), 0.7), np.full(len(X), 0.3)])

        def predict_interval(self, X, level, groups):
            return np.tile([0.2, 0.4], (len(X), 1))

    asked = []
    monkeypatch.setattr(cells, "quiet_fit", lambda settings, reports, _: asked.append(settings) or Model())
    found = [cells.answers(3, form, "shares") for form in cells.FORMS]
    assert len(found[0]) == 3 * len(small_crowd().counts)
    assert (found[0]["prediction_0"], found[0]["low_31"], found[0]["high_31"]) == (0.3, 0.2, 0.4)
    assert [settings["random_state"] for settings in asked] == [6, 7]
