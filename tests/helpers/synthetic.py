"""Posteriors made by hand."""

import numpy as np
from scipy.sparse import csr_array

from disaggregate.basis import Basis, resolve_kernel
from disaggregate.posterior.draws import KernelDraws
from disaggregate.posterior.mixture import Posterior

CENTERS = np.array([[0.0, 0.0], [1.0, -1.0], [2.0, 0.5]])


def make_posterior(weights, n_chains, intercept=True, delta2=None):
    """Make a posterior of these weights, a row per draw, on the linear kernel of three centres."""
    return Posterior((make_draws(weights, n_chains, intercept, delta2),), np.zeros(len(weights) // n_chains, int))


def make_draws(weights, n_chains, intercept=True, delta2=None):
    """Make draws of these weights."""
    weights = np.asarray(weights, dtype=float)
    shape = n_chains, len(weights) // n_chains
    return KernelDraws(
        basis=Basis(resolve_kernel("linear", 1.0, 3, 1.0, CENTERS), CENTERS, intercept),
        delta2=np.ones(shape) if delta2 is None else delta2,
        n_active=(weights != 0).sum(axis=1).reshape(shape) - int(intercept),
        weights=csr_array(weights),
    )


def random_posterior(seed, n_chains=2, n_draws=5, intercept=True):
    """Make a posterior of random weights, about half of them zero."""
    rng = np.random.default_rng(seed)
    n_columns = len(CENTERS) + int(intercept)
    weights = rng.normal(size=(n_chains * n_draws, n_columns)) * (
        rng.random((n_chains * n_draws, n_columns)) < 0.6
    )
    return make_posterior(weights, n_chains, intercept, rng.gamma(2.0, size=(n_chains, n_draws)))
