"""The density of a group's offset on a fine grid, for tests of integrals over offsets and of draws of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from disaggregate.model.likelihood import _group_at
from disaggregate.model.populations import variance_ratio
from disaggregate.model.reports import NOTHING, Reports

# Log densities so far below the largest one have no weight.
NEGLIGIBLE = 45.0


class GridDensity(NamedTuple):
    """Offsets on a grid, the log density there, chances that add up to 1, and the logarithm of the integral."""

    offsets: np.ndarray
    log_density: np.ndarray
    chance: np.ndarray
    log_integral: float

    def below(self, offset: float) -> float:
        """Probability of an offset below this one."""
        return float(np.interp(offset, self.offsets, self._cumulated()))

    def quantile(self, chance: np.ndarray) -> np.ndarray:
        """Offsets with these chances below them."""
        cumulated = self._cumulated()
        rising = np.concatenate([[True], np.diff(cumulated) > 0.0])
        return np.interp(chance, cumulated[rising], self.offsets[rising])

    def _cumulated(self) -> np.ndarray:
        pairs = 0.5 * (self.chance[1:] + self.chance[:-1])
        return np.concatenate([[0.0], np.cumsum(pairs)]) / pairs.sum()


def likelihoods_by_offset(
    reports: Reports, rung: int, individual: np.ndarray, error: float
) -> dict[int, tuple[Callable[[float], float], float]]:
    """Log likelihood of what each group reports as a function of its offset, and the power of its integral."""
    ratio = variance_ratio(reports, individual, error) if reports.is_sample.any() else None
    found: dict[int, tuple[Callable[[float], float], float]] = {}
    for j, is_sample in enumerate(reports.is_sample.tolist()):
        if reports.law[j] == NOTHING and not is_sample:
            continue
        at = partial(_group_at, reports, 0 if is_sample else rung, j, individual, ratio, 1.0)
        found[j] = partial(_value, at), float(reports.powers[rung]) if is_sample else 1.0
    return found


def _value(at: Callable[[float], NamedTuple], offset: float) -> float:
    return at(offset)[0]


def density_on_a_grid(
    likelihood: Callable[[float], float], center: float, deviation: float, n: int = 161
) -> GridDensity:
    """Likelihood times the normal density of the offset, where it is not negligible."""

    def log_density(offsets: np.ndarray) -> np.ndarray:
        standard = -0.5 * ((offsets - center) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2.0 * np.pi)
        return standard + np.array([likelihood(float(offset)) for offset in offsets])

    reach = max(10.0 * deviation, 20.0)
    low, high = center - reach, center + reach
    for _ in range(5):
        grid = np.linspace(low, high, 41)
        values = log_density(grid)
        kept = np.flatnonzero(values > values.max() - NEGLIGIBLE)
        low, high = grid[max(kept[0] - 1, 0)], grid[min(kept[-1] + 1, 40)]
    grid = np.linspace(low, high, n)
    values = log_density(grid)
    total = float(logsumexp(values))
    return GridDensity(grid, values, np.exp(values - total), total + float(np.log(grid[1] - grid[0])))
