"""The likelihood of reports with labels summed out, against all labels written out, and differences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp, ndtr

from disaggregate.groups.evidence import (
    AllOf,
    AtLeast,
    AtMost,
    Between,
    Count,
    Evidence,
    Fraction,
    NoisyCount,
    Survey,
    Unknown,
)
from disaggregate.model.likelihood import Expected, expected_labels, log_likelihood_gradient, spread_out
from disaggregate.model.powers import log_maxima
from disaggregate.model.reports import EXACT, MOST_STATES, NORMAL, Reports, make_reports
from tests.helpers.dense_problems import CASES, grouped, reports_of

EVERY_KIND: tuple[Evidence, ...] = (
    Fraction(0.4),
    Fraction(0.4, 5.0),
    Fraction(0.0),
    Fraction(1.0),
    Fraction(0.5, np.inf),
    Count(3),
    Count(0),
    Between(2, 4),
    AtLeast(1),
    AtMost(2),
    NoisyCount(2.3, 0.8),
    NoisyCount(-1.0, 1.5, "gaussian"),
    Survey(1, 3),
    AllOf((Fraction(0.3, 20.0), AtLeast(1))),
    Unknown(),
)


def by_enumeration(
    scores: np.ndarray, units: np.ndarray, log_likelihood: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Log likelihood of a group, expected labels, and the law of its count, from all labels of its people."""
    labels = np.array(list(product((0, 1), repeat=len(scores))))
    chance = np.where(labels == 1, log_ndtr(scores), log_ndtr(-scores)).sum(axis=1)
    count = labels @ units
    joint = chance + log_likelihood[count]
    total = logsumexp(joint)
    weight = np.exp(joint - total)
    return float(total), weight @ labels, np.bincount(count, weight, minlength=len(log_likelihood))


def gradient_by_differences(
    reports: Reports, rung: int, individual: np.ndarray, group: np.ndarray, error: float, h: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, float]:
    def value(u: np.ndarray, o: np.ndarray, z: float) -> float:
        return log_likelihood_gradient(reports, rung, u, o, 0.0, z).log_likelihood

    rows, groups = np.eye(len(individual)), np.eye(len(group))
    by_row = [value(individual + h * e, group, error) - value(individual - h * e, group, error) for e in rows]
    by_group = [value(individual, group + h * e, error) - value(individual, group - h * e, error) for e in groups]
    by_error = value(individual, group, error + h) - value(individual, group, error - h)
    return np.array(by_row) / (2.0 * h), np.array(by_group) / (2.0 * h), by_error / (2.0 * h)


@pytest.mark.parametrize("evidence", EVERY_KIND, ids=str)
def test_exact_law_against_all_labels(evidence: Evidence, rng: np.random.Generator) -> None:
    data = grouped([evidence], [8])
    reports = make_reports(data)
    individual, group = rng.standard_normal(8), np.array([0.4])
    exact, labels, law = by_enumeration(individual + 0.4, np.ones(8, dtype=int), evidence.log_likelihood(8))
    found = log_likelihood_gradient(reports, 0, individual, group, 0.0, 0.0)
    if evidence != Unknown():
        assert found.log_likelihood + log_maxima(data)[0] == pytest.approx(exact, rel=1e-10)
    assert found.log_likelihood != 0.0 or evidence == Unknown()
    expected = expected_labels(reports, individual, group, 0.0)
    np.testing.assert_allclose(expected.labels, labels, atol=1e-10)
    values, chances = expected.shares[0]
    np.testing.assert_allclose(values, np.arange(9) / 8)
    np.testing.assert_allclose(chances, law, atol=1e-10)


