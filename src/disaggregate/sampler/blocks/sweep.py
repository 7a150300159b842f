"""One sweep of all replicas of all chains at once: the moves of ``sampler.dense``, from sums over blocks."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.sampler.blocks.answers import Draw, Labels, Pull
from disaggregate.sampler.blocks.model import BlockProblem, Crowd, Metric, all_rungs, question_at
from disaggregate.sampler.blocks.sums import Bits, pull_of
from disaggregate.sampler.dense.model import Tally, moving_rungs
from disaggregate.sampler.dense.moves import MOST_STEPS, draw_from_prior, is_accepted, travel, with_prior
from disaggregate.sampler.exchange import trade_places

# Paths of half to all of this length. Mass makes the density nearly round, where a quarter of a turn is enough;
# where labels are held, which change by a little each time, less than that.
PATH_LENGTH = 2.0
HELD_PATH_LENGTH = 1.2


def block_sweep(
    problem: BlockProblem,
    metric: Metric,
    crowd: Crowd,
    tallies: list[Tally],
    stones: np.ndarray,
    rng: np.random.Generator,
    rngs: list[np.random.Generator],
    *,
    is_kept: bool,
) -> list[Labels] | None:
    """Move every replica, let neighbours trade places, and draw labels where they are needed.

    Parameters
    ----------
    problem, metric : BlockProblem, Metric
        Data and paths.
    crowd : Crowd
        Moved in place.
    tallies : list of Tally
        Acceptance of each chain, added to.
    stones : ndarray of shape (n_chains, n_rungs - 1, 2)
        Filled, as by :func:`disaggregate.sampler.exchange.swap_order`.
    rng : numpy.random.Generator
        Length of the paths, which all chains share.
    rngs : list of numpy.random.Generator
        Each chain's own.
    is_kept : bool
        Whether labels are wanted.

    Returns
    -------
    list of Labels or None
        Labels on the first rung of each chain, block by block, if they are wanted.
    """
    move_crowd(problem, metric, crowd, tallies, rng, rngs)
    if problem.n_rungs > 1:
        refresh_priors(problem, crowd, rngs)
        redraw_labels(problem, crowd, 0, problem.in_one_piece)
        exchange_crowd(problem, crowd, tallies, stones, rngs)
    if problem.has_large_groups:
        answers = redraw_labels(problem, crowd, 1, 0 if is_kept else problem.in_one_piece)
        labels = [_of_first_rung(answer, problem.n_rungs) for answer in answers]
    else:
        labels = draw_first_labels(problem, crowd) if is_kept else []
    crowd.sweep += 1
    return labels if is_kept else None


def move_crowd(
    problem: BlockProblem,
    metric: Metric,
    crowd: Crowd,
    tallies: list[Tally],
    rng: np.random.Generator,
    rngs: list[np.random.Generator],
) -> None:
    """Move weights and delta2 along Hamiltonian paths; the density is that of ``move_replicas``."""
    moving = moving_rungs(problem.n_rungs, crowd.sweep)
    n_chains, n_coordinates = len(crowd.position), crowd.position.shape[-1]
    rungs = np.tile(moving, n_chains)
    rows = (np.arange(n_chains)[:, None] * problem.n_rungs + moving).ravel()
    bits: Bits = [None if own is None else np.ascontiguousarray(own[rows]) for own in crowd.bits]

    n_left = 0

    def energy_and_force(position: np.ndarray) -> tuple[np.ndarray, np.ndarray, Pull]:
        nonlocal n_left
        n_left -= 1
        found = problem.sums.gradient(question_at(problem, position, rungs), bits, is_exact=n_left <= 0)
        return *with_prior(problem.prior, problem.deviation, position, *found), found

    longest = HELD_PATH_LENGTH if problem.has_large_groups else PATH_LENGTH
    length = longest * (1.0 - 0.5 * rng.random())
    n_steps = int(min(max(math.ceil(length / metric.step[0]), 1), MOST_STEPS))
    step = metric.step[rungs, None] * min(length / n_steps / metric.step[0], 1.0)
    position = crowd.position[:, moving].reshape(-1, n_coordinates)
    noise = np.concatenate([own.standard_normal((len(moving), n_coordinates)) for own in rngs])
    momentum = _times(metric.factor[rungs], noise)
    if crowd.pull is None:
        before, force, found = energy_and_force(position)
        if problem.n_rungs == 1:
            crowd.pull = found
    else:
        known = (part[rows] for part in crowd.pull)
        before, force = with_prior(problem.prior, problem.deviation, position, *known)
    n_left = n_steps  # only where a path begins and ends must the likelihood be exact
    unfactor = metric.unfactor[rungs]
    velocity = np.matmul(unfactor.transpose(0, 2, 1), unfactor)
    start = before + 0.5 * np.sum(noise**2, axis=1)
    there, momentum, energy, pull = travel(
        energy_and_force,
        lambda position, momentum: (position + step * _times(velocity, momentum), momentum),
        step,
        n_steps,
        position,
        momentum,
        force,
    )
    with np.errstate(over="ignore", invalid="ignore"):
        log_ratio = start - energy - 0.5 * np.sum(_times(unfactor, momentum) ** 2, axis=1)
    accepted = np.zeros(len(rows), dtype=bool)
    for place, row in enumerate(rows):
        chain, rung = divmod(int(row), problem.n_rungs)
        accepted[place] = is_accepted(log_ratio[place], tallies[chain], rung, rngs[chain])
        if accepted[place]:
            crowd.position[chain, rung] = there[place]
    _remember(crowd, rows, accepted, pull)


def _remember(crowd: Crowd, rows: np.ndarray, accepted: np.ndarray, pull: Pull) -> None:
    """Keep the pull at the new positions, where it is known for all replicas."""
    if crowd.pull is None:
        return
    for known, new in zip(crowd.pull, pull, strict=True):
        known[rows[accepted]] = new[accepted]


def refresh_priors(problem: BlockProblem, crowd: Crowd, rngs: list[np.random.Generator]) -> None:
    """Draw the replica on the last rung of each chain, which no evidence binds, from the prior."""
    for position, rng in zip(crowd.position[:, -1], rngs, strict=True):
        draw_from_prior(problem.prior, position, rng)
    crowd.pull = None


def exchange_crowd(
    problem: BlockProblem,
    crowd: Crowd,
    tallies: list[Tally],
    stones: np.ndarray,
    rngs: list[np.random.Generator],
) -> None:
    """Let neighbours on each chain's ladder trade places, with their labels."""
    n_chains, n_rungs = crowd.position.shape[:2]
    flat = crowd.position.reshape(n_chains * n_rungs, -1)
    tables = problem.sums.table(question_at(problem, flat, all_rungs(n_chains, n_rungs)), crowd.bits)
    rows = np.arange(n_chains * n_rungs).reshape(n_chains, n_rungs)
    for chain, rng in enumerate(rngs):
        order = trade_places(tables[chain], tallies[chain].swapped, stones[chain], rng)
        rows[chain] = rows[chain, order]
    crowd.position = flat[rows.ravel()].reshape(crowd.position.shape)
    crowd.bits = [None if own is None else own[rows.ravel()] for own in crowd.bits]
    crowd.pull = None


