"""The share of a population of which rows are a sample: its law, its limits and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from disaggregate.groups.evidence import Evidence, Population
from disaggregate.model import populations
from disaggregate.model.populations import (
    SHARE_ERROR,
    SMOOTHNESS,
    share_gradient,
    share_law,
    variance_ratio,
)
from disaggregate.model.reports import Reports, make_reports
from tests.helpers.dense_problems import CASES, grouped, reports_of

SAMPLES = [name for name in CASES if "samples" in name]


def sampled(evidence: list[Evidence], sizes: list[int], **given: np.ndarray) -> Reports:
    return make_reports(grouped(evidence, sizes, **given))


def own_weight(reports: Reports, individual: np.ndarray, error: float = 0.0) -> np.ndarray:
    """lambda_j, from the formula."""
    found = variance_ratio(reports, individual, error)
    known = found.excess * reports.effective
    return known / (known + found.mean_rows)


def population_gradient(
    reports: Reports, individual: np.ndarray, group: np.ndarray, error: float
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Log density of all shares, and its gradient in u, in the offsets and in z."""
    ratio = variance_ratio(reports, individual, error)
    total, by_excess, by_row, by_group = 0.0, 0.0, np.zeros_like(individual), np.zeros_like(group)
    for j in np.flatnonzero(reports.is_sample).tolist():
        found = share_gradient(reports, j, individual, float(group[j]), ratio)
        total, by_excess = total + found.log_density, by_excess + found.excess
        by_row += found.pooled
        by_row[reports.offsets[j] : reports.offsets[j + 1]] += found.own
        by_group[j] = found.offset
    return total, by_row + by_excess * ratio.gradient, by_group, by_excess * ratio.by_error


@pytest.mark.parametrize("error", [-1.5, 0.0, 0.8])
@pytest.mark.parametrize("name", SAMPLES)
def test_gradient(name: str, error: float, rng: np.random.Generator) -> None:
    data, reports = reports_of(CASES[name], rng)
    individual, group = rng.standard_normal(int(data.offsets[-1])), 0.5 * rng.standard_normal(len(data.names))
    value, by_row, by_group, by_error = population_gradient(reports, individual, group, error)
    h = 1e-5

    def at(u: np.ndarray, o: np.ndarray, z: float) -> float:
        return population_gradient(reports, u, o, z)[0]

    scale = 1.0 + np.abs(by_row).max() + np.abs(by_group).max()
    for found, steps, which in ((by_row, np.eye(len(individual)), 0), (by_group, np.eye(len(group)), 1)):
        slopes = [
            (at(individual + h * e, group, error) - at(individual - h * e, group, error))
            if which == 0
            else (at(individual, group + h * e, error) - at(individual, group - h * e, error))
            for e in steps
        ]
        np.testing.assert_allclose(found / scale, np.array(slopes) / (2.0 * h) / scale, atol=1e-6)
    slope = (at(individual, group, error + h) - at(individual, group, error - h)) / (2.0 * h)
    assert by_error == pytest.approx(slope, rel=1e-5, abs=1e-6)
    assert np.isfinite(value)


@pytest.mark.parametrize("name", SAMPLES)
def test_likelihood_is_normal_with_the_law_of_the_share(name: str, rng: np.random.Generator) -> None:
    data, reports = reports_of(CASES[name], rng)
    individual, group = rng.standard_normal(int(data.offsets[-1])), 0.5 * rng.standard_normal(len(data.names))
    law = share_law(reports, individual, group, 0.4)
    own = reports.is_sample > 0
    assert np.isnan(law.mean[~own]).all()
    error = (reports.share - law.mean)[own]
    expected = -0.5 * error**2 / law.variance[own] - 0.5 * np.log(2.0 * np.pi * law.variance[own])
    assert population_gradient(reports, individual, group, 0.4)[0] == pytest.approx(expected.sum(), rel=1e-12)