@pytest.mark.parametrize("evidence", [Fraction(0.3, 20.0), Fraction(0.6), Fraction(1.0), Fraction(0.0)], ids=str)
def test_survey_weights_against_all_labels(evidence: Evidence, rng: np.random.Generator) -> None:
    data = grouped([evidence], [7], np.array([1.0, 3.0, 1.0, 2.0, 5.0, 1.0, 2.0]))
    assert data.units.tolist() == [1, 3, 1, 2, 5, 1, 2]
    reports = make_reports(data)
    assert reports.law[0] == EXACT
    individual = rng.standard_normal(7)
    exact, labels, law = by_enumeration(individual, data.units, data.log_likelihood - log_maxima(data))
    found = log_likelihood_gradient(reports, 0, individual, np.zeros(1), 0.0, 0.0)
    assert found.log_likelihood == pytest.approx(exact, rel=1e-10)
    expected = expected_labels(reports, individual, np.zeros(1), 0.0)
    np.testing.assert_allclose(expected.labels, labels, atol=1e-10)
    np.testing.assert_allclose(expected.shares[0][1], law, atol=1e-10)


@pytest.mark.parametrize("evidence", EVERY_KIND, ids=str)
def test_a_cell_is_as_many_rows_as_it_has_people(evidence: Evidence, rng: np.random.Generator) -> None:
    counts = np.array([3, 1, 2, 4])
    individual, group = rng.standard_normal(4), np.array([-0.2])
    cells = make_reports(grouped([evidence], [4], counts=counts), np.array([1.0, 0.4]))
    single = make_reports(grouped([evidence], [10]), np.array([1.0, 0.4]))
    person = np.repeat(np.arange(4), counts)
    for rung in (0, 1):
        one = log_likelihood_gradient(cells, rung, individual, group, 0.0, 0.0)
        many = log_likelihood_gradient(single, rung, individual[person], group, 0.0, 0.0)
        assert one.log_likelihood == pytest.approx(many.log_likelihood, rel=1e-12)
        np.testing.assert_allclose(one.individual, np.bincount(person, many.individual), atol=1e-12)
        np.testing.assert_allclose(one.group, many.group, atol=1e-12)
    one, many = (
        expected_labels(cells, individual, group, 0.0),
        expected_labels(single, individual[person], group, 0.0),
    )
    np.testing.assert_allclose(one.labels[person], many.labels, atol=1e-12)
    np.testing.assert_allclose(one.shares[0], many.shares[0], atol=1e-12)


def test_a_large_cell_is_as_many_rows_as_it_has_people(rng: np.random.Generator) -> None:
    """Here the count is normal, and the report so sharp that all counts it allows are listed for cells, too."""
    counts = np.array([300, 200, 250])
    individual, group = 0.5 * rng.standard_normal(3), np.zeros(1)
    cells = make_reports(grouped([Fraction(0.4, 1000.0)], [3], counts=counts))
    single = make_reports(grouped([Fraction(0.4, 1000.0)], [750]))
    assert cells.law[0] == single.law[0] == NORMAL
    person = np.repeat(np.arange(3), counts)
    one = log_likelihood_gradient(cells, 0, individual, group, 0.0, 0.0)
    many = log_likelihood_gradient(single, 0, individual[person], group, 0.0, 0.0)
    assert one.log_likelihood == pytest.approx(many.log_likelihood, rel=1e-10)
    np.testing.assert_allclose(one.individual, np.bincount(person, many.individual), rtol=1e-8)


def test_a_cell_counted_as_one_person_is_another_likelihood(rng: np.random.Generator) -> None:
    counts = np.array([3, 1, 2, 4])
    individual = rng.standard_normal(4)
    right = make_reports(grouped([Count(4)], [4], counts=counts))
    wrong = right._replace(units=right.units * counts, counts=np.ones(4, dtype=np.int64))
    values = [
        log_likelihood_gradient(one, 0, individual, np.zeros(1), 0.0, 0.0).log_likelihood for one in (right, wrong)
    ]
    assert abs(values[0] - values[1]) > 0.05


@pytest.mark.parametrize("rung", [0, 1, 2])
@pytest.mark.parametrize("name", [name for name in CASES if name not in ("normal counts", "more than a few")])
def test_gradient(name: str, rung: int, rng: np.random.Generator) -> None:
    data, reports = reports_of(CASES[name], rng, 3)
    individual = 0.8 * rng.standard_normal(int(data.offsets[-1]))
    group, error = 0.5 * rng.standard_normal(len(data.names)), 0.6
    found = log_likelihood_gradient(reports, rung, individual, group, 0.0, error)
    by_row, by_group, by_error = gradient_by_differences(reports, rung, individual, group, error)
    scale = 1.0 + np.abs(found.individual).max()
    np.testing.assert_allclose(found.individual / scale, by_row / scale, atol=1e-6)
    np.testing.assert_allclose(found.group / scale, by_group / scale, atol=1e-5)
    assert found.error == pytest.approx(by_error, abs=1e-5)
    assert (found.error != 0.0) == ("samples" in name and rung < 2)
    assert found.scale == 0.0


