"""The benchmark of several outcomes: splits, rivals and the table."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.calibration import CASES, simulate
from benchmarks.outcomes import METHODS, OurOutcomes, cells, report, run_one, split_of
from benchmarks.rivals.outcomes import CountNetwork, OutcomeMeanMap


def test_shares_are_those_of_the_groups_of_the_training_rows():
    split = split_of("iris", 4, 0)
    assert split.shares.shape == (30, 3)
    np.testing.assert_allclose(split.shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(split.shares.iloc[0], np.bincount(split.labels[:4], minlength=3) / 4)
    assert len(split.y_test) == 30


@pytest.mark.parametrize("method", [OutcomeMeanMap.name, CountNetwork.name])
def test_rivals_learn_from_shares(method):
    found = run_one(method, split_of("iris", 4, 0))
    assert found["accuracy"] > 0.8
    assert found["log_loss"] < 0.6


def test_the_gradient_of_the_count_network(rng, monkeypatch):
    split, seen = split_of("iris", 4, 0), []

    def look(loss, start, **how):
        _, slope = loss(start)
        for index in (0, 40, len(start) - 1):
            move = np.zeros_like(start)
            move[index] = 1e-5
            seen.append((slope[index], (loss(start + move)[0] - loss(start - move)[0]) / 2e-5))
        return type("Found", (), {"x": start})

    monkeypatch.setattr("benchmarks.rivals.outcomes.minimize", look)
    CountNetwork().fit_one(0.1, split.X, split.shares, split.groups)
    np.testing.assert_allclose(*np.transpose(seen), rtol=1e-4, atol=1e-4)


def test_the_table_counts_the_cells_where_ours_is_first():
    rows = pd.DataFrame(cells(["iris"], [2, 4], 2, list(METHODS)))
    is_ours, is_small = rows["method"] == OurOutcomes.name, rows["size"] == 2
    rows["accuracy"] = np.where(is_ours == is_small, 0.9, 0.7)
    rows["log_loss"] = 1.0 - rows["accuracy"]
    text = report(rows)
    assert text.count("first, or within one standard error of it, in 1 of 2 cells") == 2
    assert "lower than that of one against rest in 1 of 2 cells" in text
    assert "| iris | 2 | 2 | 90 ± 0 | 70 ± 0 |" in text


@pytest.mark.parametrize("name", ["three outcomes", "three outcomes, places"])
def test_three_outcomes_are_drawn_from_the_prior(name, rng):
    data = simulate(rng, CASES[name])
    assert data.probability.shape == (len(data.X), 3)
    np.testing.assert_allclose(data.probability.sum(axis=1), 1.0)
    assert all(abs(sum(report.shares.values()) - 1.0) < 1e-9 for report in data.reports.values())
