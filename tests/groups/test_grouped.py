import datetime
import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AllOf, AtLeast, Count, Evidence, Fraction, NoisyCount, Population, Unknown
from disaggregate.groups.grouped import SHARE_STEPS

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


# ---- rows that stand for many ---------------------------------------------------------------------------

CELLS, PER_CELL = ["a", "b", "a", "b", "c"], np.array([3, 1, 2, 4, 1])


def test_groups_are_as_large_as_their_counts():
    evidence = {"a": Count(2), "b": Fraction(0.5, 10.0), "c": Unknown()}
    data = group_rows(CELLS, evidence, counts=PER_CELL)
    assert_array_equal(data.counts, [3, 2, 1, 4, 1])
    assert_array_equal(data.units, np.ones(5))
    assert_array_equal(data.sizes, [2, 2, 1])
    assert_array_equal(data.people, [5, 5, 1])
    assert_array_equal(data.totals, [5, 5, 1])
    assert_array_equal(data.starts, [0, 6, 12, 14])
    assert_array_equal(np.diff(data.tally_starts) - 1, [5, 5, 1])
    assert_array_equal(data.tally_starts, data.starts)
    assert_array_equal(data.reported_shares, [0.4, 0.5, math.nan])
    assert data.nodes is None
    assert data.lengths is None


def test_cells_have_the_evidence_of_their_people():
    evidence = {"a": NoisyCount(1.3, 2.0), "b": Fraction(0.5, 10.0), "c": AtLeast(1)}
    cells = group_rows(CELLS, evidence, counts=PER_CELL)
    people = group_rows(np.repeat(CELLS, PER_CELL).tolist(), evidence)
    assert_array_equal(cells.log_likelihood, people.log_likelihood)
    assert_array_equal(cells.people, people.people)
    assert_array_equal(cells.reported_shares, people.reported_shares)
    assert people.counts is None


def test_evidence_that_does_not_fit_the_people_names_the_group():
    group_rows(["a", "a"], {"a": Count(5)}, counts=np.array([3, 2]))
    with pytest.raises(ValueError, match=re.escape("group 'a': Count(6) cannot hold in a group of 5")):
        group_rows(["a", "a"], {"a": Count(6)}, counts=np.array([3, 2]))
    with pytest.raises(ValueError, match=r"group 'a': Population\(size=4\) expects at least .* its 5 sampled"):
        group_rows(["a", "a"], {"a": Population(0.5, 4)}, counts=np.array([3, 2]))


LARGE = 1_000_000


@pytest.mark.parametrize(
    "report",
    [
        Fraction(0.3),
        Fraction(0.0),
        Fraction(0.123456, math.inf),
        Count(123_457),
        AtLeast(999_999),
        NoisyCount(250_000.5, 40.0),
        Unknown(),
        Population(0.3),
        AllOf((Fraction(0.3), AtLeast(300_001))),
    ],
    ids=repr,
)
def test_only_some_counts_of_a_large_group_of_cells_are_listed(report):
    counts = np.array([400_000, 2, LARGE - 400_000, 1])
    data = group_rows(["a", "b", "a", "b"], {"a": report, "b": Count(1)}, counts=counts)
    assert_array_equal(data.people, [LARGE, 3])
    assert_array_equal(data.totals, [LARGE, 3])
    assert_array_equal(data.lengths, np.diff(data.starts))
    assert len(data.nodes) == len(data.log_likelihood) == data.starts[-1]
    nodes, values = data.nodes[: data.starts[1]], data.log_likelihood[: data.starts[1]]
    assert len(nodes) < 3000
    assert (np.diff(nodes) > 0).all()
    assert {0, LARGE, *report.support(LARGE)} <= set(nodes.tolist())
    assert_allclose(values, report.log_likelihood(LARGE)[nodes], rtol=1e-12)
    assert_array_equal(data.nodes[data.starts[1] :], np.arange(4))
    assert_array_equal(data.log_likelihood[data.starts[1] :], Count(1).log_likelihood(3))
    assert_array_equal(np.diff(data.tally_starts) - 1, [SHARE_STEPS, 3])
    assert_array_equal(data.tally_starts, [0, SHARE_STEPS + 1, SHARE_STEPS + 5])