def test_gradient_of_normal_counts(rng: np.random.Generator) -> None:
    """Along one direction, as there are many rows."""
    data, reports = reports_of(CASES["normal counts"], rng, 3)
    assert set(reports.law.tolist()) == {NORMAL}
    individual, group = 0.8 * rng.standard_normal(int(data.offsets[-1])), 0.1 * rng.standard_normal(4)
    along, h = rng.standard_normal(len(individual)), 1e-6
    for rung in (0, 1, 2):
        found = log_likelihood_gradient(reports, rung, individual, group, 0.0, 0.0)
        ahead, behind = (
            log_likelihood_gradient(reports, rung, individual + sign * h * along, group, 0.0, 0.0).log_likelihood
            for sign in (1.0, -1.0)
        )
        slope = float(found.individual @ along)
        assert slope == pytest.approx((ahead - behind) / (2.0 * h), rel=1e-5, abs=1e-4)
        np.testing.assert_allclose(found.group, np.add.reduceat(found.individual, reports.offsets[:-1]))


@pytest.mark.parametrize("evidence", [Fraction(0.35, 200.0), Fraction(0.35), NoisyCount(180.0, 5.0), AtLeast(170)])
def test_a_normal_count_is_nearly_exact_at_the_boundary(evidence: Evidence, rng: np.random.Generator) -> None:
    """The law changes from one size of a group to the next: by less than 0.01 of log likelihood and labels."""
    n = int(np.sqrt(MOST_STATES)) - 1
    exact = make_reports(grouped([evidence], [n]))
    assert exact.law[0] == EXACT
    assert make_reports(grouped([evidence], [n + 1])).law[0] == NORMAL
    normal = exact._replace(law=np.array([NORMAL]))
    individual = 0.7 * rng.standard_normal(n) - 0.4
    for offset in (-0.1, 0.0, 0.15):
        found = [
            log_likelihood_gradient(one, 0, individual, np.array([offset]), 0.0, 0.0) for one in (exact, normal)
        ]
        assert abs(found[0].log_likelihood - found[1].log_likelihood) < 0.01 + 0.01 * abs(found[0].log_likelihood)
        gap = found[0].group[0] - found[1].group[0]
        assert abs(gap) < 0.02 * abs(found[0].group[0]) + 0.05
        labels = [expected_labels(one, individual, np.array([offset]), 0.0) for one in (exact, normal)]
        np.testing.assert_allclose(labels[0].labels, labels[1].labels, atol=0.01)
        assert mean_share(labels[0]) == pytest.approx(mean_share(labels[1]), abs=2e-3)


def mean_share(expected: Expected) -> float:
    values, chances = expected.shares[0]
    return float(values @ chances)


@pytest.mark.parametrize(
    ("evidence", "sign"), [(Fraction(1.0), 1.0), (Fraction(0.0), -1.0), (Count(600), 1.0), (Count(0), -1.0)]
)
def test_forced_labels_of_a_large_group_are_exact(
    evidence: Evidence, sign: float, rng: np.random.Generator
) -> None:
    reports = make_reports(grouped([evidence], [600]))
    assert reports.law[0] == NORMAL
    individual = rng.standard_normal(600)
    found = log_likelihood_gradient(reports, 0, individual, np.array([0.3]), 0.0, 0.0)
    assert found.log_likelihood == pytest.approx(log_ndtr(sign * (individual + 0.3)).sum(), rel=1e-12)
    expected = expected_labels(reports, individual, np.array([0.3]), 0.0)
    np.testing.assert_allclose(expected.labels, float(sign > 0), atol=1e-9)


