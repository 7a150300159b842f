import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Count, Fraction
from disaggregate.posterior.group_table import group_table


def table_of(tallies, level=0.9):
    """Tabulate one group in which count k occurred ``tallies[k]`` times."""
    data = group_rows(["a"] * (len(tallies) - 1), {"a": AtLeast(0)})
    return group_table(data, np.array(tallies), level).iloc[0]


def test_columns_and_rows():
    data = group_rows(["b", "a", "b", (1, 2)], {"b": Fraction(0.3), "a": Count(1), (1, 2): AtLeast(1)})
    table = group_table(data, np.array([0, 10, 0, 0, 10, 0, 10]), 0.9)
    assert table.columns.tolist() == ["group", "n", "reported", "implied", "conf_low", "conf_high"]
    assert table["group"].tolist() == ["b", "a", (1, 2)]
    assert table["n"].tolist() == [2, 1, 1]
    assert_array_equal(table["reported"], [0.3, 1.0, np.nan])
    assert_array_equal(table["implied"], [0.5, 1.0, 1.0])


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_mean_and_interval_are_those_of_the_shares_that_occurred(seed, level):
    tallies = np.random.default_rng(seed).integers(0, 30, size=12)
    shares = np.repeat(np.arange(12) / 11, tallies)
    row = table_of(tallies, level)
    assert row["implied"] == pytest.approx(shares.mean())
    expected = np.quantile(shares, [0.5 - level / 2, 0.5 + level / 2], method="inverted_cdf")
    assert_allclose([row["conf_low"], row["conf_high"]], expected)


def test_a_certain_count_has_no_width():
    row = table_of([0, 0, 50, 0])
    assert row["implied"] == row["conf_low"] == row["conf_high"] == pytest.approx(2 / 3)


def test_a_single_draw_is_enough():
    assert table_of([0, 1], level=0.999)["conf_low"] == 1.0


def test_an_end_that_falls_between_two_counts_takes_the_lower():
    row = table_of([1, 1, 1, 1], level=0.5)
    assert_allclose([row["conf_low"], row["conf_high"]], [0.0, 2 / 3])
