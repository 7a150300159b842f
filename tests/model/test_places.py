"""Groups' intercepts integrated out of the likelihood: against fine grids, and differences."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from disaggregate.groups.evidence import AtLeast, Fraction, Unknown
from disaggregate.model.likelihood import log_likelihood_gradient
from disaggregate.model.places import integrate
from disaggregate.model.populations import ShareGradient
from disaggregate.model.reports import NORMAL, Reports, make_reports
from tests.helpers.dense_problems import CASES, grouped, reports_of
from tests.helpers.offset_densities import density_on_a_grid, likelihoods_by_offset

DEVIATIONS = [0.05, 0.3, 1.0]
SLOW = "normal counts"
SLOWER = (SLOW, "more than a few", "small cells")

# Densities as wide as a deviation of 1 are skewed, or flat on one side: eleven nodes do less well there. Evidence
# that cuts them off in the middle, as a bound on a large count does, or that has an edge, leaves a few per cent.
EDGED = ("normal counts", "large cells")


def precision(name: str, deviation: float) -> float:
    """How near the integral comes to the truth, as a logarithm."""
    if name in EDGED:
        return 3e-2 if deviation > 0.3 else 1e-2
    return 5e-3 if deviation > 0.3 else 2e-4


def state_of(name: str, rng: np.random.Generator, n_rungs: int = 3) -> tuple[Reports, np.ndarray, np.ndarray]:
    """Reports, u and the centres of the offsets."""
    data, reports = reports_of(CASES[name], rng, n_rungs)
    return reports, 0.8 * rng.standard_normal(int(data.offsets[-1])), 0.5 * rng.standard_normal(len(data.names))


def by_brute_force(
    reports: Reports, rung: int, individual: np.ndarray, group: np.ndarray, deviation: float, error: float
) -> tuple[float, np.ndarray, float]:
    """Log likelihood, and its gradient in centres and log variance, by moments of each offset on a grid."""
    total, by_group, by_scale = 0.0, np.zeros_like(group), 0.0
    for j, (likelihood, power) in likelihoods_by_offset(reports, rung, individual, error).items():
        found = density_on_a_grid(likelihood, float(group[j]), deviation)
        distance = (found.offsets - group[j]) / deviation
        total += power * found.log_integral
        by_group[j] = power * float(found.chance @ distance) / deviation
        by_scale += 0.5 * power * float(found.chance @ (distance**2 - 1.0))
    return total, by_group, by_scale


def with_deviations(names: Iterable[str]) -> Any:
    """Each case with each deviation; where plain code takes seconds, one stands for the others."""
    cases = [
        pytest.param(name, deviation, marks=[pytest.mark.thorough] if name in SLOWER and deviation != 0.3 else [])
        for name, deviation in product(names, DEVIATIONS)
    ]
    return pytest.mark.parametrize(("name", "deviation"), cases)


@with_deviations(CASES)
def test_integral(name: str, deviation: float, rng: np.random.Generator) -> None:
    reports, individual, group = state_of(name, rng)
    assert_integral(reports, 0, individual, group, deviation, 0.6, precision(name, deviation))


@pytest.mark.parametrize("rung", [1, 2])
@pytest.mark.parametrize("name", [name for name in CASES if name not in EDGED])
def test_integral_on_a_ladder(name: str, rung: int, rng: np.random.Generator) -> None:
    """Evidence over counts comes at its power; of a sample, the integral is raised to it."""
    reports, individual, group = state_of(name, rng)
    assert_integral(reports, rung, individual, group, 0.3, -0.4, 1e-3)


def assert_integral(
    reports: Reports,
    rung: int,
    individual: np.ndarray,
    group: np.ndarray,
    deviation: float,
    error: float,
    tolerance: float,
) -> None:
    found = log_likelihood_gradient(reports, rung, individual, group, deviation, error)
    value, by_group, by_scale = by_brute_force(reports, rung, individual, group, deviation, error)
    assert found.log_likelihood == pytest.approx(value, rel=1e-5, abs=tolerance)
    np.testing.assert_allclose(found.group, by_group, rtol=tolerance, atol=2.0 * tolerance / deviation)
    assert found.scale == pytest.approx(by_scale, rel=tolerance, abs=4.0 * tolerance)


@with_deviations(name for name in CASES if name != SLOW)
def test_gradient(name: str, deviation: float, rng: np.random.Generator) -> None:
    """In u, along some directions; in the centres; in the log variance; and in z."""
    reports, individual, group = state_of(name, rng)
    error, h = 0.6, 1e-4
    tolerance = 0.2 if name in EDGED else 20.0 * precision(name, deviation)
    found = log_likelihood_gradient(reports, 0, individual, group, deviation, error)

    def at(u: float | np.ndarray, c: float | np.ndarray, t: float, z: float) -> float:
        s = deviation * np.exp(0.5 * t)
        return log_likelihood_gradient(reports, 0, individual + u, group + c, s, error + z).log_likelihood

    def slope(*along: float | np.ndarray) -> float:
        return (at(*(h * part for part in along)) - at(*(-h * part for part in along))) / (2.0 * h)

    for _ in range(2):
        direction = rng.standard_normal(len(individual)) / np.sqrt(len(individual))
        own = float(found.individual @ direction)
        assert own == pytest.approx(slope(direction, 0.0, 0.0, 0.0), rel=1e-4, abs=tolerance)
    for j in rng.choice(len(group), 2, replace=False):
        own = np.eye(len(group))[j]
        assert found.group[j] == pytest.approx(slope(0.0, own, 0.0, 0.0), rel=1e-4, abs=tolerance)
    assert found.scale == pytest.approx(slope(0.0, 0.0, 1.0, 0.0), rel=1e-4, abs=tolerance)
    assert found.error == pytest.approx(slope(0.0, 0.0, 0.0, 1.0), rel=1e-4, abs=tolerance)
    assert (found.error != 0.0) == ("samples" in name)


@pytest.mark.parametrize("name", [name for name in CASES if name != SLOW])
def test_a_vanishing_deviation_leaves_the_centres(name: str, rng: np.random.Generator) -> None:
    reports, individual, group = state_of(name, rng)
    narrow = log_likelihood_gradient(reports, 0, individual, group, 1e-5, 0.6)
    fixed = log_likelihood_gradient(reports, 0, individual, group, 0.0, 0.6)
    assert narrow.log_likelihood == pytest.approx(fixed.log_likelihood, rel=1e-6, abs=1e-5)
    assert narrow.scale == pytest.approx(0.0, abs=1e-3)
    scale = 1.0 + np.abs(fixed.individual).max()
    np.testing.assert_allclose(narrow.individual / scale, fixed.individual / scale, atol=1e-4)
    np.testing.assert_allclose(narrow.group / scale, fixed.group / scale, atol=1e-4)


def test_groups_that_report_nothing_tell_nothing_of_the_deviation(rng: np.random.Generator) -> None:
    reports = make_reports(grouped([Unknown(), Fraction(0.4), Unknown()], [5, 6, 4]))
    individual, group = rng.standard_normal(15), rng.standard_normal(3)
    found = log_likelihood_gradient(reports, 0, individual, group, 0.7, 0.0)
    alone = make_reports(grouped([Fraction(0.4)], [6]))
    own = log_likelihood_gradient(alone, 0, individual[5:11], group[1:2], 0.7, 0.0)
    assert found.log_likelihood == pytest.approx(own.log_likelihood, rel=1e-12)
    assert found.scale == pytest.approx(own.scale, rel=1e-12)
    assert found.group[[0, 2]].tolist() == [0.0, 0.0]


def test_only_flat_evidence_on_normal_counts_is_a_bound() -> None:
    evidence = [AtLeast(100), Fraction(0.3, 50.0), Unknown(), AtLeast(2), Fraction(0.0)]
    reports = make_reports(grouped(evidence, [560, 560, 560, 9, 560]))
    assert reports.law.tolist().count(NORMAL) == 4
    assert reports.is_bound.tolist() == [1, 0, 1, 0, 0]


@pytest.mark.parametrize("reported", [0.002, 0.1, 3.0])
@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_a_normal_likelihood_is_integrated_exactly(deviation: float, reported: float) -> None:
    """Precisions and means are known by formulas."""

    def at(mean: float, offset: float) -> ShareGradient:
        value = -0.5 * ((offset - mean) / reported) ** 2 - np.log(reported) - 0.5 * np.log(2.0 * np.pi)
        return ShareGradient(value, np.zeros(0), np.zeros(0), 0.0, 0.0)

    for mean in (-0.8, 0.1, 1.5):
        nodes = integrate(partial(at, mean), 0.2, deviation)
        variance = reported**2 + deviation**2
        exact = -0.5 * (mean - 0.2) ** 2 / variance - 0.5 * np.log(2.0 * np.pi * variance)
        assert nodes.log_integral == pytest.approx(exact, rel=1e-6, abs=1e-6)
        after = (mean * deviation**2 + 0.2 * reported**2) / variance
        width = reported * deviation / np.sqrt(variance)
        assert nodes.probability @ nodes.offsets == pytest.approx(after, abs=1e-5 * width)
        second = nodes.probability @ (nodes.offsets - after) ** 2
        assert second == pytest.approx(width**2, rel=1e-5)


def test_offsets_kept_at_their_centres_are_another_likelihood(rng: np.random.Generator) -> None:
    """What the tests above would say if nothing were integrated out."""
    reports, individual, group = state_of("samples", rng)
    wrong = log_likelihood_gradient(reports, 0, individual, group, 0.0, 0.6).log_likelihood
    right = by_brute_force(reports, 0, individual, group, 0.3, 0.6)[0]
    assert abs(wrong - right) > 1.0
