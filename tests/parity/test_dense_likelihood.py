"""The compiled likelihood, expectations and information agree with their plain NumPy twins."""

from __future__ import annotations

import math
from collections.abc import Callable

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
from disaggregate.sampler.dense.information import information_of
from disaggregate.sampler.dense.kernels import log_likelihood_by_draw
from disaggregate.sampler.dense.target import LikelihoodGradient, Query
from disaggregate.sampler.dense.whole import WholeLikelihood
from tests.helpers.dense_problems import CASES, PlainLikelihood, columns_for, grouped, reports_of
from tests.helpers.offset_densities import density_on_a_grid, likelihoods_by_offset

# Pooled means are interpolated in the groups' offsets, to about this relative precision.
INTERPOLATED = 1e-6


# With intercepts, both twins lay a few nodes around the most probable ones, a little differently.
LAID_APART = 3e-4


def tolerance(name: str) -> float:
    return 100.0 * INTERPOLATED if "samples" in name else 1e-9


def state_of(
    name: str, n_rungs: int, rng: np.random.Generator, spread: float = 1.0, deviation: float = 0.0
) -> tuple[PlainLikelihood, WholeLikelihood, Query, np.ndarray]:
    """Both likelihoods of a case, and where some replicas are, with their rungs."""
    data, reports = reports_of(CASES[name], rng, n_rungs)
    columns = columns_for(data, rng)
    n = 2 * n_rungs
    where = Query(
        spread * 0.5 * rng.standard_normal((n, 4)),
        spread * 0.5 * rng.standard_normal((n, len(data.names))),
        np.full(n, deviation),
        rng.standard_normal(n) if reports.is_sample.any() else np.zeros(n),
    )
    return PlainLikelihood(columns, reports), WholeLikelihood(columns, reports), where, np.arange(n) % n_rungs


def assert_same_gradient(one: LikelihoodGradient, other: LikelihoodGradient, atol: float) -> None:
    for field, mine, theirs in zip(one._fields, one, other, strict=True):
        scale = 1.0 + np.abs(mine).max()
        np.testing.assert_allclose(theirs / scale, mine / scale, atol=atol, err_msg=field)


@pytest.mark.parametrize("n_rungs", [1, 4])
@pytest.mark.parametrize("name", CASES)
def test_gradient(name: str, n_rungs: int, rng: np.random.Generator) -> None:
    plain, fast, where, rungs = state_of(name, n_rungs, rng)
    assert_same_gradient(plain.gradient(where, rungs), fast.gradient(where, rungs), tolerance(name))


