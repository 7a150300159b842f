"""Dense weights: the directions span the Gaussian process that the kernels define."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from disaggregate.basis import Basis, choose_centers, principal_directions, resolve_kernel


def make_basis(X: np.ndarray, centers: np.ndarray, kernel: str, intercept: bool) -> Basis:
    return Basis(resolve_kernel(kernel, 0.4, 3, 1.0, X), centers, intercept)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("kernel", "function"), [("rbf", lambda X: rbf_kernel(X, gamma=0.4)), ("linear", linear_kernel)]
)
def test_prior_covariance_is_the_scaled_kernel(kernel: str, function, intercept: bool, rng) -> None:
    X = rng.standard_normal((40, 3))
    basis = make_basis(X, X, kernel, intercept)
    directions = principal_directions(basis, basis.columns(X))
    gram = function(X)
    expected = gram / np.diag(gram).mean() + float(intercept)
    covariance = directions.columns.T * directions.spread @ directions.columns
    np.testing.assert_allclose(covariance, expected, atol=0.02)
    assert 0.998 * np.trace(expected) < np.trace(covariance) < 1.001 * np.trace(expected)
    np.testing.assert_allclose(
        directions.columns @ directions.columns.T, np.eye(len(directions.spread)), atol=1e-9
    )
    assert (np.diff(directions.spread) <= 0).all()


def test_columns_can_be_had_one_by_one_with_a_context(rng) -> None:
    X, context = rng.standard_normal((2, 6, 3))
    basis = Basis(resolve_kernel("rbf", 0.4, 3, 1.0, X), X[:4], True, context=True)
    rows = np.hstack([X, context])
    whole = basis.columns(rows)
    np.testing.assert_array_equal(whole[0], 1.0)
    np.testing.assert_array_equal(whole[1:4], context.T)
    for column in range(basis.n_columns):
        np.testing.assert_allclose(basis.columns(rows, np.array([column]))[0], whole[column])


def test_linear_kernel_has_as_many_directions_as_features(rng) -> None:
    X = rng.standard_normal((40, 3))
    basis = make_basis(X, X, "linear", True)
    assert len(principal_directions(basis, basis.columns(X)).spread) == 4


@pytest.mark.parametrize("n_centers", [7, 30])
def test_weights_of_directions_become_weights_of_kernels(n_centers: int, rng) -> None:
    X = rng.standard_normal((30, 2))
    basis = make_basis(X, X[:n_centers], "rbf", True)
    psi = basis.columns(X)
    directions = principal_directions(basis, psi)
    weights = rng.standard_normal((5, len(directions.spread)))
    np.testing.assert_allclose(weights @ directions.to_kernels @ psi, weights @ directions.columns, atol=1e-5)


def test_a_kernel_of_zeros_leaves_no_direction() -> None:
    X = np.ones((4, 1))
    basis = Basis(resolve_kernel(lambda a, b: np.zeros((len(a), len(b))), 1.0, 3, 1.0, X), X, False)
    directions = principal_directions(basis, basis.columns(X))
    assert directions.columns.shape == (0, 4)
    assert directions.to_kernels.shape == (0, 4)


def test_a_rough_process_keeps_its_smoothest_directions(rng, monkeypatch) -> None:
    monkeypatch.setattr("disaggregate.basis.directions.MOST", 5)
    X = rng.standard_normal((30, 4))
    basis = make_basis(X, X, "rbf", True)
    directions = principal_directions(basis, basis.columns(X))
    largest = np.linalg.eigvalsh(rbf_kernel(X, gamma=0.4) + 1.0)[::-1][:5]
    np.testing.assert_allclose(directions.spread, largest, rtol=1e-6)


def emphasised(gram: np.ndarray, emphasis: float, intercept: bool) -> np.ndarray:
    """Raise the spectrum of a kernel matrix to a power, by another way than the library."""
    if intercept:
        middle = np.eye(len(gram)) - 1.0 / len(gram)
        gram = middle @ gram @ middle
    value, vector = np.linalg.eigh(gram)
    power = vector * np.maximum(value, 0.0) ** emphasis @ vector.T
    return power / np.diag(power).mean() + float(intercept)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("emphasis", [0.5, 2.0, 3.0])
@pytest.mark.parametrize(
    ("kernel", "function"), [("rbf", lambda X: rbf_kernel(X, gamma=0.4)), ("linear", linear_kernel)]
)
def test_emphasis_is_a_power_of_the_spectrum(kernel: str, function, emphasis: float, intercept: bool, rng) -> None:
    X = rng.standard_normal((40, 3)) * [3.0, 1.0, 0.3] + 1.0
    basis = replace(make_basis(X, X, kernel, intercept), emphasis=emphasis)
    directions = principal_directions(basis, basis.columns(X))
    covariance = directions.columns.T * directions.spread @ directions.columns
    np.testing.assert_allclose(covariance, emphasised(function(X), emphasis, intercept), atol=0.05)


def test_the_greatest_emphasis_leaves_one_direction(rng) -> None:
    X = rng.standard_normal((40, 3)) * [100.0, 1.0, 0.3]
    basis = replace(make_basis(X, X, "linear", True), emphasis=1000.0)
    directions = principal_directions(basis, basis.columns(X))
    assert len(directions.spread) == 2  # with the intercept
    assert np.isfinite(directions.columns).all()


def test_emphasis_leaves_the_constant_to_the_intercept(rng) -> None:
    X = rng.standard_normal((40, 3)) + 5.0
    basis = replace(make_basis(X, X, "linear", True), emphasis=2.0)
    directions = principal_directions(basis, basis.columns(X))
    covariance = directions.columns.T * directions.spread @ directions.columns
    assert covariance.mean() == pytest.approx(1.0, abs=1e-3)  # variance of the mean of f


@pytest.mark.parametrize("intercept", [False, True])
def test_emphasis_holds_away_from_the_centers(intercept: bool, rng) -> None:
    X = rng.standard_normal((30, 2))
    basis = replace(make_basis(X, X[:12], "rbf", intercept), emphasis=2.0)
    psi = basis.columns(X)
    directions = principal_directions(basis, psi)
    covariance = directions.columns.T * directions.spread @ directions.columns
    np.testing.assert_allclose(
        covariance[:12, :12], emphasised(rbf_kernel(X[:12], gamma=0.4), 2.0, intercept), atol=0.05
    )
    weights = rng.standard_normal((5, len(directions.spread)))
    np.testing.assert_allclose(weights @ directions.to_kernels @ psi, weights @ directions.columns, atol=1e-5)


def test_leading_directions_are_those_of_largest_variance_and_the_constant(rng):
    X = rng.normal(size=(30, 3))
    basis = Basis(resolve_kernel("rbf", 0.5, 3, 1.0, X), X, True)
    every = principal_directions(basis, basis.columns(X), separate_constant=True)
    few = every.leading(4)
    assert few.columns.shape == (5, 30)
    np.testing.assert_array_equal(few.columns, every.columns[:5])
    assert few.spread.min() >= every.spread[4:].max()
    assert every.leading(10_000).to_kernels.shape == every.to_kernels.shape


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("emphasis", [1.0, 2.0])
def test_landmarks_leave_the_prior_of_people_of_few_kinds_as_it_is(kernel: str, emphasis: float, rng) -> None:
    X = np.repeat(rng.standard_normal((4, 2)), [50, 30, 15, 5], axis=0)
    landmarks = choose_centers(X, 40, rng)
    everybody = replace(make_basis(X, X, kernel, True), emphasis=emphasis)
    few = replace(everybody, centers=landmarks.points, weights=landmarks.weights)
    whole, part = (principal_directions(basis, basis.columns(X), True) for basis in (everybody, few))
    covariances = [own.columns[1:].T * own.spread @ own.columns[1:] for own in (part, whole)]
    np.testing.assert_allclose(*covariances, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_landmarks_that_are_far_out_centre_and_scale_by_the_individuals(kernel: str, rng) -> None:
    X = rng.standard_normal((600, 3)) ** 3 + 1.0
    landmarks = choose_centers(X, 100, rng)
    basis = replace(make_basis(X, landmarks.points, kernel, True), weights=landmarks.weights)
    alike = replace(basis, weights=None)
    (of_mean, average), (of_mean_alike, average_alike) = (mean_and_variance(one, X) for one in (basis, alike))
    assert of_mean < 0.02
    assert of_mean_alike > 3.0 * of_mean
    if kernel == "linear":  # others have less variance where individuals are alike
        assert abs(average - 1.0) < 0.1
        assert abs(average_alike - 1.0) > 0.5


def mean_and_variance(basis: Basis, X: np.ndarray) -> tuple[float, float]:
    """Prior variance of the average f of some individuals, and average prior variance of f."""
    directions = principal_directions(basis, basis.columns(X), separate_constant=True)
    columns = directions.columns[directions.n_fixed :]
    of_mean, average = directions.spread @ columns.mean(axis=1) ** 2, (directions.spread @ columns**2).mean()
    return float(of_mean), float(average)
