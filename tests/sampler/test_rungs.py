import numpy as np
import pytest
from numpy.testing import assert_allclose

from disaggregate.sampler.rungs import first_powers, respaced


def test_rungs_go_where_swaps_fail():
    powers = np.array([1.0, 0.5, 0.25, 0.0])
    spaced = respaced(powers, np.array([0.9, 0.05, 0.05]), 4)
    assert spaced[0] == 1.0
    assert spaced[-1] == 0.0
    assert np.all(np.diff(spaced) < 0)
    assert (spaced > 0.5).sum() == 3


def test_even_rungs_stay():
    powers = np.array([1.0, 0.5, 0.25, 0.0])
    assert_allclose(respaced(powers, np.full(3, 0.5), 4), powers, atol=1e-12)


@pytest.mark.parametrize(("rejected", "n_rungs"), [(0.01, 4), (0.7, 4), (0.99, 6), (1.0, 6)])
def test_number_of_rungs_follows_the_barrier(rejected, n_rungs):
    powers = np.array([1.0, 0.5, 0.25, 0.0])
    assert len(respaced(powers, np.full(3, rejected), None)) == n_rungs


@pytest.mark.parametrize("n_rungs", [None, 2, 3, 9])
def test_first_powers_go_from_one_to_zero(n_rungs):
    powers = first_powers(n_rungs)
    assert len(powers) == (n_rungs or 12)
    assert powers[0] == 1.0
    assert powers[-1] == 0.0
    assert np.all(np.diff(powers) < 0)


def test_a_single_rung_has_the_evidence_itself():
    assert_allclose(first_powers(1), [1.0])
