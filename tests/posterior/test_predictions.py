import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from disaggregate.posterior import predictions
from disaggregate.posterior.predictions import probability_draws, probability_interval, probability_mean
from tests.helpers.synthetic import random_posterior

X = np.random.default_rng(7).normal(size=(23, 2))


@pytest.fixture
def posterior(seed):
    return random_posterior(seed, n_chains=3, n_draws=8)


def test_draws_are_the_probabilities_of_each_draw(posterior):
    draws = probability_draws(posterior, X)
    assert draws.shape == (3, 8, 23)
    assert_allclose(draws, ndtr(posterior.scores(X)).reshape(3, 8, 23), rtol=1e-12)
    assert draws.flags.c_contiguous


def test_mean_is_the_mean_of_the_draws(posterior):
    assert_allclose(probability_mean(posterior, X), probability_draws(posterior, X).mean(axis=(0, 1)), rtol=1e-12)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9, 0.999])
def test_interval_ends_are_quantiles_of_the_draws(posterior, level):
    draws = probability_draws(posterior, X).reshape(24, 23)
    expected = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0).T
    assert_allclose(probability_interval(posterior, X, level), expected, rtol=1e-12)


@pytest.mark.parametrize("values_at_once", [1, 24 * 2, 24 * 7, 24 * 23])
def test_pieces_do_not_show(posterior, values_at_once, monkeypatch):
    whole = [
        probability_mean(posterior, X),
        probability_interval(posterior, X, 0.8),
        probability_draws(posterior, X),
    ]
    sizes = []
    scores = type(posterior).scores
    monkeypatch.setattr(
        type(posterior), "scores", lambda self, rows: (sizes.append(len(rows)), scores(self, rows))[1]
    )
    monkeypatch.setattr(predictions, "VALUES_AT_ONCE", values_at_once)
    pieces = [
        probability_mean(posterior, X),
        probability_interval(posterior, X, 0.8),
        probability_draws(posterior, X),
    ]
    assert max(sizes) == max(1, values_at_once // 24)
    assert sum(sizes) == 3 * 23
    for one, other in zip(whole, pieces, strict=True):
        assert one.shape == other.shape
        assert_allclose(one, other, rtol=1e-12)


def test_one_row(posterior):
    assert probability_draws(posterior, X[:1]).shape == (3, 8, 1)
    assert_array_equal(probability_mean(posterior, X[:1]).shape, (1,))
