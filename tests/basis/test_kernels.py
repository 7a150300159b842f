import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels, rbf_kernel
from sklearn.svm import SVC

from disaggregate.basis import resolve_kernel

RNG = np.random.default_rng(5)
X = np.abs(RNG.normal(size=(9, 3)))
CENTERS = X[:4]

PARAMETERS = {
    "additive_chi2": {},
    "chi2": {"gamma": 0.7},
    "cosine": {},
    "laplacian": {"gamma": 0.7},
    "linear": {},
    "poly": {"gamma": 0.7, "degree": 2, "coef0": 0.5},
    "polynomial": {"gamma": 0.7, "degree": 2, "coef0": 0.5},
    "rbf": {"gamma": 0.7},
    "sigmoid": {"gamma": 0.7, "coef0": 0.5},
}


@pytest.mark.parametrize("name", sorted(PAIRWISE_KERNEL_FUNCTIONS))
def test_named_kernels_are_those_of_scikit_learn(name):
    kernel = resolve_kernel(name, 0.7, 2, 0.5, X)
    expected = pairwise_kernels(X, CENTERS, metric=name, **PARAMETERS[name])
    assert_allclose(kernel.matrix(X, CENTERS), expected, rtol=1e-12)


@pytest.mark.parametrize(("name", "smoothness"), [("matern32", 1.5), ("matern52", 2.5)])
def test_matern_kernels_are_those_of_scikit_learn(name, smoothness):
    kernel = resolve_kernel(name, 0.7, 3, 1.0, X + 50.0)
    expected = Matern(length_scale=(2 * 0.7) ** -0.5, nu=smoothness)(X, CENTERS)
    assert_allclose(kernel.matrix(X + 50.0, CENTERS + 50.0), expected, rtol=1e-9)


def test_a_callable_gets_two_matrices():
    kernel = resolve_kernel(lambda A, B: A @ B.T + 1.0, "scale", 3, 1.0, X)
    assert_array_equal(kernel.matrix(X, CENTERS), X @ CENTERS.T + 1.0)


def test_a_callable_of_two_rows_is_refused_with_advice():
    kernel = resolve_kernel(lambda a, b: 1.0, "scale", 3, 1.0, X)
    with pytest.raises(ValueError, match=r"returns shape \(9, 4\), got \(\); .* functools.partial"):
        kernel.matrix(X, CENTERS)


def test_scale_is_that_of_svc():
    machine = SVC(gamma="scale").fit(X, np.arange(9) % 2)
    assert resolve_kernel("rbf", "scale", 3, 1.0, X).gamma == pytest.approx(machine._gamma, rel=1e-12)


@pytest.mark.parametrize("flat", [np.ones((5, 2)), np.zeros((1, 1)), np.full((3, 2), 1e300) * [[1], [-1], [1]]])
def test_scale_of_features_without_a_usable_spread_is_1(flat):
    assert resolve_kernel("rbf", "scale", 3, 1.0, flat).gamma == 1.0


@pytest.mark.parametrize("offset", [1e8, -1e10])
def test_rbf_keeps_its_digits_far_from_zero(offset):
    far = X + offset  # the rounding of these sums is the only error left
    near = far - offset
    kernel = resolve_kernel("rbf", 0.7, 3, 1.0, far)
    assert_allclose(kernel.matrix(far, far[:4]), rbf_kernel(near, near[:4], gamma=0.7), rtol=1e-9)
    assert_allclose(np.diag(kernel.matrix(far, far)), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "rfb"}, "kernel must be a callable or one of .* rbf, sigmoid; got 'rfb'"),
        ({"kernel": None}, "kernel must be a callable .* got None"),
        ({"kernel": ["rbf"]}, r"kernel must be a callable .* got \['rbf'\]"),
        ({"gamma": "auto"}, "gamma must be a positive number or \"scale\", got 'auto'"),
        ({"gamma": 0}, "gamma must be a positive number"),
        ({"gamma": -1.0}, "gamma must be a positive number"),
        ({"gamma": np.nan}, "gamma must be a positive number"),
        ({"gamma": np.inf}, "gamma must be a positive number"),
        ({"gamma": None}, "gamma must be a positive number"),
        ({"gamma": True}, "gamma must be a positive number"),
        ({"gamma": [1.0]}, "gamma must be a positive number"),
        ({"degree": "3"}, "degree must be a finite number, got '3'"),
        ({"degree": None}, "degree must be a finite number, got None"),
        ({"coef0": np.nan}, "coef0 must be a finite number, got nan"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    good = {"kernel": "rbf", "gamma": 1.0, "degree": 3, "coef0": 1.0}
    with pytest.raises(ValueError, match=message):
        resolve_kernel(**{**good, **settings}, X=X)