@pytest.mark.parametrize("n_people", [600, 10**5, 10**7, 10**9])
def test_a_large_group_that_says_nothing_is_worth_nothing(n_people: int) -> None:
    """However few of its counts are listed, and however near to nobody is positive."""
    reports = make_reports(grouped([Unknown()], [3], counts=np.full(3, n_people // 3)))
    assert reports.law[0] == NORMAL
    for offset in (-9.0, -4.0, -2.03, -2.0, 0.0, 0.31, 5.0):
        found = log_likelihood_gradient(reports, 0, np.zeros(3), np.array([offset]), 0.0, 0.0)
        assert found.log_likelihood == pytest.approx(0.0, abs=1e-6)
        np.testing.assert_allclose(found.individual, 0.0, atol=1e-4)


@pytest.mark.parametrize("n_people", [10**5, 10**7])
def test_bounds_on_a_large_group_are_where_they_are(n_people: int) -> None:
    """The probability of a count between two bounds is that of the normal law between them."""
    low, high = round(0.02 * n_people), round(0.0213 * n_people)
    reports = make_reports(grouped([Between(low, high)], [2], counts=np.full(2, n_people // 2)))
    for offset in (-2.06, -2.05, -2.04, -2.03, -2.02):
        p = ndtr(offset)
        ends = (np.array([low - 0.5, high + 0.5]) - n_people * p) / np.sqrt(n_people * p * (1.0 - p))
        expected = ends[0] > 0 and log_ndtr(-ends[0]) + np.log1p(-np.exp(log_ndtr(-ends[1]) - log_ndtr(-ends[0])))
        if ends[0] <= 0:
            expected = log_ndtr(ends[1]) + np.log1p(-np.exp(log_ndtr(ends[0]) - log_ndtr(ends[1])))
        found = log_likelihood_gradient(reports, 0, np.zeros(2), np.array([offset]), 0.0, 0.0)
        assert found.log_likelihood == pytest.approx(float(expected), rel=1e-6, abs=1e-9)


def test_an_exact_count_of_a_large_group_of_cells() -> None:
    """Only some counts are listed, but the one that is reported stands for itself alone."""
    n, k = 10**7, 2_021_234
    reports = make_reports(grouped([Count(k)], [2], counts=np.full(2, n // 2)))
    for offset in (-0.836, -0.834, -0.83):
        p = ndtr(offset)
        variance = n * p * (1.0 - p)
        expected = -0.5 * (k - n * p) ** 2 / variance - 0.5 * np.log(2.0 * np.pi * variance)
        found = log_likelihood_gradient(reports, 0, np.zeros(2), np.array([offset]), 0.0, 0.0)
        assert found.log_likelihood == pytest.approx(float(expected), rel=1e-5)


def test_without_evidence_labels_are_what_their_scores_say(rng: np.random.Generator) -> None:
    reports = make_reports(grouped([Unknown(), Count(1)], [5, 3]))
    individual, group = rng.standard_normal(8), np.array([0.2, -0.3])
    expected = expected_labels(reports, individual, group, 0.0)
    np.testing.assert_allclose(expected.labels[:5], ndtr(individual[:5] + 0.2))
    assert expected.labels[5:].sum() == pytest.approx(1.0)


def test_three_points_have_the_moments_they_are_given() -> None:
    values, chances = spread_out(0.4, 0.01)
    assert chances.sum() == pytest.approx(1.0)
    assert values @ chances == pytest.approx(0.4)
    assert (values - 0.4) ** 2 @ chances == pytest.approx(0.01)
    assert np.all((spread_out(0.01, 0.01)[0] >= 0.0) & (spread_out(0.99, 0.01)[0] <= 1.0))


@pytest.mark.parametrize("size", [5, 600])
def test_scores_far_away_do_not_warn(size: int) -> None:
    reports = make_reports(grouped([Fraction(0.5), Fraction(0.0)], [size, size]))
    for offset in (-60.0, 60.0):
        found = log_likelihood_gradient(reports, 0, np.zeros(2 * size), np.full(2, offset), 0.0, 0.0)
        assert np.isfinite(found.log_likelihood)
        assert np.isfinite(found.individual).all()
