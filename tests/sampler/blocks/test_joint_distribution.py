"""A sweep over several blocks leaves the model's joint distribution as it is; wrong ones do not."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from disaggregate.sampler.blocks import sweep as sweeps
from disaggregate.sampler.blocks.block import Block, Recipe, Tile
from disaggregate.sampler.blocks.cut import evidence_of_run
from disaggregate.sampler.blocks.model import BlockProblem, Crowd, Metric
from disaggregate.sampler.blocks.sums import Sums
from disaggregate.sampler.dense.model import DenseProblem, empty_tally, fitted_scores

from disaggregate.basis import Basis, Kernel
from disaggregate.execute.held import HeldHere
from disaggregate.sampler.evidence import WHOLE_GROUP, EvidenceLadder
from tests.exactness.dense_joint import LARGE_REPORTS, LARGE_SIZES, N_COLUMNS, N_RUNGS, Moment, z_scores
from tests.exactness.joint import PRIOR, report_fraction

PASSES = 4.7
FAILS = 7.0


def blocks_of(problem: DenseProblem, cuts: list[int], in_one_piece: int) -> HeldHere:
    """A block a run of groups between two cuts, with a tile a group."""
    nobody = Basis(Kernel("linear", 1.0, 1.0, 0.0), np.zeros((1, 1)), False)
    recipe = Recipe(nobody, np.zeros((N_COLUMNS, 1)), np.ones(N_RUNGS), in_one_piece=in_one_piece)
    blocks = []
    for place, (first, last) in enumerate(itertools.pairwise(cuts)):
        own = contiguous(evidence_of_run(problem.ladder, first, last))
        rows = slice(*problem.ladder.offsets[[first, last]])
        tiles = tuple(
            Tile(slice(*own.offsets[[g, g + 1]]), slice(g, g + 1), contiguous(evidence_of_run(own, g, g + 1)))
            for g in range(last - first)
        )
        large = bool((np.diff(own.offsets) > in_one_piece).any())
        blocks.append(Block(place, recipe, tiles, large, np.ascontiguousarray(problem.columns[:, rows].T)))
    return HeldHere(blocks, SimpleNamespace(map=map))


def contiguous(ladder: EvidenceLadder) -> EvidenceLadder:
    return EvidenceLadder(*map(np.ascontiguousarray, ladder))


def metric_for(at: Moment) -> Metric:
    """Any mass will do; this one has correlations."""
    mixing = np.eye(N_COLUMNS + 1) + 0.3 * np.tri(N_COLUMNS + 1, k=-1)
    factor = np.sqrt(at.paths.mass)[:, :, None] * mixing
    return Metric(at.paths.step, factor, np.linalg.inv(factor))


def sweep(at: Moment, cuts: list[int], prior=PRIOR, in_one_piece: int = WHOLE_GROUP) -> None:
    """One sweep over blocks, and labels in the end, as the statistics look at the labels of all replicas."""
    blocks = blocks_of(at.problem, cuts, in_one_piece)
    large = bool((np.diff(at.problem.ladder.offsets) > in_one_piece).any())
    seed = int(at.rng.integers(2**62))
    problem = BlockProblem(
        Sums(blocks, N_COLUMNS), at.problem.deviation, prior, seed, N_RUNGS, large, in_one_piece
    )
    labels = at.replicas.scores > 0.0
    offsets = at.problem.ladder.offsets[cuts]
    bits = [
        np.packbits(labels[:, start:stop], axis=1) if block.has_large_groups else None
        for block, start, stop in zip(blocks._parts, offsets[:-1], offsets[1:], strict=True)
    ]
    crowd = Crowd(at.replicas.position[None].copy(), bits, None, int(at.replicas.sweep[0]))
    tallies = [empty_tally(N_RUNGS, N_COLUMNS + 1)]
    sweeps.block_sweep(
        problem, metric_for(at), crowd, tallies, at.stones[None], at.rng, [at.rng], is_kept=bool(crowd.sweep % 2)
    )
    drawn = sweeps.redraw_labels(problem._replace(has_large_groups=True), crowd, 5, 0)
    bits = [np.unpackbits(answer.bits, axis=1, count=stop - start) for answer, start, stop in
            zip(drawn, offsets[:-1], offsets[1:], strict=True)]  # fmt: skip
    at.replicas.position[:] = crowd.position[0]
    at.replicas.fitted[:] = fitted_scores(at.problem, crowd.position[0])
    at.replicas.scores[:] = np.where(np.concatenate(bits, axis=1), 1.0, -1.0)
    at.replicas.sweep[0] = crowd.sweep


def test_small_groups(rng: np.random.Generator) -> None:
    z = z_scores(lambda at: sweep(at, [0, 2, 3, 4]), rng, n_draws=700, last_is_prior=True)
    assert np.abs(z).max() < PASSES


def test_large_groups(rng: np.random.Generator) -> None:
    """One block has labels as part of its state, and one has not."""
    z = z_scores(
        lambda at: sweep(at, [0, 1, 2]), rng, sizes=LARGE_SIZES, reports=LARGE_REPORTS, n_draws=250,
        last_is_prior=True,
    )  # fmt: skip
    assert np.abs(z).max() < PASSES


def test_large_groups_in_one_piece(rng: np.random.Generator) -> None:
    """Paths follow a force that is not quite right, and labels are summed out nevertheless."""
    z = z_scores(
        lambda at: sweep(at, [0, 1, 2], in_one_piece=1000), rng, sizes=LARGE_SIZES, reports=LARGE_REPORTS,
        n_draws=250, last_is_prior=True,
    )  # fmt: skip
    assert np.abs(z).max() < PASSES


@pytest.mark.parametrize("size", [WHOLE_GROUP, WHOLE_GROUP + 1])
def test_at_the_boundary_of_large_groups(size: int, rng: np.random.Generator) -> None:
    z = z_scores(
        lambda at: sweep(at, [0, 1, 2]), rng, sizes=(size, 2), reports=(report_fraction, report_fraction),
        n_draws=150, last_is_prior=True,
    )  # fmt: skip
    assert np.abs(z).max() < PASSES


def test_a_block_that_is_left_out_is_caught(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = HeldHere.ask

    def forgetful(self, function, each, *shared):
        answers = ask(self, function, each, *shared)
        return answers[:-1] if function.__name__ == "gradient_of" else answers

    monkeypatch.setattr(HeldHere, "ask", forgetful)
    z = z_scores(lambda at: sweep(at, [0, 1, 4]), rng, n_draws=500, last_is_prior=True)
    assert np.abs(z).max() > FAILS


def test_one_degree_of_freedom_too_many_is_caught(rng: np.random.Generator) -> None:
    wrong = PRIOR._replace(mu=PRIOR.mu + 2.0)
    z = z_scores(lambda at: sweep(at, [0, 2, 4], prior=wrong), rng, n_draws=500)
    assert np.abs(z).max() > FAILS


def test_labels_that_stay_behind_in_swaps_are_caught(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = sweeps.exchange_crowd

    def without_labels(problem, crowd, *rest):
        bits = [None if own is None else own.copy() for own in crowd.bits]
        exchange(problem, crowd, *rest)
        crowd.bits = bits

    monkeypatch.setattr(sweeps, "exchange_crowd", without_labels)
    z = z_scores(lambda at: sweep(at, [0, 1, 2]), rng, sizes=LARGE_SIZES, reports=LARGE_REPORTS, n_draws=250)
    assert np.abs(z).max() > FAILS
