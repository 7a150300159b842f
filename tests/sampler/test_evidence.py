import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Between, Count, Fraction
from disaggregate.sampler.evidence import group_evidence, make_evidence, make_ladder, rung_of

EVIDENCE = [Fraction(0.4, 30.0), Count(2), AtLeast(2), Between(1, 2), Fraction(0.0)]
SIZES = [4, 5, 3, 4, 2]
POWERS = np.array([1.0, 0.6, 0.1, 0.0])


@pytest.fixture
def evidence():
    ids = np.repeat(np.arange(len(SIZES)), SIZES).tolist()
    return make_evidence(group_rows(ids, dict(enumerate(EVIDENCE))))


def test_first_rung_is_the_evidence_itself(evidence):
    for mine, theirs in zip(rung_of(make_ladder(evidence, POWERS), 0), evidence, strict=True):
        assert_array_equal(mine, theirs)


def test_last_rung_says_nothing(evidence):
    last = rung_of(make_ladder(evidence, POWERS), 3)
    assert_array_equal(last.log_likelihood, 0.0)
    assert_array_equal(last.likelihood, 1.0)
    assert_array_equal(last.fewest, 0)
    assert_array_equal(last.most, SIZES)


def test_rungs_between_raise_what_is_allowed_to_their_power(evidence):
    ladder = make_ladder(evidence, POWERS)
    assert_allclose(group_evidence(rung_of(ladder, 1), 0), 0.6 * group_evidence(evidence, 0))


def test_excluded_counts_come_back_by_their_distance(evidence):
    ladder = make_ladder(evidence, POWERS)
    for rung, power in ((1, 0.6), (2, 0.1)):
        penalty = 2.0 * power / (1.0 - power)
        one = rung_of(ladder, rung)
        assert_allclose(group_evidence(one, 1), -penalty * np.array([2, 1, 0, 1, 2, 3]))
        assert_allclose(group_evidence(one, 2), -penalty * np.array([2, 1, 0, 0]))
        assert_allclose(group_evidence(one, 3), -penalty * np.array([1, 0, 0, 1, 2]))
        assert_allclose(np.diff(group_evidence(one, 4)), -penalty)


def test_largest_likelihood_of_each_group_is_one(evidence):
    ladder = make_ladder(evidence, POWERS)
    starts = evidence.offsets[:-1] + np.arange(len(SIZES))
    for rung in range(len(POWERS)):
        assert_allclose(np.maximum.reduceat(ladder.likelihood[rung], starts), 1.0)
