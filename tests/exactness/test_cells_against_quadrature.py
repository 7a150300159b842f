"""With three groups of large cells, chains agree with quadrature on the overdispersion of cells."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import roots_hermitenorm

from disaggregate.groups.evidence import Count, NoisyCount
from disaggregate.model.cells import correlation_of
from disaggregate.model.components import make_components
from disaggregate.model.priors import half_normal
from disaggregate.model.reports import make_reports, with_correlation
from disaggregate.sampler.dense.kernels import log_likelihood_by_draw
from disaggregate.sampler.dense.target import LikelihoodGradient, Query
from disaggregate.sampler.dense.whole import WholeData, WholeLikelihood
from tests.exactness import test_scales_against_quadrature as quadratures
from tests.helpers.dense_problems import grouped

pytestmark = pytest.mark.full_pilots

WEIGHT, CELL, PLACE = 0.8, half_normal(0.3, 0.05), half_normal(0.05, 0.02)
COUNTS = np.array([300, 200, 150, 350, 250, 250])


def quadrature(problem: SimpleNamespace, n_weights: int, n: int) -> quadratures.Exact:
    """Integrate over a weight and two scales; the offsets of groups are integrated out, as in the likelihood."""
    w, of_w = roots_hermitenorm(n_weights)
    of_w, w = of_w / of_w.sum(), WEIGHT * w
    cell, place = np.linspace(-9.5, 1.5, n), np.linspace(-12.0, -3.0, n)
    prior = np.exp(CELL.log_density(cell))[:, None] * np.exp(PLACE.log_density(place))
    mass = np.empty((n_weights, n, n))
    for i, log_scale in enumerate(cell):
        reports = with_correlation(problem.reports, float(correlation_of(log_scale)))
        at = [np.repeat(w, n)[:, None] * problem.x, np.zeros((n_weights * n, 3))]
        deviation = np.tile(np.exp(0.5 * place), n_weights)[:, None] * np.ones(3)
        found = log_likelihood_by_draw(reports, *at, np.ascontiguousarray(deviation))
        mass[:, i] = found.sum(axis=1).reshape(n_weights, n)
    mass = np.exp(mass - mass.max()) * of_w[:, None, None] * prior
    mass /= mass.sum()
    means = [mass.sum(axis=(0, 2)) @ cell, mass.sum(axis=(0, 1)) @ place]
    return quadratures.Exact(np.array([mass.sum(axis=(1, 2)) @ w]), np.array(means), np.zeros(0), 0.0)


@pytest.fixture(autouse=True)
def few_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them costs about a second."""
    monkeypatch.setattr(quadratures, "N_CHAINS", 8)


@pytest.fixture(scope="module")
def problem() -> SimpleNamespace:
    data = grouped([Count(320), Count(150), NoisyCount(260.0, 5.0)], [2, 2, 2], None, COUNTS)
    components = make_components(
        1, np.zeros(0), 1, WEIGHT, half_normal(1.0), None, CELL, 3, PLACE, 3, False, cell_prior=CELL
    )
    components = components._replace(spread=np.zeros(1))  # a weight of known deviation, and no constant
    found = SimpleNamespace(x=np.array([1.0, -0.5, 0.7, 1.2, -1.0, 0.2]), reports=make_reports(data))
    found.components, found.exact = components, quadrature(found, 50, 20)
    return found


def distances(problem: SimpleNamespace, n_draws: int, seed: int) -> np.ndarray:
    made = WholeData(problem.components, problem.x[None], problem.reports, np.ones(1))
    draws, _ = quadratures.run(made, 1, n_draws, seed)
    means = np.array([np.log(own.scales[:, 1:]).mean(axis=0) for own in draws])
    means = np.column_stack([[own.weights[:, 0].mean() for own in draws], means])
    error = means.std(axis=0, ddof=1) / np.sqrt(len(draws))
    truth = np.concatenate([problem.exact.weights, problem.exact.log_scales])
    return (means.mean(axis=0) - truth) / np.maximum(error, 4e-3)


def test_the_reference_is_fine_enough(problem: SimpleNamespace) -> None:
    for one, other in zip(quadrature(problem, 41, 16), problem.exact, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-2)


def test_chains_agree_with_quadrature(problem: SimpleNamespace, seed: int) -> None:
    assert np.abs(distances(problem, 120, seed)).max() < 5.0


def test_cells_of_independent_people_are_caught(
    problem: SimpleNamespace, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong: people of one cell are no more alike than their features say."""
    gradient = WholeLikelihood.gradient

    def without(self: WholeLikelihood, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        return gradient(self, query._replace(correlation=None), rungs)

    monkeypatch.setattr(WholeLikelihood, "gradient", without)
    monkeypatch.setattr(quadratures, "N_CHAINS", 5)
    assert np.abs(distances(problem, 30, seed)).max() > 7.0
