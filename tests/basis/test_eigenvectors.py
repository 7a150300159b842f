"""Leading eigenvectors from a random subspace against all of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from disaggregate.basis import eigenvectors
from disaggregate.basis.eigenvectors import leading_eigenvectors


@pytest.fixture(scope="module")
def kernel():
    rng = np.random.default_rng(0)
    return rbf_kernel(rng.standard_normal((700, 2)), gamma=0.3)


def test_they_hold_nearly_all_of_the_variance_and_are_exact_where_it_matters(kernel):
    found, every = leading_eigenvectors(kernel, 2.0), np.linalg.eigvalsh(kernel)
    assert len(found.value) < 100
    assert_allclose(found.value[-30:], every[-30:], rtol=1e-8)
    assert_allclose(kernel @ found.vector[:, -10:], found.vector[:, -10:] * found.value[-10:], atol=1e-8)
    assert_allclose(found.total, np.sum((every / every[-1]) ** 2), rtol=1e-10)


def test_the_same_matrix_has_the_same_eigenvectors(kernel):
    one, other = leading_eigenvectors(kernel, 1.0), leading_eigenvectors(kernel.copy(), 1.0)
    np.testing.assert_array_equal(one.vector, other.vector)


def test_a_matrix_of_low_rank_has_no_more_than_its_rank(rng):
    half = rng.standard_normal((600, 4))
    found = leading_eigenvectors(half @ half.T, 1.0)
    assert np.sum(found.value > 1e-10 * found.value.max()) == 4
    assert_allclose(np.sort(found.value)[-4:], np.linalg.eigvalsh(half.T @ half), rtol=1e-9)


@pytest.mark.parametrize(("sign", "power"), [(-1.0, 1.0), (1.0, 3.0)])
def test_what_is_no_covariance_and_other_powers_are_decomposed_as_a_whole(sign, power, kernel):
    matrix = kernel + sign * 5.0 * np.diag(np.arange(len(kernel)) < 3)
    found = leading_eigenvectors(matrix, power)
    assert len(found.value) == len(matrix)


def test_small_matrices_are_decomposed_as_a_whole(kernel, monkeypatch):
    monkeypatch.setattr(eigenvectors, "SMALL", len(kernel))
    assert len(leading_eigenvectors(kernel, 2.0).value) == len(kernel)
