"""Fewer draws where they are enough, and an error that is what it says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

import disaggregate as dg
from disaggregate.basis import Basis, Kernel
from disaggregate.posterior import predictions
from disaggregate.posterior.draws import KernelDraws
from disaggregate.posterior.mixture import Posterior, interleave
from disaggregate.posterior.thinning import every, monte_carlo_error, thin_to


def drawn(rng, n_draws, mean):
    basis = Basis(Kernel("linear", 1.0, 1.0, 0.0), np.ones((1, 1)), True)
    weights = np.column_stack([np.full(2 * n_draws, mean), rng.standard_normal(2 * n_draws)])
    return KernelDraws(basis, rng.random((2, n_draws)), np.ones((2, n_draws)), weights)


def test_the_error_is_that_of_independent_draws(rng: np.random.Generator) -> None:
    posterior = interleave([drawn(rng, 800, 0.0)], rng)
    X = np.array([[0.0], [1.0]])  # nothing is uncertain at the first
    expected = ndtr(rng.standard_normal(10**6)).std() / np.sqrt(1600)
    assert_allclose(monte_carlo_error(posterior, X), expected, rtol=0.3)
    assert monte_carlo_error(posterior, X[:1]) == 0.0


def test_draws_are_kept_as_far_as_they_are_needed(rng: np.random.Generator) -> None:
    posterior = interleave([drawn(rng, 800, 0.0)], rng)
    X = np.ones((3, 1))
    assert thin_to(posterior, X, 1e-6) is posterior
    error = monte_carlo_error(posterior, X)
    quarter = thin_to(posterior, X, 2.5 * error)
    assert quarter.shape == (2, 200)
    assert monte_carlo_error(quarter, X) <= 2.5 * error
    assert thin_to(posterior, X, 1.0).shape[1] >= 20
    with pytest.raises(ValueError, match="precision must be a positive number"):
        thin_to(posterior, X, 0.0)


def test_thinned_draws_are_draws(rng: np.random.Generator) -> None:
    posterior = interleave([drawn(rng, 30, 0.0), drawn(rng, 20, 3.0)], rng)
    X = np.array([[0.5], [2.0]])
    scores = posterior.scores(X).reshape(2, 50, 2)
    fewer = every(posterior, 5)
    assert_array_equal(fewer.scores(X).reshape(2, 10, 2), scores[:, 4::5])
    assert_array_equal(fewer.delta2, posterior.delta2[:, 4::5])
    only = Posterior((posterior.parts[0],), np.zeros(30, dtype=int))
    assert every(only, 30).shape == (2, 1)


def test_pieces_on_threads_are_the_whole(monkeypatch, rng: np.random.Generator) -> None:
    posterior = interleave([drawn(rng, 30, 0.0)], rng)
    X = rng.standard_normal((57, 1))
    whole = predictions.probability_summary(posterior, X, 0.9)
    monkeypatch.setattr(predictions, "VALUES_AT_ONCE", 600)
    assert_allclose(predictions.probability_summary(posterior, X, 0.9), whole, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_classifier_predicts_to_a_precision() -> None:
    town = dg.datasets.make_districts(random_state=0)
    model = dg.GroupStatsClassifier(kernel="linear", n_chains=2, n_draws=200, n_burn=50, random_state=0)
    model.fit(town.X, town.shares, groups=town.groups)
    error = model.monte_carlo_error(town.X)
    assert 0.0 < error < 0.1
    full, quick = model.predict_proba(town.X), model.predict_proba(town.X, precision=3.0 * error)
    assert not np.array_equal(full, quick)
    assert_allclose(full, quick, atol=12.0 * error)
