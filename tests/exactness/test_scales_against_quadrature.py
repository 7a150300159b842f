"""With a weight, a context and three places, each with its own scale, chains agree with plain quadrature."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import digamma, ndtr, roots_hermitenorm
from scipy.stats import t as student

from disaggregate.basis import Basis, Kernel
from disaggregate.groups import GroupedData
from disaggregate.groups.evidence import AtLeast, Count, Fraction
from disaggregate.model.components import Components, make_components
from disaggregate.model.powers import log_maxima
from disaggregate.model.priors import half_normal, inverse_gamma
from disaggregate.model.reports import make_reports
from disaggregate.parallel.partitions import LocalPartitions
from disaggregate.posterior.log_evidence import log_evidence
from disaggregate.sampler.chain import Schedule
from disaggregate.sampler.dense import partition
from disaggregate.sampler.dense.backend import Backend
from disaggregate.sampler.dense.chains import DenseChains, DenseDraws
from disaggregate.sampler.dense.partition import Recipe
from disaggregate.sampler.dense.partitioned import PartitionedData, partition_rows
from disaggregate.sampler.dense.tuning import ENOUGH_TO_TUNE, tune
from disaggregate.sampler.dense.whole import WholeData
from disaggregate.sampler.rungs import first_powers
from tests.helpers.dense_problems import grouped

pytestmark = pytest.mark.full_pilots

INDIVIDUAL, CONTEXT, PLACE = (6.0, 4.0), (8.0, 2.0), 0.6
SIZES = [4, 5, 3]
EVIDENCE = [Fraction(0.2, 60.0), Count(4), AtLeast(2)]
N_CHAINS = 16


class Exact(NamedTuple):
    """Posterior means: weights of all components, logarithms of scales, labels; and the log evidence."""

    weights: np.ndarray
    log_scales: np.ndarray
    labels: np.ndarray
    log_evidence: float


def quadrature(x: np.ndarray, context: np.ndarray, fineness: float) -> Exact:
    """Integrate over both weights, with their scales integrated out, over the places' scale and the places."""
    n_w, n_c, n_t, n_z = (int(fineness * n) for n in (60, 34, 40, 24))
    w, of_w = _student_grid(n_w, *INDIVIDUAL)
    c, of_c = _student_grid(n_c, *CONTEXT)
    log_scale = np.linspace(-20.0, 3.0, n_t)
    of_scale = np.exp(half_normal(PLACE).log_density(log_scale)) * (log_scale[1] - log_scale[0])
    z, of_z = roots_hermitenorm(n_z)
    of_z = of_z / of_z.sum()
    weight = of_w[:, None, None] * of_c[:, None] * of_scale
    ratio_of_place, ratio_of_labels, start = [], [], 0
    for j, (n, evidence) in enumerate(zip(SIZES, EVIDENCE, strict=True)):
        place = np.exp(0.5 * log_scale)[:, None] * z
        offset = context[j] * c[:, None, None] + place  # context, scale, place
        p = ndtr(w[:, None, None, None, None] * x[start : start + n] + offset[None, ..., None])
        likelihood, joint = _by_count(p, np.exp(evidence.log_likelihood(n)))
        mean = np.maximum(likelihood @ of_z, 1e-300)
        ratio_of_place.append((likelihood * place) @ of_z / mean)
        ratio_of_labels += [(own @ of_z) / mean for own in joint]
        weight = weight * mean
        start += n
    total = weight.sum()
    weight = weight / total
    by_w, by_c, by_scale = weight.sum(axis=(1, 2)), weight.sum(axis=(0, 2)), weight.sum(axis=(0, 1))
    return Exact(
        np.array([by_w @ w, by_c @ c, *((weight * ratio).sum() for ratio in ratio_of_place)]),
        np.array(
            [by_w @ _mean_log_scale(w, *INDIVIDUAL), by_c @ _mean_log_scale(c, *CONTEXT), by_scale @ log_scale]
        ),
        np.array([(weight * ratio).sum() for ratio in ratio_of_labels]),
        float(np.log(total)),
    )


