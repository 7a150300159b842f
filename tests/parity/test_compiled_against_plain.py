"""The compiled blocks give the draws of their plain NumPy twins, from the same random numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Count, Evidence, Fraction, Population, Unknown
from disaggregate.model import counts
from disaggregate.sampler import (
    collapsed,
    expansion,
    hamiltonian,
    latent,
    normal,
    products,
    relocation,
    selection,
    sweep,
    turnover,
    weights_and_scale,
)
from disaggregate.sampler.evidence import WHOLE_GROUP
from disaggregate.sampler.model import (
    Prior,
    SparseData,
    State,
    empty_state,
    has_capacity,
    make_sparse_data,
    with_capacity,
)
from disaggregate.sampler.starts import random_start
from tests.helpers.compiled_blocks import collapsed as fast_collapsed
from tests.helpers.compiled_blocks import counts as fast_counts
from tests.helpers.compiled_blocks import expansion as fast_expansion
from tests.helpers.compiled_blocks import hamiltonian as fast_hamiltonian
from tests.helpers.compiled_blocks import latent as fast_latent
from tests.helpers.compiled_blocks import normal as fast_normal
from tests.helpers.compiled_blocks import products as fast_products
from tests.helpers.compiled_blocks import relocation as fast_relocation
from tests.helpers.compiled_blocks import scale as fast_scale
from tests.helpers.compiled_blocks import selection as fast_selection
from tests.helpers.compiled_blocks import sweep as fast_sweep
from tests.helpers.compiled_blocks import turnover as fast_turnover
from tests.helpers.compiled_blocks import weights as fast_weights

PRIOR = Prior(a=1.0, b=1.0, mu=4.0, nu=20.0)


def problem_with(
    evidence: list[Evidence],
    sizes: list[int],
    n_fixed: int,
    rng: np.random.Generator,
    weights: np.ndarray | None = None,
) -> SparseData:
    n_rows = sum(sizes)
    X = rng.standard_normal((n_rows, 2))
    centers = X[rng.permutation(n_rows)[:30]]
    psi = np.exp(-0.7 * ((X[None] - centers[:, None]) ** 2).sum(axis=2))
    psi[:n_fixed] = 1.0
    data = group_rows(np.repeat(np.arange(len(sizes)), sizes).tolist(), dict(enumerate(evidence)), weights)
    return make_sparse_data(psi, n_fixed, data)


PROBLEMS: dict[str, Callable[[np.random.Generator], SparseData]] = {
    "fractions": lambda rng: problem_with([Fraction(0.4), Fraction(0.9), Fraction(0.0)], [9, 12, 8], 0, rng),
    "mixed evidence": lambda rng: problem_with(
        [AtLeast(1), Count(3), Unknown(), Count(1), Fraction(1.0)], [9, 7, 5, 1, 8], 1, rng
    ),
    "a large group": lambda rng: problem_with([Fraction(0.3, 50.0), Count(2)], [WHOLE_GROUP + 5, 6], 1, rng),
    "impossible share": lambda rng: problem_with([Fraction(0.01, 1e9), Fraction(0.5, np.inf)], [3, 11], 1, rng),
    "survey weights": lambda rng: problem_with(
        [Fraction(0.3, 50.0), Population(0.7, 40), Fraction(0.0), Unknown()],
        [WHOLE_GROUP + 5, 9, 4, 3],
        1,
        rng,
        rng.lognormal(0.0, 0.7, WHOLE_GROUP + 21),
    ),
}


def copy(state: State) -> State:
    return State(*(array.copy() for array in state))


def assert_same_state(one: State, other: State) -> None:
    size = one.size[0]
    assert size == other.size[0]
    np.testing.assert_array_equal(one.active[:size], other.active[:size])
    np.testing.assert_allclose(np.tril(one.factor[:size, :size]), np.tril(other.factor[:size, :size]), atol=1e-7)
    for name in ("products", "whitened", "weights"):
        np.testing.assert_allclose(getattr(one, name)[:size], getattr(other, name)[:size], rtol=1e-5, atol=1e-7)
    for name in ("scores", "fitted", "scale", "candidates", "candidate_products", "sweep"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-5, atol=1e-7)


BLOCKS = {
    "gather products": (products.gather_products, fast_products.gather_products),
    "expand scores": (expansion.expand_scores, fast_expansion.expand_scores),
    "select kernels": (selection.select_kernels, fast_selection.select_kernels),
    "slice scale": (weights_and_scale.slice_scale, fast_scale.slice_scale),
    "draw weights": (weights_and_scale.draw_weights, fast_weights.draw_weights),
    "draw scale": (weights_and_scale.draw_scale, fast_scale.draw_scale),
    "fit rows": (products.fit_rows, fast_products.fit_rows),
    "relocate kernels": (relocation.relocate_kernels, fast_relocation.relocate_kernels),
    "turn over kernels": (turnover.turn_over_kernels, fast_turnover.turn_over_kernels),
    "slice fit scale": (expansion.slice_fit_scale, fast_expansion.slice_fit_scale),
    "move weights": (hamiltonian.move_weights, fast_hamiltonian.move_weights),
    "exact scores": (latent.draw_scores_exactly, fast_latent.draw_scores_exactly),
    "walk scores": (latent.walk_scores, fast_latent.walk_scores),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_block(name: str, rng: np.random.Generator) -> None:
    """Block after block along a chain, so that each is met in many states."""
    problem = PROBLEMS[name](rng)
    state = random_start(problem, PRIOR, 12, rng)
    for _ in range(8 if len(problem.psi[0]) > WHOLE_GROUP else 25):
        for plain, fast in BLOCKS.values():
            twin = copy(state)
            seed = int(rng.integers(2**31))
            fast(problem, PRIOR, twin, np.random.default_rng(seed))
            plain(problem, PRIOR, state, np.random.default_rng(seed))
            assert_same_state(state, twin)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    ("plain", "fast"),
    [
        (sweep.sparse_sweep, fast_sweep.sparse_sweep),
        (sweep.published_sweep, fast_sweep.published_sweep),
    ],
    ids=["sparse", "published"],
)
def test_whole_sweeps(name: str, plain: Callable, fast: Callable, rng: np.random.Generator) -> None:
    """Some sweeps in a row: a few, as Hamiltonian paths amplify rounding, or past the point of a new factor."""
    problem = PROBLEMS[name](rng)
    state = random_start(problem, PRIOR, 12, rng)
    twin = copy(state)
    seed = int(rng.integers(2**31))
    one, other = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(60 if plain is sweep.published_sweep else 8):
        if not has_capacity(problem, state):
            state, twin = with_capacity(problem, state), with_capacity(problem, twin)
        plain(problem, PRIOR, state, one)
        fast(problem, PRIOR, twin, other)
    assert_same_state(state, twin)
    assert one.random() == other.random()


@pytest.mark.parametrize("expand", [expansion.expand_scores, fast_expansion.expand_scores], ids=["plain", "fast"])
def test_scores_that_the_kernels_explain_in_full(expand: Callable, rng: np.random.Generator) -> None:
    """As many kernels as individuals and a great scale: rounding must not send the scores to infinity."""
    X = rng.standard_normal((15, 2))
    psi = np.exp(-0.7 * ((X[None] - X[:, None]) ** 2).sum(axis=2))
    problem = make_sparse_data(psi, 0, group_rows(["g"] * 15, {"g": Fraction(0.5)}))
    state = with_capacity(problem, empty_state(problem, 15))
    state.size[0] = 15
    state.active[:15] = np.arange(15)
    state.scale[0] = 1e13
    for _ in range(200):
        state.scores[:] = 1e6 * rng.standard_normal(15)
        state.products[:15] = problem.psi @ state.scores
        products.refresh_factor(problem, state)
        expand(problem, PRIOR, state, rng)
        # With all of Z explained, Z'Z / (1 + delta2) is chi-squared (15), or less by rounding.
        assert state.scores @ state.scores / (1.0 + state.scale[0]) < 100.0


@pytest.mark.parametrize("mean", [-1e6, -30.0, -0.7, -0.5, 0.0, 1.0, 20.0])
def test_truncated_normals(mean: float, rng: np.random.Generator) -> None:
    seed = int(rng.integers(2**31))
    one, other = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(200):
        assert normal.draw_positive_normal(mean, one) == pytest.approx(
            fast_normal.draw_positive_normal(mean, other), rel=1e-12
        )


@pytest.mark.parametrize("shift", [-60.0, -3.0, 0.0, 60.0])
def test_collapsed_likelihood(shift: float, rng: np.random.Generator) -> None:
    fitted = 2.0 * rng.standard_normal(15) + shift
    units = rng.integers(1, 5, 15)
    log_likelihood = Fraction(0.35, 30.0).log_likelihood(units.sum())
    log_likelihood -= log_likelihood.max()
    likelihood = np.exp(log_likelihood)
    workspace = np.empty((2, len(likelihood)))
    fast = fast_counts.log_evidence_given_fitted(fitted, units, likelihood, log_likelihood, *workspace)
    assert fast == pytest.approx(counts.log_evidence_given_fitted(fitted, units, log_likelihood), rel=1e-10)


def test_likelihood_is_given_up_only_where_it_is_too_small(rng: np.random.Generator) -> None:
    sizes = [7] * 80
    evidence = [(Fraction(0.0), Fraction(0.4), Count(2), Fraction(1.0))[group % 4] for group in range(60)]
    evidence += [Fraction(0.0)] * 20  # nothing is lost there, so that the last look sees the whole
    problem = problem_with(evidence, sizes, 0, rng)
    scores = rng.standard_normal(sum(sizes))
    n_given_up = 0
    for spread in (0.1, 1.0, 10.0, 80.0):
        fitted = spread * rng.standard_normal(sum(sizes))
        fitted[sum(sizes[:60]) :] = -30.0
        whole = collapsed.collapsed_likelihood(problem.evidence, scores, fitted)
        for least in (-np.inf, whole - 1.0, whole + 1.0, whole / 2.0, 0.0):
            found = fast_collapsed.collapsed_likelihood(problem.evidence, scores, fitted, least)
            n_given_up += found == -np.inf
            assert found == pytest.approx(whole, rel=1e-10) or (found == -np.inf and whole < least)
    assert n_given_up >= 8  # at half of what is lost at the latest


def test_updated_factor_stays_a_cholesky_factor(rng: np.random.Generator) -> None:
    """Thousands of births and deaths by updates alone, nearly collinear columns among them."""
    X = rng.uniform(size=(80, 1))
    psi = np.exp(-3.0 * (X - X.T) ** 2)
    problem = make_sparse_data(psi, 0, group_rows(["g"] * 80, {"g": Fraction(0.5)}))
    state = empty_state(problem, 80)
    state.scale[0] = 0.01
    accepted = 0
    for _ in range(300):
        state.scores[:] = 3.0 * rng.standard_normal(80)
        before = state.active[: state.size[0]].copy()
        fast_products.gather_products(problem, PRIOR, state, rng)
        fast_selection.select_kernels(problem, PRIOR, state, rng)
        active = state.active[: state.size[0]]
        accepted += len(np.setxor1d(before, active))
        size = state.size[0]
        factor = np.tril(state.factor[:size, :size])
        np.testing.assert_allclose(factor @ factor.T, problem.gram[np.ix_(active, active)], rtol=1e-9)
        assert (np.diag(factor) > 0).all()
    assert accepted > 100
