"""Each block draws from the conditional distribution that its documentation states."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, log_ndtr, logsumexp, ndtr

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Between, Count, Evidence, Fraction
from disaggregate.model.counts import draw_labels as plain_draw_labels
from disaggregate.sampler.evidence import WHOLE_GROUP
from disaggregate.sampler.model import Prior, SparseData, State, empty_state, make_sparse_data
from disaggregate.sampler.products import refresh_factor
from tests.helpers.compiled_blocks import collapsed, counts, latent, normal, products, scale, selection, weights

PRIOR = Prior(a=1.0, b=1.5, mu=5.0, nu=8.0)
# Every p-value below is compared with this; seeds are fixed, so a pass stays a pass.
UNLIKELY = 1e-4


def one_group(fitted: np.ndarray, evidence: Evidence) -> tuple[SparseData, State]:
    n = len(fitted)
    problem = make_sparse_data(np.ones((1, n)), 1, group_rows(["g"] * n, {"g": evidence}))
    state = empty_state(problem, 0)
    state.fitted[:] = fitted
    return problem, state


def small_problem(rng: np.random.Generator, n_columns: int = 4, n_rows: int = 12) -> tuple[SparseData, State]:
    psi = rng.standard_normal((n_columns, n_rows))
    problem = make_sparse_data(psi, 0, group_rows(["g"] * n_rows, {"g": Fraction(0.5)}))
    state = empty_state(problem, n_columns)
    state.scores[:] = 1.5 * rng.standard_normal(n_rows)
    state.scale[0] = 3.0
    return problem, state


def activate(problem: SparseData, state: State, columns: list[int], rng: np.random.Generator) -> None:
    state.size[0] = len(columns)
    state.active[: len(columns)] = columns
    refresh_factor(problem, state)
    products.gather_products(problem, PRIOR, state, rng)


@pytest.mark.parametrize("mean", [-1e9, -40.0, -6.0, -1.0, -0.66, -0.64, -0.2, 0.0, 0.5, 3.0, 30.0])
def test_truncated_normal(mean: float, rng: np.random.Generator) -> None:
    draws = np.array([normal.draw_positive_normal(mean, rng) for _ in range(20_000)])
    assert (draws > 0).all()
    if mean > -100:
        survival = np.exp(log_ndtr(mean - draws) - log_ndtr(mean))
        assert stats.kstest(survival, "uniform").pvalue > UNLIKELY
    else:  # so far out the excess is exponential, to the last digit
        assert stats.kstest(draws * -mean, "expon").pvalue > UNLIKELY


@pytest.mark.parametrize("x", [-1e5, -300.0, -35.1, -34.9, -8.0, -1.0, 0.0, 0.3, 5.0, 40.0])
def test_log_normal_cdf(x: float) -> None:
    assert normal.log_normal_cdf(x) == pytest.approx(log_ndtr(x), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("n_rows", [1, 127, 128, 20_000], ids=["one", "not a piece", "a piece", "many"])
def test_chances(n_rows: int) -> None:
    fitted = np.linspace(-37.0, 37.0, n_rows) if n_rows > 1 else np.array([-0.0])
    positive, negative, density = normal.chances_of(fitted)
    np.testing.assert_allclose(positive, ndtr(fitted), rtol=1e-12)
    np.testing.assert_allclose(negative, ndtr(-fitted), rtol=1e-12)
    np.testing.assert_allclose(density, stats.norm.pdf(fitted), rtol=1e-12)


def test_chances_that_cannot_be_distinguished_from_none() -> None:
    fitted = np.array([-np.inf, -1e300, -40.0, 40.0, 1e300, np.inf, np.nan])
    positive, negative, density = normal.chances_of(fitted)
    assert (density[:6] > 0.0).all()
    assert (density[:6] < 1e-290).all()
    assert (positive[:3] > 0.0).all()
    assert (positive[:3] < 1e-290).all()
    assert (positive[3:6] == 1.0).all()
    np.testing.assert_array_equal(negative[:6], positive[5::-1])
    assert np.isnan([positive[6], negative[6], density[6]]).all()


def bits_of(places: Iterable[int]) -> int:
    """A set of places as a number."""
    return sum(1 << int(place) for place in places)


def label_law(fitted: np.ndarray, log_likelihood: np.ndarray) -> dict[tuple[int, ...], float]:
    """Probability of every label vector, by enumeration."""
    log_weight = {}
    for labels in product((0, 1), repeat=len(fitted)):
        signs = 2 * np.array(labels) - 1
        log_weight[labels] = log_ndtr(signs * fitted).sum() + log_likelihood[sum(labels)]
    total = logsumexp(list(log_weight.values()))
    return {labels: float(np.exp(value - total)) for labels, value in log_weight.items()}


EVIDENCE = {
    "fraction": Fraction(0.4, 8.0),
    "count": Count(2),
    "at least": AtLeast(1),
    "between": Between(1, 2),
    "nothing": Fraction(0.7, 0.0),
}


@pytest.mark.parametrize("evidence", EVIDENCE.values(), ids=EVIDENCE)
@pytest.mark.parametrize("shift", [0.0, -45.0, 45.0], ids=["middling", "far below", "far above"])
def test_exact_labels_follow_their_law(evidence: Evidence, shift: float, rng: np.random.Generator) -> None:
    """Far from zero every probability underflows, and the logarithmic table has to take over."""
    fitted = np.array([-1.2, 0.4, 0.1, 1.5]) + shift
    law = label_law(fitted, evidence.log_likelihood(4))
    problem, state = one_group(fitted, evidence)
    n_draws = 20_000
    found = np.empty(n_draws, dtype=np.int64)
    latent.labels_by_exact_draws(problem, PRIOR, state, rng, found)
    times = np.bincount(found, minlength=16)
    seen = {labels: times[bits_of(np.flatnonzero(labels))] for labels in law}
    likely = [labels for labels, chance in law.items() if chance * n_draws > 5]
    rest = 1.0 - sum(law[labels] for labels in likely)
    assert sum(n for labels, n in seen.items() if law[labels] < 1e-9) == 0
    if len(likely) == 1:
        assert seen[likely[0]] > n_draws * (0.99 - rest)
        return
    expected = np.array([law[labels] for labels in likely]) * n_draws
    observed = np.array([seen[labels] for labels in likely])
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > UNLIKELY


def test_random_walk_reaches_the_same_labels(rng: np.random.Generator) -> None:
    fitted = np.array([-0.8, 0.3, 0.9])
    evidence = Fraction(0.4, 8.0)
    law = label_law(fitted, evidence.log_likelihood(3))
    problem, state = one_group(fitted, evidence)
    state.scores[:] = [0.1, -0.1, -0.2]
    found = np.empty(60_000, dtype=np.int64)
    latent.labels_by_walks(problem, PRIOR, state, rng, found)
    each = [bits_of(np.flatnonzero(labels)) for labels in law]
    batch_means = (found[:, None] == each).reshape(100, -1, 8).mean(axis=1)
    error = batch_means.std(axis=0, ddof=1) / 10.0
    expected = list(law.values())
    assert (np.abs(batch_means.mean(axis=0) - expected) < 4.5 * error).all()


def test_scores_given_labels_are_truncated_normals(rng: np.random.Generator) -> None:
    problem, state = one_group(np.array([0.7, -0.7]), Count(1))
    scores = np.empty((20_000, 2))
    for draw in range(len(scores)):
        latent.draw_scores_exactly(problem, PRIOR, state, rng)
        scores[draw] = state.scores
    first = scores[scores[:, 0] > 0, 0]
    assert stats.kstest(first, stats.truncnorm(-0.7, np.inf, loc=0.7).cdf).pvalue > UNLIKELY
    second = scores[scores[:, 0] > 0, 1]
    assert stats.kstest(second, stats.truncnorm(-np.inf, 0.7, loc=-0.7).cdf).pvalue > UNLIKELY


@pytest.mark.parametrize("evidence", [Fraction(0.3, 40.0), Count(70), AtLeast(90)], ids=lambda e: type(e).__name__)
def test_large_groups_in_blocks_keep_the_law_of_the_whole(evidence: Evidence, rng: np.random.Generator) -> None:
    """Start from an exact draw of all labels; block draws must leave every statistic where it was."""
    n = WHOLE_GROUP + 31
    fitted = np.linspace(-2.0, 1.0, n)
    log_likelihood = evidence.log_likelihood(n)
    problem, state = one_group(fitted, evidence)
    changes = []
    for _ in range(400):
        labels = plain_draw_labels(fitted, problem.evidence.units, log_likelihood, rng)
        before = np.array([labels.sum(), labels @ fitted, labels[: n // 2].sum()])
        state.scores[:] = np.where(labels, 1.0, -1.0)
        for _ in range(3):
            latent.draw_scores_exactly(problem, PRIOR, state, rng)
        labels = state.scores > 0
        changes.append(np.array([labels.sum(), labels @ fitted, labels[: n // 2].sum()]) - before)
    changes = np.array(changes, dtype=float)
    spread = changes.std(axis=0, ddof=1)
    moved = spread > 0
    assert moved[1:].all()
    z = changes.mean(axis=0)[moved] / (spread[moved] / np.sqrt(len(changes)))
    assert np.abs(z).max() < 4.5
    assert np.isfinite(log_likelihood[int((state.scores > 0).sum())])


def test_collapsed_likelihood_sums_labels_out(rng: np.random.Generator) -> None:
    for shift, units in product((0.0, -50.0, 50.0), (np.ones(6, dtype=int), np.array([2, 1, 5, 1, 3, 1]))):
        fitted = rng.standard_normal(6) + shift
        log_likelihood = Fraction(0.3, 20.0).log_likelihood(units.sum())
        log_likelihood -= log_likelihood.max()
        exact = logsumexp(
            [
                log_ndtr((2 * np.array(labels) - 1) * fitted).sum() + log_likelihood[units @ labels]
                for labels in product((0, 1), repeat=6)
            ]
        )
        likelihood = np.exp(log_likelihood)
        workspace = np.empty((2, len(likelihood)))
        got = counts.log_evidence_given_fitted(fitted, units, likelihood, log_likelihood, *workspace)
        assert got == pytest.approx(exact, rel=1e-10)


def test_weights_are_gaussian_with_the_stated_moments(rng: np.random.Generator) -> None:
    problem, state = small_problem(rng)
    activate(problem, state, [2, 0, 3], rng)
    gram = problem.gram[np.ix_([2, 0, 3], [2, 0, 3])]
    shrink = 3.0 / 4.0
    mean = shrink * np.linalg.solve(gram, problem.psi[[2, 0, 3]] @ state.scores)
    draws = np.empty((20_000, 3))
    for draw in draws:
        weights.draw_weights(problem, PRIOR, state, rng)
        draw[:] = state.weights[:3]
    whitened = (draws - mean) @ np.linalg.cholesky(gram) / np.sqrt(shrink)
    for column in whitened.T:
        assert stats.kstest(column, "norm").pvalue > UNLIKELY
    assert np.abs(np.corrcoef(whitened.T) - np.eye(3)).max() < 4.5 / np.sqrt(len(draws))


def test_fit_is_the_weighted_sum_of_active_columns(rng: np.random.Generator) -> None:
    problem, state = small_problem(rng)
    activate(problem, state, [1, 3], rng)
    state.weights[:2] = [0.5, -2.0]
    products.fit_rows(problem, PRIOR, state, rng)
    np.testing.assert_allclose(state.fitted, 0.5 * problem.psi[1] - 2.0 * problem.psi[3])


def test_conjugate_scale_has_mu_plus_q_degrees_of_freedom(rng: np.random.Generator) -> None:
    """Trap 1: the paper prints one degree of freedom more."""
    problem, state = small_problem(rng)
    activate(problem, state, [0, 1], rng)
    state.weights[:2] = [0.4, -0.3]
    fitted = state.weights[:2] @ problem.psi[[0, 1]]
    rate = 0.5 * (PRIOR.nu + fitted @ fitted)
    draws = np.empty(20_000)
    for i in range(len(draws)):
        scale.draw_scale(problem, PRIOR, state, rng)
        draws[i] = state.scale[0]
    assert stats.kstest(draws, stats.invgamma(0.5 * (PRIOR.mu + 2), scale=rate).cdf).pvalue > UNLIKELY
    assert stats.kstest(draws, stats.invgamma(0.5 * (PRIOR.mu + 3), scale=rate).cdf).pvalue < 1e-12


def test_slice_scale_follows_its_collapsed_density(rng: np.random.Generator) -> None:
    problem, state = small_problem(rng)
    activate(problem, state, [0, 1, 2], rng)
    columns = problem.psi[[0, 1, 2]]
    grid = np.linspace(-8.0, 12.0, 4001)
    # Z given delta2 is N(0, I + delta2 P): its density by a route of its own.
    projection = columns.T @ np.linalg.solve(columns @ columns.T, columns)
    log_density = [
        stats.multivariate_normal.logpdf(state.scores, cov=np.eye(12) + np.exp(x) * projection)
        + stats.invgamma.logpdf(np.exp(x), PRIOR.mu / 2, scale=PRIOR.nu / 2)
        + x
        for x in grid
    ]
    cdf = np.cumsum(np.exp(log_density - np.max(log_density)))
    cdf /= cdf[-1]
    draws = np.empty(4000)
    for i in range(len(draws)):
        for _ in range(5):
            scale.slice_scale(problem, PRIOR, state, rng)
        draws[i] = np.log(state.scale[0])
    assert stats.kstest(np.interp(draws, grid, cdf), "uniform").pvalue > UNLIKELY


@pytest.mark.parametrize("n_fixed", [0, 1])
def test_selection_follows_equation_11(n_fixed: int, rng: np.random.Generator) -> None:
    """Trap 3: the quadratic form is Z'P_g Z. Frequencies of all active sets against enumeration."""
    problem, state = small_problem(rng)
    problem = problem._replace(n_fixed=n_fixed)
    activate(problem, state, list(range(n_fixed)), rng)
    selectable = range(n_fixed, 4)
    n_selectable = 4 - n_fixed
    subsets = [c for k in range(n_selectable + 1) for c in combinations(selectable, k)]
    log_weight = []
    for chosen in subsets:
        active = [*range(n_fixed), *chosen]
        covariance = np.eye(12)
        if active:
            columns = problem.psi[active]
            covariance = covariance + 3.0 * columns.T @ np.linalg.solve(columns @ columns.T, columns)
        prior = betaln(len(chosen) + PRIOR.a, n_selectable - len(chosen) + PRIOR.b)
        log_weight.append(stats.multivariate_normal.logpdf(state.scores, cov=covariance) + prior)
    expected = np.exp(log_weight - logsumexp(log_weight))
    found = np.empty(100_000, dtype=np.int64)
    selection.selected_kernels(problem, PRIOR, state, rng, found)
    indicators = found[:, None] == [bits_of([*range(n_fixed), *chosen]) for chosen in subsets]
    assert (indicators.sum(axis=1) == 1).all()
    batch_means = indicators.reshape(100, -1, len(subsets)).mean(axis=1)
    error = batch_means.std(axis=0, ddof=1) / 10.0
    assert expected.max() < 0.9
    assert (np.abs(batch_means.mean(axis=0) - expected) < 4.5 * error + 1e-4).all()


