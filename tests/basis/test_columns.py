import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from disaggregate.basis import Basis, resolve_kernel, unit_columns

X = np.random.default_rng(4).normal(size=(6, 2))


def make_basis(intercept, kernel="rbf", centers=X):
    return Basis(resolve_kernel(kernel, 0.5, 3, 1.0, X), centers, intercept)


@pytest.mark.parametrize("intercept", [False, True])
def test_columns_are_the_intercept_and_the_kernels(intercept):
    basis = make_basis(intercept)
    psi = basis.columns(X)
    assert psi.shape == (basis.n_columns, 6)
    assert basis.n_columns == 6 + intercept
    assert_allclose(psi[int(intercept) :], rbf_kernel(X, X, gamma=0.5).T, rtol=1e-12)
    assert_array_equal(psi[: int(intercept)], 1.0)


@pytest.mark.parametrize("wanted", [[0], [3, 1], [0, 2, 6], []])
def test_wanted_columns_come_in_the_wanted_order(wanted):
    basis = make_basis(True)
    chosen = basis.columns(X, np.array(wanted, dtype=int))
    assert_allclose(chosen, basis.columns(X)[wanted], rtol=1e-12)


def test_a_kernel_that_overflows_is_refused_with_advice():
    with pytest.raises(ValueError, match="infinite or NaN values on these features; scale them first"):
        make_basis(True, "linear", centers=np.full((1, 2), 1e200)).columns(X * 1e200)


def test_unit_columns_have_unit_mean_square_and_remember_their_scale():
    psi = np.array([[1.0, 1.0, 1.0], [3.0, 0.0, 0.0], [1e200, 2e200, -1e200], [1e-90, 0.0, 1e-90]])
    scaled, scales = unit_columns(psi.copy())
    assert_allclose(np.mean(scaled**2, axis=1), 1.0, rtol=1e-12)
    assert_allclose(scaled * scales[:, None], psi, rtol=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-150, 5e-324])
def test_vanishing_columns_become_zero(size):
    scaled, scales = unit_columns(np.array([[size, size], [1.0, 2.0]]))
    assert_array_equal(scaled[0], 0.0)
    assert scales[0] == 1.0
    assert scaled[1].any()
