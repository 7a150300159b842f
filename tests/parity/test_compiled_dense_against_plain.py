"""The compiled moves of replicas give the draws of their plain NumPy twins, from the same random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from disaggregate.sampler.dense.model import DenseProblem, Paths, Replicas, empty_tally
from disaggregate.sampler.dense.moves import (
    draw_signs,
    exchange_replicas,
    jump_in_scale,
    move_replicas,
    refresh_prior,
)
from disaggregate.sampler.dense.starts import start_at

from disaggregate.groups import group_rows
from disaggregate.groups.evidence import AtLeast, Count, Evidence, Fraction, Population, Unknown
from disaggregate.sampler.dense.sweep import dense_sweep
from disaggregate.sampler.evidence import WHOLE_GROUP, make_evidence, make_ladder
from disaggregate.sampler.model import Prior
from tests.compiled_blocks import dense

PRIOR = Prior(a=1.0, b=1.0, mu=4.0, nu=20.0)
PROBLEMS: dict[str, tuple[list[Evidence], list[int]]] = {
    "fractions": ([Fraction(0.4), Fraction(0.9), Fraction(0.0)], [9, 12, 8]),
    "mixed evidence": ([AtLeast(1), Count(3), Unknown(), Count(1), Fraction(1.0)], [9, 7, 5, 1, 8]),
    "a large group": ([Fraction(0.3, 50.0), Count(2)], [WHOLE_GROUP + 5, 6]),
    "impossible share": ([Fraction(0.01, 1e9), Fraction(0.5, np.inf)], [3, 11]),
    "survey weights": ([Fraction(0.3, 50.0), Population(0.7, 40), Fraction(1.0)], [WHOLE_GROUP + 5, 9, 4]),
}


def problem_of(name: str, n_rungs: int, rng: np.random.Generator) -> DenseProblem:
    evidence, sizes = PROBLEMS[name]
    weights = rng.lognormal(0.0, 0.7, sum(sizes)) if name == "survey weights" else None
    data = group_rows(np.repeat(np.arange(len(sizes)), sizes).tolist(), dict(enumerate(evidence)), weights)
    columns = np.linalg.qr(rng.standard_normal((sum(sizes), 5)))[0].T
    powers = np.append(np.geomspace(1.0, 0.1, n_rungs - 1), 0.0) if n_rungs > 1 else np.ones(1)
    ladder = make_ladder(make_evidence(data), powers)
    return DenseProblem(np.ascontiguousarray(columns), np.linspace(4.0, 0.5, 5), ladder)


def copy(replicas: Replicas) -> Replicas:
    return Replicas(*(array.copy() for array in replicas))


def assert_same(one: Replicas, other: Replicas) -> None:
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n_rungs", [1, 4])
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_move(name: str, n_rungs: int, rng: np.random.Generator) -> None:
    problem = problem_of(name, n_rungs, rng)
    paths = Paths(np.linspace(0.3, 0.6, n_rungs), rng.uniform(1.0, 3.0, (n_rungs, 6)))
    state = start_at(problem, PRIOR, None, rng)
    moves = {
        "path": (
            lambda s, tally, _, r: move_replicas(problem, PRIOR, paths, s, tally, r),
            lambda s, tally, _, r: dense.move_replicas(problem, PRIOR, paths, s, tally, r),
        ),
        "jump": (
            lambda s, _, __, r: jump_in_scale(problem, PRIOR, s, r),
            lambda s, _, __, r: dense.jump_in_scale(problem, PRIOR, s, r),
        ),
        "prior": (
            lambda s, _, __, r: refresh_prior(problem, PRIOR, s, r),
            lambda s, _, __, r: dense.refresh_prior(problem, PRIOR, s, r),
        ),
        "labels": (
            lambda s, _, __, r: draw_signs(problem, s, 0, 0, r),
            lambda s, _, __, r: dense.draw_signs(problem, s, 0, 0, r),
        ),
        "swaps": (
            lambda s, tally, stones, r: exchange_replicas(problem.ladder, s, tally, stones, r),
            lambda s, tally, stones, r: dense.exchange_replicas(problem.ladder, s, tally, stones, r),
        ),
        "sweep": (
            lambda s, tally, stones, r: dense_sweep(problem, PRIOR, paths, s, tally, stones, r),
            lambda s, tally, stones, r: dense.dense_sweep(problem, PRIOR, paths, s, tally, stones, r),
        ),
    }
    for _ in range(3 if max(PROBLEMS[name][1]) > WHOLE_GROUP else 12):
        for plain, fast in moves.values():
            twin = copy(state)
            seed = int(rng.integers(2**31))
            results = []
            for move, replicas in ((plain, state), (fast, twin)):
                tally, stones = empty_tally(n_rungs, 6), np.zeros((n_rungs - 1, 2))
                own = np.random.default_rng(seed)
                move(replicas, tally, stones, own)
                results.append((*tally, stones, own.random()))
            assert_same(state, twin)
            for mine, theirs in zip(*results, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7)
