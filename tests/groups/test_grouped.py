import datetime
import math
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Count, Evidence, Fraction, Unknown

IDS = {
    "integers": [7, -1, 7, 3],
    "strings": ["b", "a", "b", "c"],
    "tuples": [(1, "x"), (1, "y"), (1, "x"), (2, "x")],
    "mixed": ["7", 7, "7", (7,)],
    "dates": [datetime.date(2020, 1, d) for d in (2, 1, 2, 3)],
    "frozensets": [frozenset({1}), frozenset({2}), frozenset({1}), frozenset()],
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS.keys())
def test_ids_of_any_hashable_type_keep_the_order_of_their_first_row(ids):
    data = group_rows(ids, dict.fromkeys(ids, Unknown()))
    assert data.names == (ids[0], ids[1], ids[3])
    assert_array_equal(data.sizes, [2, 1, 1])
    assert_array_equal(data.offsets, [0, 2, 3, 4])
    assert_array_equal(data.order, [0, 2, 1, 3])


def test_interleaved_rows_are_sorted_stably_and_come_back(seed):
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 9, size=200).tolist()
    data = group_rows(ids, dict.fromkeys(ids, Unknown()))
    for name, start, stop in zip(data.names, data.offsets[:-1], data.offsets[1:], strict=True):
        assert_array_equal(data.order[start:stop], np.flatnonzero(np.array(ids) == name))
    values = rng.normal(size=200)
    assert_array_equal(data.in_caller_order(values[data.order]), values)
    assert data.in_caller_order(np.arange(200))[data.order[5]] == 5


def test_groups_of_one():
    data = group_rows(range(4), {row: Count(row % 2) for row in range(4)})
    assert_array_equal(data.order, np.arange(4))
    assert_array_equal(data.offsets, np.arange(5))
    assert_array_equal(data.log_likelihood, [0, -np.inf, -np.inf, 0] * 2)
    assert_array_equal(data.reported_shares, [0, 1, 0, 1])


def test_evidence_vectors_lie_end_to_end():
    evidence = {"a": Fraction(0.5, 10.0), "b": AtLeast(1), "c": Fraction(0.5, 10.0)}
    data = group_rows(["c", "a", "b", "a", "c", "b", "b"], evidence)
    for group, name in enumerate(data.names):
        first, n = data.offsets[group] + group, data.sizes[group]
        assert_array_equal(data.log_likelihood[first : first + n + 1], evidence[name].log_likelihood(n))
    assert len(data.log_likelihood) == 7 + 3
    assert data.evidence == (evidence["c"], evidence["a"], evidence["b"])
    assert_array_equal(data.reported_shares, [0.5, 0.5, math.nan])


class Whatever(Evidence):
    def __init__(self, vector):
        self.vector = vector

    def log_likelihood(self, n):
        return self.vector


def test_own_kinds_of_evidence_are_welcome():
    data = group_rows(["a", "a"], {"a": Whatever([-1.0, 0.0, -math.inf])})
    assert_array_equal(data.log_likelihood, [-1.0, 0.0, -np.inf])
    assert math.isnan(data.reported_shares[0])


@pytest.mark.parametrize(
    "vector", [[0.0, 0.0], [0.0, math.nan, 0.0], [-math.inf] * 3, [0.0, math.inf, 0.0], [[0.0] * 3]]
)
def test_unsound_evidence_is_refused_with_the_group(vector):
    with pytest.raises(ValueError, match=r"group 'a': .* one log likelihood for each count from 0 to 2"):
        group_rows(["a", "a"], {"a": Whatever(vector)})


def test_evidence_that_does_not_fit_names_the_group():
    with pytest.raises(ValueError, match=re.escape("group (1, 'x'): Count(2) cannot hold in a group of 1")):
        group_rows([(1, "x")], {(1, "x"): Count(2)})
