"""Offsets that the compiled code draws follow their exact density given the reports."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from disaggregate.groups.evidence import Population
from disaggregate.model.reports import make_reports
from disaggregate.sampler.dense.target import Query
from disaggregate.sampler.dense.whole import WholeLikelihood
from tests.helpers.dense_problems import CASES, columns_for, grouped, reports_of
from tests.helpers.offset_densities import density_on_a_grid, likelihoods_by_offset

CHANCES = (np.arange(60) + 0.5) / 60.0
EDGED = ("normal counts", "large cells")
SIZES = (None, 100, None)


def drawn_at(name: str, deviation: float, rng: np.random.Generator) -> tuple[WholeLikelihood, Query, np.ndarray]:
    """The offsets drawn from a grid of normal noise, shape (n_chances, n_groups)."""
    data, reports = reports_of(CASES[name], rng)
    likelihood = WholeLikelihood(columns_for(data, rng), reports)
    n, n_groups = len(CHANCES), len(data.names)
    error = rng.standard_normal() if reports.is_sample.any() else 0.0
    where = Query(
        np.tile(0.4 * rng.standard_normal(4), (n, 1)),
        np.tile(0.4 * rng.standard_normal(n_groups), (n, 1)),
        np.full(n, deviation),
        np.full(n, error),
    )
    noise = np.tile(ndtri(CHANCES)[:, None], (1, n_groups))
    return likelihood, where, likelihood.add_expected(where, noise, np.zeros((n, 0)), np.zeros((n, 0)))


def exact_chances(likelihood: WholeLikelihood, where: Query, drawn: np.ndarray) -> np.ndarray:
    """Probability of an offset below each that was drawn, given the reports."""
    individual, centers = where.weights[0] @ likelihood.columns, where.group[0]
    reported = likelihoods_by_offset(likelihood.reports, 0, individual, float(where.error[0]))
    below = ndtr((drawn - centers) / where.deviation[0])
    for j, (at, _) in reported.items():
        density = density_on_a_grid(at, float(centers[j]), float(where.deviation[0]), 401)
        below[:, j] = [density.below(offset) for offset in drawn[:, j]]
    return below


DEVIATIONS = (0.05, 0.3, 1.0)
# The reference takes seconds for counts of hundreds: one deviation stands for the others.
THOROUGH = [("normal counts", 0.05), ("normal counts", 1.0)]
EACH = [
    pytest.param(*case, marks=[pytest.mark.thorough] if case in THOROUGH else [])
    for case in product(CASES, DEVIATIONS)
]


@pytest.mark.parametrize(("name", "deviation"), EACH)
def test_noise_becomes_quantiles(name: str, deviation: float, rng: np.random.Generator) -> None:
    """The distance of Kolmogorov and Smirnov between what is drawn and what should be."""
    likelihood, where, drawn = drawn_at(name, deviation, rng)
    assert np.all(np.diff(drawn, axis=0) > 0.0)
    distance = np.abs(exact_chances(likelihood, where, drawn) - CHANCES[:, None]).max(axis=0)
    assert distance.max() < (0.03 if name in EDGED else 0.01 if deviation < 1.0 else 0.02)


def test_offsets_of_the_prior_would_be_noticed(rng: np.random.Generator) -> None:
    likelihood, where, drawn = drawn_at("every kind", 0.3, rng)
    of_prior = where.group[:1] + 0.3 * ndtri(CHANCES)[:, None]
    distance = np.abs(exact_chances(likelihood, where, of_prior) - CHANCES[:, None]).max(axis=0)
    tells = np.array([j != 2 for j in range(drawn.shape[1])])  # the third group reports nothing
    assert distance[2] < 1e-9
    assert np.median(distance[tells]) > 0.1


def test_extreme_noise_stays_where_the_density_is(rng: np.random.Generator) -> None:
    data, reports = reports_of(CASES["samples and counts"], rng)
    likelihood = WholeLikelihood(columns_for(data, rng), reports)
    where = Query(np.zeros((2, 4)), np.zeros((2, 5)), np.full(2, 0.4), np.zeros(2))
    noise = np.array([[-9.0] * 5, [9.0] * 5])
    low, high = likelihood.add_expected(where, noise, np.zeros((2, 0)), np.zeros((2, 0)))
    assert np.all(low < high)
    assert np.isfinite([low, high]).all()
    assert np.abs([low, high]).max() < 6.0


def test_offsets_are_numbers_at_any_scale(rng: np.random.Generator) -> None:
    """Steep scores, far centres, and deviations from next to nothing to much more than scores differ by."""
    for _ in range(300):
        evidence = [
            Population(float(share), size)
            for share, size in zip(rng.choice([0.0, 0.3, 1.0], 3), SIZES, strict=True)
        ]
        data = grouped(evidence, [4, 1, 5])
        likelihood = WholeLikelihood(columns_for(data, rng), make_reports(data))
        where = Query(
            np.exp(rng.uniform(-3.0, 3.0)) * rng.standard_normal((1, 4)),
            np.exp(rng.uniform(-3.0, 2.0)) * rng.standard_normal((1, 3)),
            np.exp(rng.uniform(-16.0, 3.0, 1)),
            rng.standard_normal(1),
        )
        drawn = likelihood.add_expected(where, rng.standard_normal((1, 3)), np.zeros((1, 0)), np.zeros((1, 0)))
        assert np.isfinite(drawn).all(), where
        for part in likelihood.gradient(where, np.zeros(1, dtype=np.int64)):
            assert np.isfinite(part).all(), where