def redraw_labels(problem: BlockProblem, crowd: Crowd, turn: int, larger_than: int) -> list[Labels]:
    """Draw labels of every replica where they are part of the state, and learn the pull that goes with them."""
    if not problem.has_large_groups:
        return []
    n_chains, n_rungs = crowd.position.shape[:2]
    rungs = all_rungs(n_chains, n_rungs)
    question = question_at(problem, crowd.position.reshape(n_chains * n_rungs, -1), rungs)
    draw = Draw(problem.seed, _keys(crowd, rungs, turn), larger_than, with_gradient=True)
    answers = problem.sums.labels(question, crowd.bits, draw)
    # Blocks without large groups have nothing to remember.
    crowd.bits = [None if old is None else new.bits for old, new in zip(crowd.bits, answers, strict=True)]
    crowd.pull = pull_of(answers)
    return answers


def draw_first_labels(problem: BlockProblem, crowd: Crowd) -> list[Labels]:
    """Draw everybody's labels on the first rung of each chain."""
    n_chains, n_rungs = crowd.position.shape[:2]
    first = np.zeros(n_chains, dtype=np.int64)
    bits: Bits = [None if own is None else own[::n_rungs] for own in crowd.bits]
    draw = Draw(problem.seed, _keys(crowd, first, 1), 0, with_gradient=False)
    return problem.sums.labels(question_at(problem, crowd.position[:, 0], first), bits, draw)


def _of_first_rung(answer: Labels, n_rungs: int) -> Labels:
    return Labels(answer.bits[::n_rungs], answer.counts[::n_rungs], None)


def _keys(crowd: Crowd, rungs: np.ndarray, turn: int) -> tuple[tuple[int, ...], ...]:
    """Tell the streams of the replicas apart, which come chain after chain."""
    n_each = len(rungs) // len(crowd.position)
    return tuple((place // n_each, int(rung), crowd.sweep, turn) for place, rung in enumerate(rungs))


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.matmul(matrices, vectors[:, :, None])[:, :, 0]