@pytest.mark.parametrize("size", [5_000, LARGE])
def test_the_likelihood_of_a_normal_count_is_that_of_all_counts(size):
    report = Fraction(0.3)
    data = group_rows(["a"], {"a": report}, counts=np.array([size]))
    reported = math.sqrt(0.3 * 0.7 / 1000.0)
    for distance, error in ((0.0, 2e-4), (1.0, 2e-4), (4.0, 2e-3)):
        law = norm((0.3 + distance * reported) * size, math.sqrt(0.2 * size))
        expected = log_agreement(law, np.arange(size + 1), report.log_likelihood(size))
        assert_allclose(log_agreement(law, data.nodes, data.log_likelihood), expected, rtol=0.0, atol=error)


def log_agreement(law, nodes, log_likelihood):
    """Each count stands for all up to half-way to its neighbours."""
    ends = np.concatenate([[-np.inf], 0.5 * (nodes[1:] + nodes[:-1]), [np.inf]])
    return np.log(np.diff(law.cdf(ends)) @ np.exp(log_likelihood - log_likelihood.max()))


@pytest.mark.parametrize("counts", [None, np.ones(2500, dtype=int)], ids=["no counts", "of one each"])
def test_all_counts_of_a_large_group_of_people_are_listed(counts):
    data = group_rows(["a"] * 2500, {"a": Fraction(0.3)}, counts=counts)
    assert data.nodes is None
    assert_array_equal(data.log_likelihood, Fraction(0.3).log_likelihood(2500))
    assert_array_equal(np.diff(data.tally_starts) - 1, [2500])


def test_counts_and_unequal_weights_have_two_meanings():
    counts, ids = np.array([3, 2]), ["a", "a"]
    with pytest.raises(ValueError, match="group 'a' has both counts and unequal sample_weight"):
        group_rows(ids, {"a": Fraction(0.5)}, np.array([1.0, 2.0]), counts)
    alike = group_rows(ids, {"a": Fraction(0.5)}, np.full(2, 0.7), counts)
    assert_array_equal(alike.totals, [5])
    of_one = group_rows(ids, {"a": Fraction(0.5)}, np.array([1.0, 2.0]), np.ones(2, dtype=int))
    assert_array_equal(of_one.totals, [3])
    assert_array_equal(of_one.people, [2])


def test_a_group_without_a_report_may_have_counts_and_weights_beside_samples():
    evidence = {"a": Population(0.5), "b": Unknown()}
    data = group_rows(["a", "a", "b", "b"], evidence, np.array([1.0, 2.0, 1.0, 2.0]), np.array([3, 2, 3, 2]))
    assert_array_equal(data.people, [5, 5])


# ---- samples --------------------------------------------------------------------------------------------

SAMPLES = {
    "share of a population": Population(0.3, 1000),
    "and what is known of the members": AllOf((AtLeast(1), Population(0.3, 1000))),
}


@pytest.mark.parametrize("report", SAMPLES.values(), ids=SAMPLES)
def test_samples_know_their_population_and_keep_weights_and_counts(report):
    weights, counts = np.array([0.5, 1.0, 2.0]), np.array([3, 1, 2])
    data = group_rows(["a", "b", "a"], {"a": report, "b": Count(1)}, weights, counts)
    assert data.populations == [Population(0.3, 1000), None]
    assert_array_equal(data.weights, [0.5, 2.0, 1.0])
    assert_array_equal(data.counts, [3, 2, 1])
    assert_array_equal(data.units, [1, 1, 1])
    assert_array_equal(data.totals, [5, 1])
    assert_array_equal(np.diff(data.tally_starts) - 1, [SHARE_STEPS, 1])
    assert_array_equal(data.log_likelihood[:6], report.log_likelihood(5))
    assert_array_equal(data.reported_shares, [0.3, 1.0])
    assert data.rounding_error == 0.0
