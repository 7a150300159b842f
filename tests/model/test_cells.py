"""Cells whose rates lie around what features and place say: their law, and its compiled twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import betabinom

from disaggregate.groups.evidence import Count, Fraction, NoisyCount
from disaggregate.model.cells import correlation_of, inflation, log_all, skew_inflation
from disaggregate.model.likelihood import expected_labels, log_likelihood_gradient
from disaggregate.model.reports import has_alike_cells, make_reports, with_correlation
from disaggregate.sampler.dense.target import Query
from disaggregate.sampler.dense.whole import WholeLikelihood
from tests.helpers.dense_problems import PlainLikelihood, columns_for, grouped
from tests.parity.test_dense_likelihood import assert_same_gradient


def test_moments_are_those_of_the_beta_binomial_law() -> None:
    people, p, rho = np.array([1.0, 2.0, 40.0]), 0.3, float(correlation_of(np.array(-3.0)))
    law = betabinom(people.astype(int), p * (1.0 / rho - 1.0), (1.0 - p) * (1.0 / rho - 1.0))
    _, variance, skewness = law.stats("mvs")
    np.testing.assert_allclose(people * p * (1.0 - p) * inflation(people, rho), variance)
    third = people * p * (1.0 - p) * (1.0 - 2.0 * p) * skew_inflation(people, rho)
    np.testing.assert_allclose(third, skewness * variance**1.5)


@pytest.mark.parametrize("f", [-1.5, 0.4])
def test_all_of_a_cell(f: float) -> None:
    rho, people, step = 0.04, np.array([7.0, 300.0]), 1e-5
    precision = 1.0 / rho - 1.0
    others = [np.arange(n) for n in people]  # of n others who were all positive, the next one is, too
    expected = [np.log((precision * ndtr(f) + before) / (precision + before)).sum() for before in others]
    scores = np.full(2, f)
    value, by_score, by_correlation = log_all(scores, people, rho)
    assert value == pytest.approx(sum(expected), rel=1e-9)
    up, down = (log_all(scores + change, people, rho)[0] for change in (step, -step))
    assert by_score.sum() == pytest.approx((up - down) / (2.0 * step), rel=1e-5)
    up, down = (log_all(scores, people, rho + change)[0] for change in (step, -step))
    assert by_correlation == pytest.approx((up - down) / (2.0 * step), rel=1e-4)
    assert np.isfinite(log_all(np.array([-60.0]), people[:1], rho)[0])


def problem(rng: np.random.Generator) -> tuple[PlainLikelihood, WholeLikelihood, Query]:
    """Cells of hundreds, one group of single people, and groups whose people are all alike."""
    evidence = [Count(310), Fraction(0.4, 200.0), NoisyCount(500.0, 9.0), Fraction(1.0), Count(0), Count(3)]
    counts = np.concatenate([rng.integers(200, 700, 17), np.ones(6, dtype=np.int64)])
    data = grouped(evidence, [3, 5, 2, 4, 3, 6], None, counts)
    reports, columns = make_reports(data), columns_for(data, rng)
    assert has_alike_cells(reports)
    where = Query(
        0.5 * rng.standard_normal((2, 4)),
        0.3 * rng.standard_normal((2, 6)),
        np.array([0.3, 0.15]),
        np.zeros(2),
        np.zeros(2),
        np.array([0.03, 0.005]),
    )
    return PlainLikelihood(columns, reports), WholeLikelihood(columns, reports), where


def test_the_compiled_twin_agrees(rng: np.random.Generator) -> None:
    plain, fast, where = problem(rng)
    rungs = np.zeros(2, dtype=np.int64)
    one, other = plain.gradient(where, rungs), fast.gradient(where, rungs)
    assert_same_gradient(one, other, 3e-3)
    assert np.all(np.asarray(one.correlation) != 0.0)
    np.testing.assert_allclose(fast.table(where)[:, 0], other.log_likelihood, rtol=1e-9)


def test_gradient_in_the_correlation(rng: np.random.Generator) -> None:
    _, fast, where = problem(rng)
    assert where.correlation is not None
    rungs, step = np.zeros(2, dtype=np.int64), 1e-3 * where.correlation
    up, down = (fast.table(where._replace(correlation=where.correlation + h))[:, 0] for h in (step, -step))
    found = fast.gradient(where, rungs).correlation
    np.testing.assert_allclose(found, (up - down) / (2.0 * step), rtol=2e-3)


def test_expected_labels_follow_the_beta_binomial_law() -> None:
    """Of two cells with a known total, by enumeration; without cells being alike they would be far off."""
    people, rho = np.array([400, 300]), 0.02
    data = grouped([Count(400)], [2], None, people)
    reports, scores = with_correlation(make_reports(data), rho), np.array([0.5, -0.4])
    precision = 1.0 / rho - 1.0
    laws = [betabinom(n, precision * ndtr(f), precision * ndtr(-f)) for n, f in zip(people, scores, strict=True)]
    first = np.arange(100, 401)
    chance = laws[0].pmf(first) * laws[1].pmf(400 - first)
    exact = np.array([first @ chance, (400 - first) @ chance]) / chance.sum() / people
    found = expected_labels(reports, scores, np.zeros(1), 0.0).labels
    np.testing.assert_allclose(found, exact, atol=5e-3)
    without = expected_labels(make_reports(data), scores, np.zeros(1), 0.0).labels
    assert np.abs(without - exact).max() > 5e-3
    value = log_likelihood_gradient(reports, 0, scores, np.zeros(1), 0.0, 0.0).log_likelihood
    assert value == pytest.approx(np.log(chance.sum()), abs=0.05)
