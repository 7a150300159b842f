"""The short form of simulation-based calibration; ``benchmarks/calibration.py`` is the long one."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.calibration import LEVELS, coverage

N_SETS = 60


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_intervals_cover_what_they_claim(kernel: str, seed: int) -> None:
    results = [
        coverage(seed + i, kernel, n_groups=6, size=6, n_chains=1, n_draws=400, n_burn=100) for i in range(N_SETS)
    ]
    covered = np.array([one for one, _ in results])
    error = covered.std(axis=0, ddof=1) / np.sqrt(N_SETS)
    assert np.all(error < 0.06)
    assert np.all(np.abs(covered.mean(axis=0) - LEVELS) < 4.0 * error)
    ranks = np.array([ranks.mean() for _, ranks in results])
    assert abs(ranks.mean() - 0.5) < 4.0 * ranks.std(ddof=1) / np.sqrt(N_SETS)


def test_the_wrong_prior_is_caught(seed: int) -> None:
    """A scale that the data were not drawn with: intervals that are far too narrow must not pass."""
    covered = np.array(
        [
            coverage(seed + i, "rbf", 6, 6, n_chains=1, n_draws=200, n_burn=100, mu=200.0, nu=10.0)[0]
            for i in range(30)
        ]
    )
    error = covered.std(axis=0, ddof=1) / np.sqrt(len(covered))
    assert covered.mean(axis=0)[1] < LEVELS[1] - 4.0 * error[1]
