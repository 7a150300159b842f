"""The short form of simulation-based calibration; ``benchmarks/calibration.py`` is the long one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.calibration import CASES, LEVELS, chart, fit_one, report, run_case
from disaggregate import GaussianProcess

pytestmark = pytest.mark.full_pilots

N_SETS = 50
QUICK = {"n_chains": 1, "n_draws": 400, "n_burn": 100}
SMALL = {name: replace(case, n_groups=6, size=6) for name, case in CASES.items()}


def covered_and_ranks(name: str, seed: int, n_sets: int, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    rows = pd.DataFrame([fit_one(seed + i, SMALL[name], **QUICK, **settings) for i in range(n_sets)])
    return rows[[f"covered_{level:.0%}" for level in LEVELS]].to_numpy(), rows["mean_rank"].to_numpy()


@pytest.mark.parametrize("name", ["rbf", pytest.param("weighted", marks=pytest.mark.thorough), "sparse"])
def test_intervals_cover_what_they_claim(name: str, seed: int) -> None:
    covered, ranks = covered_and_ranks(name, seed, N_SETS)
    error = covered.std(axis=0, ddof=1) / np.sqrt(N_SETS)
    assert np.all(error < 0.06)
    assert np.all(np.abs(covered.mean(axis=0) - LEVELS) < 4.0 * error)
    assert abs(ranks.mean() - 0.5) < 4.0 * ranks.std(ddof=1) / np.sqrt(N_SETS)


def test_the_wrong_prior_is_caught(seed: int) -> None:
    """A scale that the data were not drawn with: intervals that are far too narrow must not pass."""
    covered, _ = covered_and_ranks("rbf", seed, 30, prior=GaussianProcess(mu=200.0, nu=10.0))
    error = covered.std(axis=0, ddof=1) / np.sqrt(len(covered))
    assert covered.mean(axis=0)[1] < LEVELS[1] - 4.0 * error[1]


def test_the_command_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "calibration.csv"
    asked = []

    def fit(seed: int, case: object) -> dict[str, float]:
        asked.append(seed)
        return {"covered_50%": 0.5, "covered_90%": 0.9, "rank": (seed % 10) / 10.0 + 0.05, "mean_rank": 0.5}

    monkeypatch.setattr("benchmarks.calibration.fit_one", fit)
    run_case("rbf", 20, path)
    run_case("rbf", 30, path)
    assert asked == list(range(30))
    rows = pd.read_csv(path)
    assert "| Gaussian kernel | 30 | 50.0% ± 0.0% | 90.0% ± 0.0% | p = 1.00 |" in report(rows)
    chart(rows, path.with_suffix(".png"))
    assert path.with_suffix(".png").stat().st_size > 1000