def test_law_by_the_formula(rng: np.random.Generator) -> None:
    """Everything of the module's introduction, written out once more."""
    sizes, shares = [7, 12, 5, 9], [0.4, 0.5, 0.3, 0.6]
    people = [None, 30, 400, 9]
    reports = sampled([Population(m, s) for m, s in zip(shares, people, strict=True)], sizes)
    individual, group, z = rng.standard_normal(33), 0.4 * rng.standard_normal(4), 0.7
    rows = np.split(individual, np.cumsum(sizes)[:-1])
    n = np.array(sizes, dtype=float)
    p = [ndtr(own) for own in rows]
    means, grand = np.array([own.mean() for own in p]), float(ndtr(individual).mean())
    between = float(n @ (means - grand) ** 2) / 3.0
    within = sum(((own - own.mean()) ** 2).sum() for own in p) / (33.0 - 4.0)
    ratio = between / within * np.exp(z * np.sqrt(2.0 / 3.0 + 2.0 / 29.0)) - 1.0
    r = 0.5 * (ratio + np.hypot(ratio, SMOOTHNESS))
    n_0 = (33.0 - (n**2).sum() / 33.0) / 3.0
    found = share_law(reports, individual, group, z)
    for j in range(4):
        weight = r * n[j] / (r * n[j] + n_0)
        own, pool = ndtr(rows[j] + group[j]), ndtr(individual + group[j])
        blend = weight * own.mean() + (1.0 - weight) * pool.mean()
        square = weight * (own**2).mean() + (1.0 - weight) * (pool**2).mean()
        size = np.inf if people[j] is None else float(people[j])
        seen = n[j] / size
        mean = seen * own.mean() + (1.0 - seen) * blend
        doubt = (1.0 - seen) ** 2 * weight / (n[j] + weight) * (square - blend**2)
        assert found.mean[j] == pytest.approx(mean, rel=1e-12)
        assert found.variance[j] == pytest.approx(doubt + mean * (1.0 - mean) / size + SHARE_ERROR**2, rel=1e-10)


def test_many_rows_show_their_own_composition(rng: np.random.Generator) -> None:
    sizes = [2000, 2000, 2000]
    reports = sampled([Population(0.5)] * 3, sizes)
    levels = np.array([-0.5, 0.0, 0.5])
    individual = rng.standard_normal(6000) + np.repeat(levels, sizes)
    law = share_law(reports, individual, np.zeros(3), 0.0)
    own = ndtr(individual).reshape(3, -1).mean(axis=1)
    np.testing.assert_allclose(law.mean, own, atol=2e-3)
    assert np.all(own_weight(reports, individual) > 0.98)
    assert abs(own[0] - own[2]) > 0.2


def test_one_row_says_little_and_is_pooled(rng: np.random.Generator) -> None:
    sizes = [400, 400, 1]
    reports = sampled([Population(0.5)] * 3, sizes)
    individual = rng.standard_normal(801)
    individual[-1] = 3.0
    law = share_law(reports, individual, np.zeros(3), 0.0)
    assert abs(law.mean[2] - ndtr(individual).mean()) < 0.01
    assert own_weight(reports, individual)[2] < 0.01
    assert ndtr(3.0) - law.mean[2] > 0.3


def test_one_person_per_group_is_pooled_altogether(rng: np.random.Generator) -> None:
    reports = sampled([Population(0.5)] * 5, [1] * 5)
    individual = rng.standard_normal(5)
    law = share_law(reports, individual, np.zeros(5), 0.0)
    np.testing.assert_allclose(law.mean, ndtr(individual).mean(), atol=0.05)


def test_groups_that_are_alike_are_pooled(rng: np.random.Generator) -> None:
    """Rows that are dealt out at random: the means differ by no more than sampling gives them."""
    sizes = [50] * 20
    reports = sampled([Population(0.5)] * 20, sizes)
    individual = rng.standard_normal(1000)
    law = share_law(reports, individual, np.zeros(20), 0.0)
    means = ndtr(individual).reshape(20, -1).mean(axis=1)
    assert law.mean.std() < 0.5 * means.std()


def test_the_error_moves_how_alike_groups_are(rng: np.random.Generator) -> None:
    reports = sampled([Population(0.5)] * 6, [10] * 6)
    individual = rng.standard_normal(60) + np.repeat(rng.standard_normal(6), 10)
    weights = [own_weight(reports, individual, error) for error in (-3.0, -1.0, 0.0, 1.0, 3.0)]
    assert np.all(np.diff(weights, axis=0) > 0.0)


def test_a_sample_of_everybody_leaves_no_doubt(rng: np.random.Generator) -> None:
    """Of the composition: labels are still tossed."""
    reports = sampled([Population(0.5, 20), Population(0.5, 20000)], [20, 20])
    individual, group = rng.standard_normal(40), np.array([0.3, 0.3])
    law = share_law(reports, individual, group, 0.0)
    own = ndtr(individual[:20] + 0.3).mean()
    assert law.mean[0] == pytest.approx(own, rel=1e-12)
    assert law.variance[0] == pytest.approx(own * (1.0 - own) / 20.0 + SHARE_ERROR**2, rel=1e-10)


def test_weights_stand_for_people(rng: np.random.Generator) -> None:
    """A row of weight 3 draws the mean like three rows; the effective number is that of Kish."""
    individual = rng.standard_normal(10)
    weights = np.array([3.0, 1.0, 1.0, 2.0, 1.0, 1.0, 4.0, 1.0, 2.0, 2.0])
    reports = sampled([Population(0.5, None), Population(0.5)], [5, 5], weights=weights)
    law = share_law(reports, individual, np.zeros(2), 50.0)  # so unlike each other that nothing is pooled
    p = ndtr(individual)
    expected = [np.average(p[:5], weights=weights[:5]), np.average(p[5:], weights=weights[5:])]
    np.testing.assert_allclose(law.mean, expected, rtol=1e-6)
    spread = np.average(p[:5] ** 2, weights=weights[:5]) - expected[0] ** 2
    effective = weights[:5].sum() ** 2 / (weights[:5] ** 2).sum()
    assert law.variance[0] == pytest.approx(spread / (effective + 1.0) + SHARE_ERROR**2, rel=1e-5)