def _student_grid(n: int, mu: float, nu: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and masses of a weight whose scale is integrated out."""
    u = np.linspace(-4.5, 4.5, n)
    scale = np.sqrt(nu / mu)
    points = scale * np.sinh(u)
    return points, student.pdf(points / scale, mu) * np.cosh(u) * (u[1] - u[0])


def _mean_log_scale(weight: np.ndarray, mu: float, nu: float) -> np.ndarray:
    return np.log(0.5 * (nu + weight**2)) - digamma(0.5 * (mu + 1.0))


def _by_count(p: np.ndarray, likelihood: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Likelihood of a group, and of each member's being positive with it; members are on the last axis."""
    n = p.shape[-1]

    def law(members: list[int]) -> list[np.ndarray]:
        found = [np.ones(p.shape[:-1])]
        for i in members:
            q = 1.0 - p[..., i]
            found = [
                (found[k] * q if k < len(found) else 0.0) + (found[k - 1] * p[..., i] if k else 0.0)
                for k in range(len(found) + 1)
            ]
        return found

    total = sum(chance * likelihood[k] for k, chance in enumerate(law(list(range(n)))))
    joint = []
    for i in range(n):
        others = law([k for k in range(n) if k != i])
        joint.append(p[..., i] * sum(chance * likelihood[k + 1] for k, chance in enumerate(others)))
    return total, joint


@pytest.fixture(scope="module")
def problem() -> SimpleNamespace:
    rng = np.random.default_rng(11)
    x, context = rng.standard_normal(sum(SIZES)), np.array([-1.0, 0.3, 1.2])
    components = make_components(
        n_columns=1,
        column_deviation=np.ones(1),
        n_fixed=0,
        fixed_deviation=1.0,
        individual=inverse_gamma(*INDIVIDUAL),
        context=context[:, None],
        context_prior=inverse_gamma(*CONTEXT),
        n_places=3,
        place_prior=half_normal(PLACE),
        n_groups=3,
        has_samples=False,
    )
    exact = quadrature(x, context, 1.0)
    return SimpleNamespace(x=x, context=context, components=components, data=grouped(EVIDENCE, SIZES), exact=exact)


def test_the_reference_is_fine_enough(problem: SimpleNamespace) -> None:
    coarse = quadrature(problem.x, problem.context, 0.75)
    for one, other in zip(coarse, problem.exact, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-3)


def test_the_reference_agrees_with_draws_of_the_prior(problem: SimpleNamespace, rng: np.random.Generator) -> None:
    """Weighed by their likelihood: another way to the same means."""
    n = 200_000
    w, c = (
        np.sqrt(0.5 * nu / rng.standard_gamma(0.5 * mu, n)) * rng.standard_normal(n)
        for mu, nu in (INDIVIDUAL, CONTEXT)
    )
    delta = np.abs(PLACE * rng.standard_normal(n))
    places = delta[:, None] * rng.standard_normal((n, 3))
    weight, start = np.ones(n), 0
    for j, (size, evidence) in enumerate(zip(SIZES, EVIDENCE, strict=True)):
        offset = (c * problem.context[j] + places[:, j])[:, None]
        p = ndtr(w[:, None] * problem.x[start : start + size] + offset)
        weight = weight * _by_count(p, np.exp(evidence.log_likelihood(size)))[0]
        start += size
    assert np.log(weight.mean()) == pytest.approx(problem.exact.log_evidence, abs=0.02)
    values = np.column_stack([w, c, places])
    means = weight @ values / weight.sum()
    error = np.sqrt((weight**2) @ (values - means) ** 2) / weight.sum()
    assert np.all(np.abs(means - problem.exact.weights) < 5.0 * error)


def whole(problem: SimpleNamespace, n_replicas: int | None) -> Backend:
    columns = problem.x[None]
    return WholeData(problem.components, columns, make_reports(problem.data), first_powers(n_replicas))


def run(backend: Backend, n_replicas: int | None, n_draws: int, seed: int) -> tuple[list[DenseDraws], np.ndarray]:
    """Tune on a pilot and run all chains together."""
    tuning = tune(backend, n_replicas, ENOUGH_TO_TUNE, np.random.default_rng(seed))
    ready, schedule = backend.with_powers(tuning.powers), Schedule(100, n_draws, 1, "dense")
    rngs = [np.random.default_rng([seed, chain]) for chain in range(N_CHAINS)]
    chains = DenseChains(ready, tuning, schedule, list(range(N_CHAINS)), rngs)
    while chains.n_done < chains.n_sweeps:
        chains.advance()
    return chains.draws(), tuning.powers


def distances(draws: list[DenseDraws], exact: Exact) -> np.ndarray:
    """How many standard errors each mean is from the truth, and no less than 0.004."""
    by_chain = (
        np.array([own.weights.mean(axis=0) for own in draws]),
        np.array([np.log(own.scales).mean(axis=0) for own in draws]),
        np.array([own.label_sums / own.n_draws for own in draws]),
    )
    found = []
    for means, truth in zip(by_chain, exact[:3], strict=True):
        error = means.std(axis=0, ddof=1) / np.sqrt(N_CHAINS)
        found.append((means.mean(axis=0) - truth) / np.maximum(error, 8e-4))
    return np.concatenate(found)


@pytest.mark.parametrize("n_replicas", [3, 1], ids=["ladder", "no ladder"])
def test_whole(problem: SimpleNamespace, n_replicas: int | None, seed: int) -> None:
    draws, powers = run(whole(problem, n_replicas), n_replicas, 300 if n_replicas == 1 else 120, seed)
    assert np.abs(distances(draws, problem.exact)).max() < 5.0
    assert (len(powers) > 1) == (n_replicas != 1)
    if n_replicas != 1:
        found = log_evidence([own.log_ratios for own in draws], float(log_maxima(problem.data).sum()))
        assert found.std_error < 0.1
        assert abs(found.value - problem.exact.log_evidence) < 5.0 * found.std_error + 2e-3


def parted(components: Components, x: np.ndarray, data: GroupedData) -> PartitionedData:
    rows = partition_rows(x[:, None], data)
    assert len(rows.rows) == 2
    basis = Basis(Kernel("linear", 1.0, 1.0, 0.0), np.ones((1, 1)), False)
    held = LocalPartitions(rows.rows, SimpleNamespace(map=map))
    return PartitionedData(components, held, rows, Recipe(basis, np.ones((1, 1)), np.ones(1)))


def test_partitions(problem: SimpleNamespace, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "PARTITION_ROWS", 9)
    monkeypatch.setattr(partition, "TILE_ROWS", 4)
    backend = parted(problem.components, problem.x, problem.data)
    draws, _ = run(backend, 1, 300, seed)
    assert np.abs(distances(draws, problem.exact)).max() < 5.0


def test_one_scale_for_all_components_is_caught(problem: SimpleNamespace, seed: int) -> None:
    shared = problem.components._replace(scale_of=np.zeros_like(problem.components.scale_of))
    wrong = SimpleNamespace(**{**vars(problem), "components": shared})
    draws, _ = run(whole(wrong, 1), 1, 500, seed)
    assert np.abs(distances(draws, problem.exact)).max() > 7.0


def test_an_offset_that_is_left_out_of_a_group_is_caught(problem: SimpleNamespace, seed: int) -> None:
    context = problem.components.context.copy()
    context[1] = 3.0
    wrong = SimpleNamespace(**{**vars(problem), "components": problem.components._replace(context=context)})
    draws, _ = run(whole(wrong, 1), 1, 500, seed)
    assert np.abs(distances(draws, problem.exact)).max() > 7.0