def test_count_probabilities_against_enumeration(rng: np.random.Generator) -> None:
    fitted = rng.standard_normal(9)
    for units in (np.ones(9, dtype=int), np.array([1, 4, 2, 1, 7, 1, 3, 2, 1])):
        law = counts.count_law(fitted, units, *np.empty((2, units.sum() + 1)))
        exact = np.zeros(units.sum() + 1)
        for labels in product((0, 1), repeat=9):
            exact[units @ labels] += ndtr((2 * np.array(labels) - 1) * fitted).prod()
        np.testing.assert_allclose(law, exact, rtol=1e-12)


@pytest.mark.parametrize("shift", [0.0, -12.0, 45.0], ids=["middling", "below", "far above"])
@pytest.mark.parametrize("evidence", EVIDENCE.values(), ids=EVIDENCE)
def test_collapsed_gradient_against_finite_differences(
    evidence: Evidence, shift: float, rng: np.random.Generator
) -> None:
    fitted = rng.standard_normal(4) + shift
    problem, state = one_group(fitted, evidence)
    gradient = np.empty(4)
    value = collapsed.collapsed_gradient(problem.evidence, state.scores, fitted, gradient)
    alone = collapsed.collapsed_likelihood(problem.evidence, state.scores, fitted, -np.inf)
    assert alone == pytest.approx(value, rel=1e-12)
    step = 1e-5
    for i in range(4):
        nearby = np.array([fitted, fitted])
        nearby[:, i] += (step, -step)
        up, down = (collapsed.collapsed_gradient(problem.evidence, state.scores, f, np.empty(4)) for f in nearby)
        assert gradient[i] == pytest.approx((up - down) / (2.0 * step), rel=1e-5, abs=1e-5)