def test_equal_weights_change_nothing(rng: np.random.Generator) -> None:
    individual, group = rng.standard_normal(12), np.array([0.1, -0.2, 0.3])
    evidence = [Population(0.4), Population(0.5, 80), Population(0.7)]
    plain, weighed = sampled(evidence, [3, 4, 5]), sampled(evidence, [3, 4, 5], weights=np.full(12, 2.5))
    one, other = (share_law(reports, individual, group, 0.3) for reports in (plain, weighed))
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)
    np.testing.assert_allclose(one.variance, other.variance, rtol=1e-12)


def test_cells_of_a_sample_are_as_many_rows(rng: np.random.Generator) -> None:
    counts = np.array([2, 1, 3, 1, 1, 4])
    evidence = [Population(0.4), Population(0.5, 80)]
    cells, single = sampled(evidence, [3, 3], counts=counts), sampled(evidence, [6, 6])
    individual, group = rng.standard_normal(6), np.array([0.1, -0.2])
    person = np.repeat(np.arange(6), counts)
    one = population_gradient(cells, individual, group, 0.3)
    many = population_gradient(single, individual[person], group, 0.3)
    assert one[0] == pytest.approx(many[0], rel=1e-12)
    np.testing.assert_allclose(one[1], np.bincount(person, many[1]), rtol=1e-9)
    np.testing.assert_allclose(one[2], many[2], rtol=1e-9)
    assert one[3] == pytest.approx(many[3], rel=1e-9)


def test_pooling_foretells_populations_better_than_not_pooling(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shares of simulated populations, known but for a few sampled rows: errors have the stated size.

    Without pooling the same few rows would be taken for the composition itself.
    """
    n_groups, n = 400, 8
    level = 0.3 * rng.standard_normal(n_groups)
    rows = level[:, None] + rng.standard_normal((n_groups, n))
    truth = ndtr(level / np.sqrt(2.0))  # mean of Phi(level + noise)
    reports = sampled([Population(0.5)] * n_groups, [n] * n_groups)

    def errors() -> tuple[float, float]:
        law = share_law(reports, rows.ravel(), np.zeros(n_groups), 0.0)
        return float(np.mean((truth - law.mean) ** 2)), float(np.mean((truth - law.mean) ** 2 / law.variance))

    square, standard = errors()
    assert 0.5 < standard < 1.6
    monkeypatch.setattr(populations, "own_weight", lambda reports, j, ratio: 1.0)
    assert errors()[0] > 1.3 * square


def test_variance_within_groups_is_that_of_the_jackknife(rng: np.random.Generator) -> None:
    weights, counts = rng.uniform(0.5, 5.0, 6), np.array([1, 2, 1, 3, 1, 1])
    reports = sampled([Population(0.4)], [6], weights=weights, counts=counts)
    p, each = ndtr(np.repeat(rng.standard_normal(6), counts)), np.repeat(weights, counts)
    n = len(p)
    left_out = [np.average(np.delete(p, i), weights=np.delete(each, i)) for i in range(n)]
    mean = np.average(p, weights=each)
    expected = (n - 1) / n * float(np.sum((np.array(left_out) - mean) ** 2))
    first = np.cumsum(counts) - counts
    found = float(np.sum(reports.jackknife * (p[first] - mean) ** 2)) / (n * (n - 1))
    assert found == pytest.approx(expected, rel=1e-12)
    assert reports.sampled.tolist() == [n]
    equal = sampled([Population(0.4)], [6], counts=counts)
    np.testing.assert_allclose(equal.jackknife, counts)


def test_weights_that_follow_the_feature_leave_groups_as_alike_as_they_are(rng: np.random.Generator) -> None:
    """People with a feature are three times as likely to be sampled; frequencies of it differ as Beta(4, 4) do."""
    n_groups, n = 3000, 20
    frequency = rng.beta(4.0, 4.0, n_groups)
    has = rng.random((n_groups, n)) < (3.0 * frequency / (3.0 * frequency + 1.0 - frequency))[:, None]
    weights = np.where(has, 1.0, 3.0)
    reports = sampled([Population(0.4)] * n_groups, [n] * n_groups, weights=weights.ravel())
    individual = np.where(has, 0.5, -0.5).ravel()
    seen = np.average(has, axis=1, weights=weights)
    wanted = np.cov(seen, frequency)[0, 1] / seen.var()  # of what is seen, so much is reported of what is
    assert own_weight(reports, individual).mean() == pytest.approx(wanted, abs=0.025)
