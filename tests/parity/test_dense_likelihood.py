"""The compiled likelihood, expectations and information agree with their plain NumPy twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from disaggregate.groups.evidence import Count, Fraction, Population, Unknown
from disaggregate.model.likelihood import (
    _normal_given,
    expected_labels,
    is_forced,
    log_likelihood_gradient,
    slices_of,
)
from disaggregate.model.populations import share_law
from disaggregate.model.reports import EXACT, NOTHING, Reports, make_reports
from disaggregate.sampler.compiled.evidence import evidence_by_draw
from disaggregate.sampler.dense.information import information_of
from disaggregate.sampler.dense.whole import WholeLikelihood
from tests.dense_problems import CASES, PlainLikelihood, columns_for, grouped, reports_of

# Pooled means are interpolated in the groups' offsets, to about this relative precision.
INTERPOLATED = 1e-6


def tolerance(name: str) -> float:
    return 100.0 * INTERPOLATED if "samples" in name else 1e-9


def state_of(
    name: str, n_rungs: int, rng: np.random.Generator, spread: float = 1.0
) -> tuple[PlainLikelihood, WholeLikelihood, list[np.ndarray]]:
    """Both likelihoods of a case, and weights, offsets, errors and rungs of some replicas."""
    data, reports = reports_of(CASES[name], rng, n_rungs)
    columns = columns_for(data, rng)
    n = 2 * n_rungs
    where = [
        spread * 0.5 * rng.standard_normal((n, 4)),
        spread * 0.5 * rng.standard_normal((n, len(data.names))),
        rng.standard_normal(n) if reports.is_sample.any() else np.zeros(n),
        np.arange(n) % n_rungs,
    ]
    return PlainLikelihood(columns, reports), WholeLikelihood(columns, reports), where


@pytest.mark.parametrize("n_rungs", [1, 4])
@pytest.mark.parametrize("name", CASES)
def test_gradient(name: str, n_rungs: int, rng: np.random.Generator) -> None:
    plain, fast, where = state_of(name, n_rungs, rng)
    for field, one, other in zip(
        ("log likelihood", "columns", "group", "error"), plain.gradient(*where), fast.gradient(*where), strict=True
    ):
        scale = 1.0 + np.abs(one).max()
        np.testing.assert_allclose(other / scale, one / scale, atol=tolerance(name), err_msg=field)


@pytest.mark.parametrize("name", [name for name in CASES if "samples" not in name])
def test_gradient_far_away(name: str, rng: np.random.Generator) -> None:
    """Where probabilities underflow, logarithms take over."""
    plain, fast, where = state_of(name, 1, rng, spread=25.0)
    one, other = plain.gradient(*where), fast.gradient(*where)
    assert one.log_likelihood.min() < -300.0
    np.testing.assert_allclose(other.log_likelihood, one.log_likelihood, rtol=1e-7)
    scale = 1.0 + np.abs(one.columns).max()
    np.testing.assert_allclose(other.columns / scale, one.columns / scale, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_table(name: str, rng: np.random.Generator) -> None:
    plain, fast, where = state_of(name, 4, rng)
    one, other = plain.table(*where[:3]), fast.table(*where[:3])
    np.testing.assert_allclose(other, one, rtol=tolerance(name), atol=10.0 * tolerance(name))
    own = fast.gradient(*where).log_likelihood
    np.testing.assert_allclose(other[np.arange(len(own)), where[3]], own, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_expected_labels_and_shares(name: str, rng: np.random.Generator) -> None:
    plain, fast, (weights, group, error, _) = state_of(name, 1, rng)
    reports = plain.reports
    n_rows, n_tallies = plain.columns.shape[1], int(reports.tally_starts[-1])
    labels, tallies = np.ones((len(error), n_rows)), np.zeros((len(error), n_tallies))
    fast.add_expected(weights, group, error, labels, tallies)
    for replica, (own, offsets, z) in enumerate(zip(weights, group, error, strict=True)):
        expected = expected_labels(reports, own @ plain.columns, offsets, float(z))
        np.testing.assert_allclose(labels[replica] - 1.0, expected.labels, atol=max(tolerance(name), 1e-7))
        for j, (values, chances) in enumerate(expected.shares):
            tally = tallies[replica, reports.tally_starts[j] : reports.tally_starts[j + 1]]
            grid = np.linspace(0.0, 1.0, len(tally))
            assert tally.sum() == pytest.approx(1.0, abs=1e-9)
            step = 1.0 / (len(tally) - 1)
            assert grid @ tally == pytest.approx(values @ chances, abs=0.6 * step if len(values) == 3 else 1e-8)
            if len(values) == len(tally):
                np.testing.assert_allclose(tally, chances, atol=1e-8)


def plain_worth(reports: Reports, rung: int, j: int, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of one group's rows, and its information in their scores, as a matrix; by definition."""
    rows, counts = slices_of(reports, j)
    f, units, people = scores[rows], reports.units[rows], reports.counts[rows]
    density = np.exp(-0.5 * f**2) / math.sqrt(2.0 * math.pi)
    slope = units * people * density
    if reports.law[j] == NOTHING:
        return slope, np.zeros((len(f), len(f)))
    if is_forced(reports, rung, j):
        sign = 1.0 if reports.most[rung, j] > 0 else -1.0
        ratio = density / ndtr(sign * f)
        return slope, np.diag(people * ratio * (ratio + sign * f))
    p = ndtr(f)
    mean, variance = float((people * units) @ p), float((people * units**2) @ (p * (1.0 - p)))
    evidence = reports.log_likelihood[rung, counts]
    if reports.law[j] == EXACT:
        law = np.zeros(1)
        for score, unit in zip(np.repeat(f, people), np.repeat(units, people), strict=True):
            none = np.full(unit, -np.inf)
            law = np.logaddexp(
                np.concatenate([law + log_ndtr(-score), none]), np.concatenate([none, law + log_ndtr(score)])
            )
        weight = np.exp(law + evidence - np.max(law + evidence))
        weight /= weight.sum()
        after = weight @ np.arange(len(law)) ** 2 - (weight @ np.arange(len(law))) ** 2
    else:
        after = _normal_given(mean, variance, reports.nodes[counts], evidence).variance
    return slope, max(variance - after, 0.0) / variance**2 * np.outer(slope, slope)


