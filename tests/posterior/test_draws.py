from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from disaggregate.basis import Basis, resolve_kernel
from disaggregate.fitting.draw_storage import MemoryStorage
from disaggregate.posterior import draws as draws_module
from disaggregate.posterior.draws import KernelDraws, gather_sparse_draws
from disaggregate.sampler.chain import ChainDraws
from tests.helpers.synthetic import CENTERS, make_posterior, random_posterior

X = np.random.default_rng(6).normal(size=(7, 2))


@pytest.mark.parametrize("intercept", [True, False])
def test_scores_are_the_weighted_sum_of_the_kernels(seed, intercept):
    posterior = random_posterior(seed, intercept=intercept)
    weights = posterior.parts[0].weights.toarray()
    expected = weights[:, int(intercept) :] @ (CENTERS @ X.T) + (weights[:, :1] if intercept else 0.0)
    assert posterior.scores(X).shape == (10, 7)
    assert_allclose(posterior.scores(X), expected, rtol=1e-12, atol=1e-12)


def test_scores_without_any_active_kernel_are_zero():
    posterior = make_posterior(np.zeros((4, 3)), n_chains=2, intercept=False)
    assert_array_equal(posterior.scores(X), np.zeros((4, 7)))


def chain_draws(size, active, weights, scale):
    nothing = [np.zeros(1)] * 4
    return ChainDraws(np.array(size), np.array(scale), np.array(active), np.array(weights), *nothing)


def test_chains_are_gathered_in_order_and_in_the_units_of_the_kernels():
    basis = Basis(resolve_kernel("linear", 1.0, 3, 1.0, CENTERS), CENTERS, True)
    scales = np.array([1.0, 2.0, 4.0, 8.0])
    one = chain_draws([2, 1], [0, 2, 0], [1.0, 8.0, 3.0], [0.1, 0.2])
    two = chain_draws([1, 3], [0, 0, 3, 1], [5.0, 6.0, 8.0, 4.0], [0.3, 0.4])
    posterior = gather_sparse_draws([one, two], basis, scales, partial(MemoryStorage().put, 0))
    assert posterior.shape == (2, 2)
    assert_array_equal(posterior.delta2, [[0.1, 0.2], [0.3, 0.4]])
    assert_array_equal(posterior.n_active, [[1, 0], [0, 2]])
    assert_array_equal(posterior.weights.toarray(), [[1, 0, 2, 0], [3, 0, 0, 0], [5, 0, 0, 0], [6, 2, 0, 1]])


@pytest.mark.parametrize(("rank", "is_product"), [(3, True), (30, False)])
def test_weights_in_few_directions_are_multiplied_by_way_of_them(rank, is_product, rng, monkeypatch):
    monkeypatch.setattr(draws_module, "WORTH_FACTORING", 0)
    centers = rng.standard_normal((30, 2))
    basis = Basis(resolve_kernel("rbf", 1.0, 3, 1.0, centers), centers, False)
    weights = (
        rng.standard_normal((80, rank)) * 10.0 ** -np.arange(rank).clip(max=8) @ rng.standard_normal((rank, 30))
    )
    draws = KernelDraws(basis, np.ones((2, 40)), np.zeros((2, 40)), weights)
    assert (draws._factors is not None) == is_product
    assert_allclose(draws.scores(X), weights @ basis.columns(X), rtol=1e-9, atol=1e-12 * np.abs(weights).max())


def test_a_draw_that_leaves_the_directions_of_the_others_is_not_lost(rng, monkeypatch):
    monkeypatch.setattr(draws_module, "WORTH_FACTORING", 0)
    centers = rng.standard_normal((30, 2))
    basis = Basis(resolve_kernel("rbf", 1.0, 3, 1.0, centers), centers, False)
    weights = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 30))
    weights[1] += rng.standard_normal(30)  # not among those that the directions are found from
    draws = KernelDraws(basis, np.ones((2, 40)), np.zeros((2, 40)), weights)
    assert_allclose(draws.scores(X), weights @ basis.columns(X), rtol=1e-9, atol=1e-10)


# ---- ArviZ --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("with_X", [True, False])
def test_datatree_holds_the_draws(seed, intercept, with_X):
    posterior = random_posterior(seed, n_draws=6, intercept=intercept)
    tree = posterior.to_datatree(X if with_X else None)
    draws = tree["posterior"]
    expected = {"delta2", "n_active"} | ({"intercept"} if intercept else set())
    assert set(draws.data_vars) == expected | ({"probability"} if with_X else set())
    assert draws["delta2"].dims == ("chain", "draw")
    assert_array_equal(draws["delta2"], posterior.delta2)
    assert_array_equal(draws["n_active"], posterior.n_active)
    if intercept:
        assert_array_equal(draws["intercept"], posterior.parts[0].weights.toarray()[:, 0].reshape(2, 6))
    if with_X:
        assert draws["probability"].dims == ("chain", "draw", "individual")
        assert_allclose(draws["probability"], ndtr(posterior.scores(X)).reshape(2, 6, 7))


@pytest.mark.parametrize("with_X", [True, False])
def test_arviz_summarises_the_draws(seed, with_X):
    arviz_stats = pytest.importorskip("arviz_stats")
    posterior = random_posterior(seed, n_chains=4, n_draws=100)
    tree = posterior.to_datatree(X if with_X else None)
    table = arviz_stats.summary(tree)
    assert len(table) == 3 + (7 if with_X else 0)
    assert float(table.loc["delta2", "mean"]) == pytest.approx(posterior.delta2.mean(), rel=0.1)
    rhat, ess = arviz_stats.rhat(tree), arviz_stats.ess(tree)
    assert 0.9 < float(rhat["delta2"]) < 1.1
    assert 100 < float(ess["delta2"]) < 1000


@pytest.mark.parametrize("with_X", [True, False])
def test_arviz_draws_traces(seed, with_X):
    matplotlib = pytest.importorskip("matplotlib")
    # arviz-plots for Python 3.11 expects two things of matplotlib that 3.11 changed: that this module is loaded
    # (arviz-plots, issue 500), and that the colours of a cycle are strings.
    pytest.importorskip("matplotlib.style.core")
    colours = matplotlib.cycler(color=["#1f77b4", "#ff7f0e", "#2ca02c"])
    arviz_plots = pytest.importorskip("arviz_plots")
    matplotlib.use("Agg")
    tree = random_posterior(seed, n_draws=50).to_datatree(X[:2] if with_X else None)
    with matplotlib.rc_context({"axes.prop_cycle": colours}):
        plot = arviz_plots.plot_trace(tree, backend="matplotlib")
    assert len(plot.viz["figure"].item().axes) >= (5 if with_X else 3)
    matplotlib.pyplot.close("all")
