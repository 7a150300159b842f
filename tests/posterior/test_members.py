"""Members' probabilities and labels given their own group's report, against enumeration."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Count, Fraction, Unknown
from disaggregate.posterior import batches, members
from disaggregate.posterior.members import given_reports
from tests.helpers.predictors import of_table


def enumerated(p, report, units=None):
    """Pr(y_i = 1 given the report) by going through all labels."""
    units = np.ones(len(p), dtype=int) if units is None else units
    log_likelihood = report.log_likelihood(units.sum())
    total, positive = 0.0, np.zeros(len(p))
    for labels in product([0, 1], repeat=len(p)):
        y = np.array(labels)
        weight = np.prod(np.where(y, p, 1 - p)) * np.exp(log_likelihood[units @ y])
        total += weight
        positive += weight * y
    return positive / total


def in_order(found, shape):
    values = np.full(shape, np.nan)
    for rows, draws in found:
        values[:, rows] = draws
    return values


@pytest.fixture
def data():
    ids = list("abacbbacca")
    return group_rows(ids, {"a": Fraction(0.3, 20), "b": Count(2), "c": AtLeast(1)})


@pytest.mark.parametrize("values_at_once", [1, 40, 2**22])
def test_probabilities_are_those_of_enumeration(data, rng, monkeypatch, values_at_once):
    monkeypatch.setattr(members, "VALUES_AT_ONCE", values_at_once)
    p = rng.random((6, 10))
    found = in_order(given_reports(of_table(p), data), p.shape)
    for group, rows in (("a", [0, 2, 6, 9]), ("b", [1, 4, 5]), ("c", [3, 7, 8])):
        report = data.evidence[data.names.index(group)]
        assert_allclose(found[:, rows], [enumerated(draw[rows], report) for draw in p], rtol=1e-10)


def test_nothing_known_changes_nothing(rng):
    p = rng.random((5, 4))
    found = in_order(given_reports(of_table(p), group_rows([0, 0, 1, 0], {0: Unknown(), 1: Unknown()})), p.shape)
    assert_allclose(found, p, rtol=1e-12)


def test_what_the_predictor_holds_is_not_changed(data, rng):
    p = rng.random((3, 10))
    kept = p.copy()
    list(given_reports(lambda rows: p[:, rows] if len(rows) < 10 else p, data))
    assert_array_equal(p, kept)


@pytest.mark.parametrize("p", [1e-12, 0.0, 1.0])
def test_reports_that_the_draws_hold_to_be_impossible_are_believed(p):
    draws = np.full((2, 60), p)
    data = group_rows([0] * 60, {0: Count(20)})
    found = in_order(given_reports(of_table(draws), data), draws.shape)
    assert_allclose(found, 1 / 3, rtol=1e-6)
    labels = in_order(given_reports(of_table(draws), data, np.random.default_rng(0)), draws.shape)
    assert_array_equal(labels.sum(axis=1), 20)


def test_logarithms_agree_with_probabilities(data, rng):
    p = rng.random((4, 7))
    units = np.array([1, 3, 1, 2])
    given = (p.T[:4], units, Fraction(0.6, 50).log_likelihood(7))
    for plain, by_logarithms in zip(members._chances(*given), members._chances_by_logarithms(*given), strict=True):
        assert_allclose(plain, by_logarithms, rtol=1e-9)


def test_survey_weights_against_enumeration(rng):
    weights, report = np.array([1.0, 3.0, 1.0, 2.0]), Fraction(0.6, 30)
    data = group_rows([0] * 4, {0: report}, weights)
    p = rng.random((3, 4))
    expected = [enumerated(draw, report, weights.astype(int)) for draw in p]
    assert_allclose(in_order(given_reports(of_table(p), data), p.shape), expected, rtol=1e-10)
    many = np.repeat(p[:1], 40_000, axis=0)
    labels = in_order(given_reports(of_table(many), data, rng), many.shape)
    assert_allclose(labels.mean(axis=0), expected[0], atol=0.015)


def test_labels_have_the_probabilities_and_agree_with_the_reports(data, rng):
    p = np.repeat(rng.uniform(0.2, 0.8, (1, 10)), 40_000, axis=0)
    labels = in_order(given_reports(of_table(p), data, rng), p.shape)
    assert set(np.unique(labels)) == {0.0, 1.0}
    assert (labels[:, [1, 4, 5]].sum(axis=1) == 2).all()
    assert (labels[:, [3, 7, 8]].sum(axis=1) >= 1).all()
    expected = in_order(given_reports(of_table(p[:1]), data), (1, 10))[0]
    assert_allclose(labels.mean(axis=0), expected, atol=0.015)
    pair = labels[:, 0] * labels[:, 2]  # two of group a, which must not be drawn apart from each other
    joint = np.mean([enumerated_pair(p[0, [0, 2, 6, 9]], data.evidence[0])])
    assert_allclose(pair.mean(), joint, atol=0.015)


def enumerated_pair(p, report):
    total, both = 0.0, 0.0
    for labels in product([0, 1], repeat=len(p)):
        y = np.array(labels)
        weight = np.prod(np.where(y, p, 1 - p)) * np.exp(report.log_likelihood(len(p))[y.sum()])
        total += weight
        both += weight * y[0] * y[1]
    return both / total


def test_groups_are_taken_together_as_long_as_they_fit(rng, monkeypatch):
    monkeypatch.setattr(batches, "FIRST_ROWS", 5)
    monkeypatch.setattr(batches, "VALUES_AT_ONCE", 3 * 6)
    ids = np.repeat([0, 1, 2, 3, 4, 5], [2, 2, 2, 9, 3, 3])
    probability = of_table(rng.random((3, len(ids))))
    list(given_reports(probability, group_rows(ids.tolist(), {group: Unknown() for group in range(6)})))
    assert [len(rows) for rows in probability.asked] == [4, 2, 9, 6]
