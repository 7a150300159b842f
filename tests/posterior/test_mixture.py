import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from disaggregate.posterior.convergence import rank_rhat
from disaggregate.posterior.mixture import allocate, interleave
from tests.helpers.synthetic import make_draws

X = np.array([[0.3, -1.2], [1.0, 0.4]])


def numbered(first, n_draws, n_chains=2):
    """Draws whose intercepts count up from a number, and whose kernels are off."""
    weights = np.zeros((n_chains * n_draws, 4))
    weights[:, 0] = first + np.arange(len(weights))
    delta2 = weights[:, 0].reshape(n_chains, n_draws)
    return make_draws(weights, n_chains, delta2=delta2)


def test_one_kernel_stays_as_it_is(rng):
    part = numbered(0.0, 5)
    posterior = interleave([part], rng)
    assert posterior.shape == (2, 5)
    assert_array_equal(posterior.delta2, part.delta2)
    assert_array_equal(posterior.scores(X), part.scores(X))


def test_each_kernel_keeps_its_draws_in_their_order(rng):
    one, two = numbered(0.0, 6), numbered(100.0, 3)
    posterior = interleave([one, two], rng)
    assert posterior.shape == (2, 9)
    for place, part in enumerate((one, two)):
        mine = posterior.part_of_draw == place
        assert mine.sum() == part.shape[1]
        assert_array_equal(posterior.delta2[:, mine], part.delta2)
        scores = posterior.scores(X).reshape(2, 9, 2)[:, mine]
        assert_array_equal(scores, part.scores(X).reshape(*part.shape, 2))


def test_all_quantities_are_in_the_same_order(rng):
    posterior = interleave([numbered(0.0, 6), numbered(100.0, 3)], rng)
    assert_array_equal(posterior.delta2.ravel(), posterior.scores(X)[:, 0])
    assert_array_equal(posterior.to_datatree()["posterior"]["intercept"], posterior.delta2)


def test_chains_that_agree_in_each_kernel_agree_in_the_mixture(rng):
    def settled(middle, n_draws):
        weights = np.zeros((2 * n_draws, 4))
        weights[:, 0] = middle + rng.normal(size=2 * n_draws)
        return make_draws(weights, 2, delta2=weights[:, 0].reshape(2, n_draws))

    posterior = interleave([settled(0.0, 700), settled(8.0, 300)], rng)
    assert rank_rhat(posterior.delta2) < 1.01
    assert_allclose(posterior.delta2.mean(), 2.4, atol=0.15)


@pytest.mark.parametrize(
    ("n_draws", "weights", "expected"),
    [
        (10, [1.0], [10]),
        (10, [0.5, 0.5], [5, 5]),
        (10, [0.66, 0.34], [7, 3]),
        (3, [0.9, 0.05, 0.05], [3, 0, 0]),
        (1000, [0.3334, 0.3333, 0.3333], [334, 333, 333]),
    ],
)
def test_draws_are_shared_out_by_weight_and_none_is_lost(n_draws, weights, expected):
    shares = allocate(n_draws, np.array(weights))
    assert_array_equal(shares, expected)
    assert shares.sum() == n_draws
