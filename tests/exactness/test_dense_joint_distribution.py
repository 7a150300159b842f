"""Every move of the replicas leaves the model's joint distribution as it is; wrong ones do not."""

from __future__ import annotations

import numpy as np
import pytest
from disaggregate.sampler.dense.model import DenseProblem

from disaggregate.sampler.evidence import WHOLE_GROUP
from tests.compiled_blocks import dense
from tests.exactness.dense_joint import LARGE_REPORTS, LARGE_SIZES, N_RUNGS, Moment, Move, z_scores
from tests.exactness.joint import PRIOR, report_fraction, report_nothing

# About 120 statistics a test: a right move exceeds this once in several thousand runs, and seeds are fixed.
PASSES = 4.7
FAILS = 7.0


def labels(at: Moment) -> None:
    for rung in range(N_RUNGS):
        dense.draw_signs(at.problem, at.replicas, rung, 0, at.rng)


def weights(at: Moment) -> None:
    """Small groups have their labels summed out, so these are stale until they are drawn."""
    dense.move_replicas(at.problem, PRIOR, at.paths, at.replicas, at.tally, at.rng)
    labels(at)


def jumps(at: Moment) -> None:
    dense.jump_in_scale(at.problem, PRIOR, at.replicas, at.rng)
    labels(at)


def swaps(at: Moment) -> None:
    dense.exchange_replicas(at.problem.ladder, at.replicas, at.tally, at.stones, at.rng)
    labels(at)


def sweep(at: Moment) -> None:
    dense.dense_sweep(at.problem, PRIOR, at.paths, at.replicas, at.tally, at.stones, at.rng)
    labels(at)


MOVES: dict[str, Move] = {
    "labels": labels,
    "Hamiltonian path": weights,
    "jumps": jumps,
    "swaps": swaps,
    "sweep": sweep,
}


@pytest.mark.parametrize("name", MOVES)
def test_move_leaves_the_joint_distribution_invariant(name: str, rng: np.random.Generator) -> None:
    assert np.abs(z_scores(MOVES[name], rng, last_is_prior=name == "sweep")).max() < PASSES


@pytest.mark.parametrize("name", MOVES)
def test_large_groups_in_blocks(name: str, rng: np.random.Generator) -> None:
    """Here the labels are part of the state, and block counts stand for the evidence."""
    z = z_scores(
        MOVES[name], rng, sizes=LARGE_SIZES, reports=LARGE_REPORTS, n_draws=600, last_is_prior=name == "sweep"
    )
    assert np.abs(z).max() < PASSES


@pytest.mark.parametrize("sizes", [(4, 3, 2), (WHOLE_GROUP + 9, 3, 2)], ids=["small", "large"])
def test_survey_weights(sizes: tuple[int, ...], rng: np.random.Generator) -> None:
    weighed = rng.integers(1, 4, sum(sizes)).astype(float)
    reports = (report_fraction, report_fraction, report_nothing)
    n_draws = 3000 if sum(sizes) < WHOLE_GROUP else 500
    z = z_scores(sweep, rng, sizes=sizes, reports=reports, weights=weighed, n_draws=n_draws, last_is_prior=True)
    assert np.abs(z).max() < PASSES


def without_reports(problem: DenseProblem) -> DenseProblem:
    ladder = problem.ladder
    return problem._replace(
        ladder=ladder._replace(
            log_likelihood=np.zeros_like(ladder.log_likelihood),
            likelihood=np.ones_like(ladder.likelihood),
            fewest=np.zeros_like(ladder.fewest),
            most=np.tile(np.diff(ladder.offsets), (N_RUNGS, 1)),
        )
    )


def test_paths_that_ignore_the_reports_are_caught(rng: np.random.Generator) -> None:
    def move(at: Moment) -> None:
        dense.move_replicas(without_reports(at.problem), PRIOR, at.paths, at.replicas, at.tally, at.rng)
        labels(at)

    assert np.abs(z_scores(move, rng)).max() > FAILS


def test_jumps_that_leave_f_behind_are_caught(rng: np.random.Generator) -> None:
    def move(at: Moment) -> None:
        kept = at.replicas.fitted.copy()
        dense.jump_in_scale(at.problem, PRIOR, at.replicas, at.rng)
        at.replicas.fitted[:] = kept
        labels(at)

    assert np.abs(z_scores(move, rng, n_repeats=4)).max() > FAILS


def test_jumps_that_count_delta2_instead_of_its_logarithm_are_caught(rng: np.random.Generator) -> None:
    def move(at: Moment) -> None:
        dense.jump_in_scale(at.problem, PRIOR._replace(mu=PRIOR.mu + 2.0), at.replicas, at.rng)
        labels(at)

    assert np.abs(z_scores(move, rng)).max() > FAILS


def test_swaps_that_are_always_made_are_caught(rng: np.random.Generator) -> None:
    def move(at: Moment) -> None:
        dense.exchange_replicas(without_reports(at.problem).ladder, at.replicas, at.tally, at.stones, at.rng)
        labels(at)

    assert np.abs(z_scores(move, rng, n_repeats=1)).max() > FAILS


def test_evidence_of_the_wrong_rung_is_caught(rng: np.random.Generator) -> None:
    def upside_down(problem: DenseProblem) -> DenseProblem:
        rows = (np.ascontiguousarray(values[::-1]) for values in problem.ladder[4:])
        return problem._replace(ladder=type(problem.ladder)(*problem.ladder[:4], *rows))

    assert np.abs(z_scores(weights, rng, corrupt=upside_down)).max() > FAILS


def test_one_degree_of_freedom_too_many_is_caught(rng: np.random.Generator) -> None:
    def move(at: Moment) -> None:
        wrong = PRIOR._replace(mu=PRIOR.mu + 1.0)
        dense.move_replicas(at.problem, wrong, at.paths, at.replicas, at.tally, at.rng)
        labels(at)

    assert np.abs(z_scores(move, rng)).max() > FAILS


def test_weights_of_the_wrong_prior_variance_are_caught(rng: np.random.Generator) -> None:
    def wide(problem: DenseProblem) -> DenseProblem:
        return problem._replace(deviation=2.0 * problem.deviation)

    assert np.abs(z_scores(weights, rng, corrupt=wide)).max() > FAILS


def test_stale_labels_of_large_groups_are_caught(rng: np.random.Generator) -> None:
    """Swapping scores without their labels would pair block counts with another replica's fit."""

    def move(at: Moment) -> None:
        kept = at.replicas.scores.copy()
        dense.exchange_replicas(at.problem.ladder, at.replicas, at.tally, at.stones, at.rng)
        at.replicas.scores[:] = kept

    z = z_scores(move, rng, sizes=LARGE_SIZES, reports=(report_nothing, report_nothing), n_draws=600, n_repeats=1)
    assert np.abs(z).max() > FAILS
