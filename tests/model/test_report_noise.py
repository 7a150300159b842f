"""Learned confidence: the density of a report, and the tables that replicas have of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import ndtr

from disaggregate.groups.evidence import AllOf, AtLeast, Count, Fraction
from disaggregate.groups.learned_confidence import CONFIDENCES, TAIL, mixing_weights
from disaggregate.model.powers import log_maxima
from disaggregate.model.report_noise import make_report_noise, reports_with_confidence
from disaggregate.model.reports import make_reports, with_powers
from disaggregate.sampler.dense.target import Query
from disaggregate.sampler.dense.whole import WholeLikelihood
from tests.helpers.dense_problems import grouped

EVIDENCE = [Fraction(0.3, "auto"), Count(2), Fraction(1.0, "auto"), Fraction(0.5, 60.0)]
SIZES = [5, 4, 3, 6]


def density(share, n, count, log_confidence):
    """The formula, term by term."""
    cells, weights = mixing_weights(log_confidence)
    parts = [np.exp(Fraction(share, CONFIDENCES[c]).log_likelihood(n)[count]) for c in cells]
    return TAIL + (1.0 - TAIL) * float(weights @ parts)


@pytest.mark.parametrize("log_confidence", [0.0, 1.3, 3.454, 7.0, 11.0, 11.51])
def test_weights_are_probabilities_around_the_confidence(log_confidence):
    cells, weights = mixing_weights(log_confidence)
    assert (weights >= 0.0).all()
    assert weights.sum() == pytest.approx(1.0)
    if 2.0 < log_confidence < 9.0:
        assert weights @ np.log(CONFIDENCES[cells]) == pytest.approx(log_confidence)


def test_beyond_the_grid_nothing_changes():
    for far, end in ((-20.0, 0.0), (30.0, np.log(CONFIDENCES[-1]))):
        assert_allclose(mixing_weights(far)[1], mixing_weights(end)[1], atol=1e-12)


@pytest.mark.parametrize("log_confidence", [1.0, 4.0, 7.5])
def test_it_is_a_density_of_the_report(log_confidence):
    value, _ = quad(lambda share: density(share, 8, 3, log_confidence), 0.0, 1.0, points=[0.375], limit=200)
    assert value == pytest.approx(1.0, abs=1e-6)


def test_no_count_is_impossible_even_where_everybody_is_said_to_be_positive():
    assert np.isfinite(Fraction(1.0, "auto").log_likelihood(6)).all()
    assert np.isneginf(Fraction(1.0).log_likelihood(6)).any()


def test_tables_follow_the_formula_and_the_powers():
    data = grouped(EVIDENCE, SIZES)
    noise, reports = make_report_noise(data), with_powers(make_reports(data), np.array([1.0, 0.4]))
    tables = noise.tables(reports, np.array([1, 0, 1]), np.array([-4.0, -6.5, -1.0]))
    maxima = log_maxima(data)
    for row, (power, log_confidence) in enumerate([(0.4, 4.0), (1.0, 6.5), (0.4, 1.0)]):
        for j in (0, 2):
            expected = [
                np.log(density(EVIDENCE[j].share, SIZES[j], k, log_confidence)) for k in range(SIZES[j] + 1)
            ]
            own = tables.log_likelihood[row, data.starts[j] : data.starts[j + 1]]
            assert_allclose(own, power * (np.array(expected) - maxima[j]), atol=1e-12)
    for j in (1, 3):  # whose confidence is known
        own = slice(data.starts[j], data.starts[j + 1])
        assert_allclose(tables.log_likelihood[:, own], reports.log_likelihood[[1, 0, 1], own])
    assert_allclose(tables.likelihood, np.exp(tables.log_likelihood))


def test_only_shares_that_say_so_are_learned():
    assert make_report_noise(grouped([Fraction(0.5), Count(1)], [4, 4])) is None
    assert not AllOf((Fraction(0.5), AtLeast(1))).learns_confidence


def plain(data, columns, weight, log_confidence):
    """Log likelihood with every law of a count by convolution, in plain NumPy."""
    total, start = 0.0, 0
    for j, n in enumerate(SIZES):
        law = np.ones(1)
        for p in ndtr(weight @ columns[:, start : start + n]):
            law = np.convolve(law, [1.0 - p, p])
        if EVIDENCE[j].learns_confidence:
            reported = np.array([density(EVIDENCE[j].share, n, k, log_confidence) for k in range(n + 1)])
        else:
            reported = np.exp(EVIDENCE[j].log_likelihood(n))
        total += np.log(law @ reported) - log_maxima(data)[j]
        start += n
    return total


@pytest.mark.parametrize("log_confidence", [1.5, 4.0, 6.9, 9.0])
def test_likelihood_and_its_slope_against_plain_numpy(rng, log_confidence):
    data = grouped(EVIDENCE, SIZES)
    columns, weight = rng.standard_normal((2, sum(SIZES))), rng.standard_normal(2)
    likelihood = WholeLikelihood(columns, make_reports(data), make_report_noise(data))
    query = Query(weight[None], np.zeros((1, 4)), np.zeros(1), np.zeros(1), np.array([-log_confidence]))
    found = likelihood.gradient(query, np.zeros(1, dtype=np.int64))
    assert_allclose(found.log_likelihood, plain(data, columns, weight, log_confidence), atol=1e-10)
    assert_allclose(likelihood.table(query)[0, 0], found.log_likelihood[0], atol=1e-10)

    def slope(step, change):
        ends = [plain(data, columns, weight + sign * step, log_confidence + sign * change) for sign in (1.0, -1.0)]
        return (ends[0] - ends[1]) / 2e-5

    assert_allclose(found.noise, -slope(0.0, 1e-5), atol=1e-5)
    assert_allclose(found.columns[0], [slope(1e-5 * own, 0.0) for own in np.eye(2)], atol=1e-6)


def test_a_confidence_that_was_learned_takes_its_place():
    data = grouped(EVIDENCE, SIZES)
    until_known = reports_with_confidence(data, None)
    assert_allclose(until_known.log_likelihood, make_reports(data).log_likelihood)
    assert_allclose(
        reports_with_confidence(data, np.log(1000.0)).log_likelihood, until_known.log_likelihood, atol=1e-12
    )
    assert not np.allclose(reports_with_confidence(data, 2.0).log_likelihood, until_known.log_likelihood)