@pytest.mark.parametrize("rung", [0, 1])
@pytest.mark.parametrize("name", [name for name in CASES if "samples" not in name and name != "normal counts"])
def test_information_of_counts(name: str, rung: int, rng: np.random.Generator) -> None:
    data, reports = reports_of(CASES[name], rng, 3)
    columns = columns_for(data, rng)
    individual, group = 0.5 * rng.standard_normal(4) @ columns, 0.3 * rng.standard_normal(len(data.names))
    found = information_of(reports, rung, columns, individual, group, 0.0)
    scores = individual + np.repeat(group, np.diff(reports.offsets))
    total, cross, diagonal = np.zeros((4, 4)), np.zeros((4, len(group))), np.zeros(len(group))
    for j in range(len(group)):
        own = columns[:, slices_of(reports, j)[0]]
        matrix = plain_worth(reports, rung, j, scores)[1]
        total += own @ matrix @ own.T
        cross[:, j] = own @ matrix.sum(axis=1)
        diagonal[j] = matrix.sum()
    np.testing.assert_allclose(found.columns, total, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.cross, cross, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.group, diagonal, rtol=1e-6, atol=1e-7)
    assert diagonal.max() > 0.0


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("samples")])
def test_information_of_samples(name: str, rng: np.random.Generator) -> None:
    """Means and variances of shares, differentiated by differences: each tells as of a normal variable."""
    data, reports = reports_of(CASES[name], rng)
    columns = columns_for(data, rng)
    weights, group, z = 0.4 * rng.standard_normal(4), 0.3 * rng.standard_normal(len(data.names)), 0.5
    own = np.flatnonzero(reports.is_sample)
    nothing_else = reports._replace(law=np.full_like(reports.law, NOTHING))
    found = information_of(nothing_else, 0, columns, weights @ columns, group, z)
    point, h = np.concatenate([weights, [z], group]), 1e-5

    def law(at: np.ndarray) -> np.ndarray:
        share = share_law(reports, at[:4] @ columns, at[5:], float(at[4]))
        return np.array([share.mean[own], share.variance[own]])

    jacobian = np.array([(law(point + h * e) - law(point - h * e)) / (2.0 * h) for e in np.eye(len(point))])
    variance = law(point)[1]
    expected = (jacobian[:, 0] / variance) @ jacobian[:, 0].T
    expected += (0.5 * jacobian[:, 1] / variance**2) @ jacobian[:, 1].T
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found.columns / scale, expected[:5, :5] / scale, atol=1e-6)
    np.testing.assert_allclose(found.group / scale, np.diag(expected)[5:] / scale, atol=1e-6)
    np.testing.assert_allclose(found.cross / scale, expected[:5, 5:] / scale, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_evidence_by_draw(name: str, rng: np.random.Generator) -> None:
    plain, _, (weights, group, _, _) = state_of(name, 1, rng)
    found = evidence_by_draw(plain.reports, weights @ plain.columns, group)
    without_error = plain.gradient(weights, group, np.zeros(len(group)), np.zeros(len(group), dtype=int))
    np.testing.assert_allclose(
        found.sum(axis=1), without_error.log_likelihood, rtol=tolerance(name), atol=10.0 * tolerance(name)
    )


def test_evidence_by_draw_is_by_group(rng: np.random.Generator) -> None:
    reports = make_reports(
        grouped([Fraction(0.3), Unknown(), Count(1), Population(0.4), Population(0.6)], [5] * 5)
    )
    individual, group = rng.standard_normal((2, 25)), rng.standard_normal((2, 5))
    found = evidence_by_draw(reports, individual, group)
    assert np.all(found[:, 1] == 0.0)
    for j in (0, 2):
        moved = group.copy()
        moved[:, j] += 0.5
        changed = evidence_by_draw(reports, individual, moved) != found
        assert changed.any(axis=0).tolist() == [k == j for k in range(5)]


def test_labels_that_scores_all_but_exclude(rng: np.random.Generator) -> None:
    """One of nine is positive though all scores are far below zero: the likeliest of them is."""
    reports = make_reports(grouped([Count(1)], [9]))
    individual = np.full(9, -45.0)
    individual[4] = -40.0
    plain = expected_labels(reports, individual, np.zeros(1), 0.0).labels
    labels, tallies = np.zeros((1, 9)), np.zeros((1, 10))
    fast = WholeLikelihood(individual[None], reports)
    fast.add_expected(np.ones((1, 1)), np.zeros((1, 1)), np.zeros(1), labels, tallies)
    assert tallies[0, 1] == pytest.approx(1.0)
    value = log_likelihood_gradient(reports, 0, individual, np.zeros(1), 0.0).log_likelihood
    assert value == pytest.approx(float(log_ndtr(-40.0)), rel=1e-9)
    assert np.all((labels >= 0.0) & (labels <= 1.0))
    assert np.all((plain >= 0.0) & (plain <= 1.0))