@pytest.mark.parametrize("deviation", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("name", [name for name in CASES if name != "normal counts"])
def test_gradient_with_intercepts(name: str, deviation: float, rng: np.random.Generator) -> None:
    plain, fast, where, rungs = state_of(name, 1, rng, deviation=deviation)
    one, other = plain.gradient(where, rungs), fast.gradient(where, rungs)
    assert_same_gradient(one, other, laid_apart(name, deviation))
    assert np.all(one.scale != 0.0)


@pytest.mark.parametrize("name", [name for name in CASES if name != "normal counts"])
def test_gradient_with_intercepts_on_a_ladder(name: str, rng: np.random.Generator) -> None:
    plain, fast, where, rungs = state_of(name, 3, rng, deviation=0.3)
    assert_same_gradient(plain.gradient(where, rungs), fast.gradient(where, rungs), laid_apart(name, 1.0))


def laid_apart(name: str, deviation: float) -> float:
    """Where a density has an edge or a flat side, it matters more where the nodes are."""
    if name == "large cells":
        return 3e-2
    return 5e-3 if deviation > 0.3 else LAID_APART


@pytest.mark.parametrize("name", [name for name in CASES if "samples" not in name])
def test_gradient_far_away(name: str, rng: np.random.Generator) -> None:
    """Where probabilities underflow, logarithms take over."""
    plain, fast, where, rungs = state_of(name, 1, rng, spread=25.0)
    one, other = plain.gradient(where, rungs), fast.gradient(where, rungs)
    assert one.log_likelihood.min() < -300.0
    np.testing.assert_allclose(other.log_likelihood, one.log_likelihood, rtol=1e-7)
    scale = 1.0 + np.abs(one.columns).max()
    np.testing.assert_allclose(other.columns / scale, one.columns / scale, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_table(name: str, rng: np.random.Generator) -> None:
    plain, fast, where, rungs = state_of(name, 4, rng)
    one, other = plain.table(where), fast.table(where)
    np.testing.assert_allclose(other, one, rtol=tolerance(name), atol=10.0 * tolerance(name))
    own = fast.gradient(where, rungs).log_likelihood
    np.testing.assert_allclose(other[np.arange(len(own)), rungs], own, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("deviation", [0.05, 0.7])
@pytest.mark.parametrize("name", CASES)
def test_table_with_intercepts(name: str, deviation: float, rng: np.random.Generator) -> None:
    """Its columns are the log likelihoods that go with the gradients, to the last digits."""
    _, fast, where, _ = state_of(name, 4, rng, deviation=deviation)
    table = fast.table(where)
    for rung in range(4):
        own = fast.gradient(where, np.full(len(table), rung)).log_likelihood
        np.testing.assert_allclose(table[:, rung], own, rtol=1e-9, atol=1e-9)
    if name.startswith("samples") and "counts" not in name:
        assert np.all(table[:, -1] == 0.0)


@pytest.mark.parametrize("deviation", [0.0, 0.4])
@pytest.mark.parametrize("name", CASES)
def test_expected_labels_and_shares(name: str, deviation: float, rng: np.random.Generator) -> None:
    """Of the offsets that were drawn."""
    plain, fast, where, _ = state_of(name, 1, rng, deviation=deviation)
    reports = plain.reports
    n, n_groups = where.group.shape
    n_rows, n_tallies = plain.columns.shape[1], int(reports.tally_starts[-1])
    labels, tallies = np.ones((n, n_rows)), np.zeros((n, n_tallies))
    drawn = fast.add_expected(where, rng.standard_normal((n, n_groups)), labels, tallies)
    assert np.all((drawn == where.group) == (deviation == 0.0))
    for replica, (own, offsets, z) in enumerate(zip(where.weights, drawn, where.error, strict=True)):
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
    found = information_of(reports, rung, columns, individual, group, 0.0, 0.0)
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
    found = information_of(nothing_else, 0, columns, weights @ columns, group, 0.0, z)
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


@pytest.mark.parametrize("deviation", [0.1, 0.6])
@pytest.mark.parametrize("name", ["fractions", "every kind", "samples of towns and counts"])
def test_information_with_intercepts(name: str, deviation: float, rng: np.random.Generator) -> None:
    """That given the most probable offsets, with normal offsets summed out: a Schur complement, group by group."""
    _, fast, where, rungs = state_of(name, 1, rng, deviation=deviation)
    for found, (weights, group, s, z) in zip(
        fast.information(where, rungs), zip(*where[:4], strict=True), strict=True
    ):
        individual = weights @ fast.columns
        centers = np.array(
            [
                most_probable(
                    likelihoods_by_offset(fast.reports, 0, individual, float(z)).get(j), center, float(s)
                )
                for j, center in enumerate(group.tolist())
            ]
        )
        given = information_of(fast.reports, 0, fast.columns, individual, centers, 0.0, float(z))
        n = len(given.columns)
        joint = np.zeros((n + 2 * len(group), n + 2 * len(group)))  # weights and z, centres, intercepts
        at = [slice(0, n), np.arange(n, n + len(group)), np.arange(n + len(group), n + 2 * len(group))]
        joint[at[0], at[0]] = given.columns
        for k in (1, 2):
            joint[at[0], at[k]] = given.cross
            joint[at[k], at[0]] = given.cross.T
            joint[at[k], at[k]] = given.group
        joint[at[1], at[2]] = joint[at[2], at[1]] = given.group
        joint[at[2], at[2]] += 1.0 / s**2
        kept, out = slice(0, n + len(group)), at[2]
        crossed = joint[kept, out]
        left = joint[kept, kept] - crossed @ np.linalg.solve(joint[np.ix_(out, out)], crossed.T)
        scale = np.abs(left).max()
        np.testing.assert_allclose(found.columns / scale, left[:n, :n] / scale, atol=2e-2)
        np.testing.assert_allclose(found.cross / scale, left[:n, n:] / scale, atol=2e-2)
        np.testing.assert_allclose(found.group / scale, np.diag(left)[n:] / scale, atol=2e-2)
        np.testing.assert_allclose(left[n:, n:], np.diag(np.diag(left)[n:]), atol=1e-9 * scale)
        known = s**2 * given.group
        assert found.scale == pytest.approx(0.5 * np.sum((known / (1.0 + known)) ** 2), rel=2e-2)


def most_probable(
    reported: tuple[Callable[[float], float], float] | None, center: float, deviation: float
) -> float:
    if reported is None:
        return center
    found = density_on_a_grid(reported[0], center, deviation)
    return float(found.offsets[np.argmax(found.log_density)])


@pytest.mark.parametrize("name", CASES)
def test_log_likelihood_by_draw(name: str, rng: np.random.Generator) -> None:
    plain, _, where, rungs = state_of(name, 1, rng)
    found = log_likelihood_by_draw(
        plain.reports, where.weights @ plain.columns, where.group, np.zeros_like(where.group)
    )
    without_error = plain.gradient(where._replace(error=np.zeros(len(rungs))), rungs)
    np.testing.assert_allclose(
        found.sum(axis=1), without_error.log_likelihood, rtol=tolerance(name), atol=10.0 * tolerance(name)
    )


@pytest.mark.parametrize("name", CASES)
def test_log_likelihood_by_draw_with_intercepts_of_some_groups(name: str, rng: np.random.Generator) -> None:
    """As where some groups are new, and others were in the fit."""
    plain, fast, where, _ = state_of(name, 1, rng)
    individual = where.weights @ plain.columns
    deviation = np.where(rng.random(where.group.shape) < 0.5, 0.0, 0.5)
    deviation[:, 0], deviation[:, 1] = 0.5, 0.0
    mixed, known, new = (
        log_likelihood_by_draw(plain.reports, individual, where.group, own)
        for own in (deviation, np.zeros_like(deviation), np.full_like(deviation, 0.5))
    )
    np.testing.assert_allclose(mixed, np.where(deviation > 0.0, new, known), rtol=3e-4, atol=2e-3)
    total = fast.gradient(
        where._replace(deviation=np.full(len(mixed), 0.5), error=np.zeros(len(mixed))), np.zeros(len(mixed), int)
    )
    np.testing.assert_allclose(new.sum(axis=1), total.log_likelihood, rtol=1e-9)


def test_log_likelihood_by_draw_is_by_group(rng: np.random.Generator) -> None:
    reports = make_reports(
        grouped([Fraction(0.3), Unknown(), Count(1), Population(0.4), Population(0.6)], [5] * 5)
    )
    individual, group = rng.standard_normal((2, 25)), rng.standard_normal((2, 5))
    for deviation in np.zeros((2, 5)), np.full((2, 5), 0.3):
        found = log_likelihood_by_draw(reports, individual, group, deviation)
        assert np.all(found[:, 1] == 0.0)
        for j in (0, 2):
            moved = group.copy()
            moved[:, j] += 0.5
            changed = log_likelihood_by_draw(reports, individual, moved, deviation) != found
            assert changed.any(axis=0).tolist() == [k == j for k in range(5)]


@pytest.mark.parametrize("deviation", [0.0, 0.3])
def test_evidence_that_is_too_far_away_is_no_evidence_but_a_number(deviation: float) -> None:
    """Exactly 600 of 2000, where all are positive but for one in 1e19."""
    reports = make_reports(grouped([Fraction(0.3, np.inf), Fraction(0.5, np.inf)], [2000, 8]))
    found = log_likelihood_by_draw(reports, np.full((1, 2008), 9.0), np.zeros((1, 2)), np.full((1, 2), deviation))
    assert not np.isnan(found).any()
    assert found[0, 0] < -100.0


def test_labels_that_scores_all_but_exclude(rng: np.random.Generator) -> None:
    """One of nine is positive though all scores are far below zero: the likeliest of them is."""
    reports = make_reports(grouped([Count(1)], [9]))
    individual = np.full(9, -45.0)
    individual[4] = -40.0
    plain = expected_labels(reports, individual, np.zeros(1), 0.0).labels
    labels, tallies = np.zeros((1, 9)), np.zeros((1, 10))
    fast = WholeLikelihood(individual[None], reports)
    where = Query(np.ones((1, 1)), np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    fast.add_expected(where, np.zeros((1, 1)), labels, tallies)
    assert tallies[0, 1] == pytest.approx(1.0)
    value = log_likelihood_gradient(reports, 0, individual, np.zeros(1), 0.0, 0.0).log_likelihood
    assert value == pytest.approx(float(log_ndtr(-40.0)), rel=1e-9)
    assert np.all((labels >= 0.0) & (labels <= 1.0))
    assert np.all((plain >= 0.0) & (plain <= 1.0))
