import numpy as np
import pytest
from numpy.testing import assert_array_equal

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AllOf, AtLeast, Count, Fraction, Population, Unknown
from disaggregate.groups.units import (
    TOLERANCE,
    effective_size,
    largest_rounding_error,
    rounding_deviation,
    whole_units,
)


@pytest.mark.parametrize("weight", [1.0, 0.7, 1e-200, 3e200])
def test_equal_weights_are_one_unit_each(weight):
    assert_array_equal(whole_units(np.full(7, weight)), 1)


def test_small_ratios_are_met_exactly():
    assert_array_equal(whole_units(np.array([0.5, 0.5, 1.0, 1.5])), [1, 1, 2, 3])
    assert_array_equal(whole_units(np.array([2.0, 3.0])), [2, 3])


@pytest.mark.parametrize("n", [2, 8, 90, 700])
def test_rounding_stays_within_tolerance_and_is_stated(n, rng):
    weights = rng.lognormal(0.0, 0.8, n)
    units = whole_units(weights)
    assert units.min() >= 1
    assert units.sum() <= 33 * n
    assert rounding_deviation(weights, units) <= TOLERANCE or units.sum() > 20 * n
    labels = rng.random((4000, n)) < 0.5
    error = labels @ units / units.sum() - labels @ weights / weights.sum()
    assert np.abs(error).max() <= largest_rounding_error(weights, units) + 1e-12
    assert error.std() == pytest.approx(rounding_deviation(weights, units), rel=0.1)


def test_a_weight_beyond_all_others_leaves_everybody_a_unit():
    units = whole_units(np.array([1e-9, 1.0, 1e9]))
    assert units.min() == 1
    assert units[2] == units.max()


def test_effective_size():
    assert effective_size(np.full(5, 0.3)) == pytest.approx(5)
    assert effective_size(np.array([1.0, 1e-12])) == pytest.approx(1)


def test_equal_weights_lay_the_groups_out_as_none_do():
    ids, evidence = ["a", "b", "a", "b", "b"], {"a": Fraction(0.5), "b": Count(2)}
    plain, weighted = group_rows(ids, evidence), group_rows(ids, evidence, np.full(5, 0.2))
    assert_array_equal(plain.units, weighted.units)
    assert_array_equal(plain.log_likelihood, weighted.log_likelihood)
    assert weighted.rounding_error == 0.0


def test_weights_follow_their_rows_into_the_groups():
    ids = ["a", "b", "a", "b"]
    data = group_rows(ids, {"a": Fraction(0.5, 10.0), "b": Unknown()}, np.array([1.0, 1.0, 3.0, 2.0]))
    assert_array_equal(data.units, [1, 3, 1, 2])
    assert_array_equal(data.totals, [4, 3])
    assert_array_equal(data.starts, [0, 5, 9])
    assert_array_equal(data.log_likelihood[:5], Fraction(0.5, 10.0).log_likelihood(4))


def test_weights_of_a_sample_are_no_units_of_its_members_count():
    weights = np.array([1.0, 1.0, 3.0, 2.0])
    data = group_rows(["a", "b", "a", "b"], {"a": Fraction(0.5, 10.0), "b": Population(0.3, 1000)}, weights)
    assert_array_equal(data.units, [1, 3, 1, 1])
    assert_array_equal(data.totals, [4, 2])
    assert_array_equal(data.weights, [1.0, 3.0, 1.0, 2.0])
    assert_array_equal(data.log_likelihood[5:], np.zeros(3))


def test_weights_are_kept_for_samples_alone():
    assert group_rows(["a", "a"], {"a": Fraction(0.5)}, np.array([1.0, 2.0])).weights is None


@pytest.mark.parametrize("report", [Fraction(0.3), Unknown()])
def test_weights_of_a_large_group_have_as_many_units_as_they_need(report):
    weights = np.random.default_rng(0).uniform(0.1, 5.0, 1500)
    data = group_rows(["a"] * 1500, {"a": report}, weights)
    assert data.totals[0] > 2000
    assert len(data.log_likelihood) == np.diff(data.starts)[0]


def test_an_exact_weighted_share_leaves_labels_possible():
    data = group_rows(["a", "a"], {"a": Fraction(0.25, np.inf)}, np.array([2.0, 3.0]))
    assert np.isfinite(data.log_likelihood).all()


@pytest.mark.parametrize("report", [Count(1), AtLeast(1), AllOf((Fraction(0.5), AtLeast(1)))])
def test_counts_of_members_and_unequal_weights_do_not_mix(report):
    with pytest.raises(ValueError, match=r"group 'a': .* counts members"):
        group_rows(["a", "a"], {"a": report}, np.array([1.0, 2.0]))
