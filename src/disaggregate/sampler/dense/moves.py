"""Moves of all replicas at once, with labels and scores summed out, in plain NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from disaggregate.sampler.collapsed import collapsed_gradient, collapsed_likelihood
from disaggregate.sampler.dense.model import DenseProblem, Paths, Replicas, Tally, fitted_scores, moving_rungs
from disaggregate.sampler.evidence import WHOLE_GROUP, EvidenceLadder, rung_of
from disaggregate.sampler.exchange import swap_order
from disaggregate.sampler.latent import draw_all_labels
from disaggregate.sampler.model import LOG_SCALE_BOUND, Prior
from disaggregate.sampler.scale import log_scale_density

# Paths of half to all of this length, in units of the masses; shorter and longer ones gain less.
PATH_LENGTH = 3.2
MOST_STEPS = 40
JITTER = 0.2

# How far delta2 jumps, as a standard deviation of its logarithm, and in which sweeps.
JUMP = 1.0
JUMP_EVERY = 4

Extra = TypeVar("Extra")


def move_replicas(
    problem: DenseProblem, prior: Prior, paths: Paths, replicas: Replicas, tally: Tally, rng: np.random.Generator
) -> None:
    """Move weights and delta2 of the moving replicas along Hamiltonian paths, each under its own rung's posterior.

    The density is p(u) p(log delta2) p(evidence given f) with u ~ N(0, I), eq. (6) for delta2 and
    f = sum of u delta deviation times the columns. In large groups the evidence is the counts of blocks.
    """
    moving = moving_rungs(len(replicas.position), int(replicas.sweep[0]))
    length = PATH_LENGTH * (1.0 - 0.5 * rng.random())
    n_steps = int(min(max(math.ceil(length / paths.step[0]), 1), MOST_STEPS))
    step = paths.step[moving, None] * (1.0 + JITTER * (2.0 * rng.random() - 1.0))
    mass = paths.mass[moving]
    position = replicas.position[moving]
    momentum = rng.standard_normal(position.shape) * np.sqrt(mass)
    energy, force, fitted = energy_and_force(problem, prior, replicas.scores, moving, position)
    before = energy + 0.5 * np.sum(momentum**2 / mass, axis=1)
    for total, values in ((tally.sums, position), (tally.squares, position**2), (tally.forces, force**2)):
        total[moving] += values
    position, momentum, energy, fitted = travel(
        lambda here: energy_and_force(problem, prior, replicas.scores, moving, here),
        lambda position, momentum: (position + step * momentum / mass, momentum),
        step,
        n_steps,
        position,
        momentum,
        force,
    )
    with np.errstate(over="ignore", invalid="ignore"):
        log_ratio = before - energy - 0.5 * np.sum(momentum**2 / mass, axis=1)
    for place, rung in enumerate(moving):
        if is_accepted(log_ratio[place], tally, rung, rng):
            replicas.position[rung] = position[place]
            replicas.fitted[rung] = fitted[place]


def is_accepted(log_ratio: float, tally: Tally, rung: int, rng: np.random.Generator) -> bool:
    """Decide on the end of a path, and count it."""
    threshold = -rng.standard_exponential()
    tally.moves[rung] += 1.0
    if not math.isfinite(log_ratio):
        return False
    tally.accepted[rung] += math.exp(min(log_ratio, 0.0))
    return bool(threshold < log_ratio)


def energy_and_force(
    problem: DenseProblem, prior: Prior, scores: np.ndarray, moving: np.ndarray, position: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minus log density of each moving replica, minus its gradient, and f."""
    with np.errstate(over="ignore", invalid="ignore"):
        fitted = fitted_scores(problem, position)
        parts = [
            collapsed_gradient(rung_of(problem.ladder, int(rung)), scores[rung], fitted[place])
            for place, rung in enumerate(moving)
        ]
        log_likelihood = np.array([value for value, _ in parts])
        pull = np.stack([row for _, row in parts]) @ problem.columns.T
    return *with_prior(prior, problem.deviation, position, log_likelihood, pull), fitted


def with_prior(
    prior: Prior, deviation: np.ndarray, position: np.ndarray, log_likelihood: np.ndarray, pull: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minus log density of some positions, and minus its gradient, from the likelihood and its pull on weights.

    Parameters
    ----------
    prior : Prior
        Hyper-parameters.
    deviation : ndarray of shape (n_columns,)
        As in :class:`DenseProblem`.
    position : ndarray of shape (n_positions, n_columns + 1)
        As in :class:`Replicas`.
    log_likelihood : ndarray of shape (n_positions,)
        Of the evidence.
    pull : ndarray of shape (n_positions, n_columns)
        Its gradient in the weights of the columns.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        standard, log_scale = position[:, :-1], position[:, -1]
        pull = pull * (np.exp(0.5 * log_scale[:, None]) * deviation)
        prior_rate = 0.5 * prior.nu * np.exp(-log_scale)
        energy = 0.5 * np.sum(standard**2, axis=1) + 0.5 * prior.mu * log_scale + prior_rate - log_likelihood
        energy[np.abs(log_scale) > LOG_SCALE_BOUND] = np.inf
        force_scale = 0.5 * np.sum(pull * standard, axis=1) - 0.5 * prior.mu + prior_rate
        return energy, np.column_stack([pull - standard, force_scale])


def travel(
    energy_and_force: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, Extra]],
    drift: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
    step: np.ndarray,
    n_steps: int,
    position: np.ndarray,
    momentum: np.ndarray,
    force: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Extra]:
    """Follow Hamiltonian paths, half a kick by the force, a drift, half a kick; return where they end.

    Parameters
    ----------
    energy_and_force : callable
        From positions to their energy, to the force there, and to something to keep.
    drift : callable
        From position and momentum to where they are a step later without that force.
    step : ndarray of shape (n_positions, 1)
        Step of each path.
    n_steps : int
        How many.
    position, momentum, force : ndarray of shape (n_positions, n_coordinates)
        At the start.

    Returns
    -------
    position, momentum, energy, extra
        At the end.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(n_steps):
            momentum = momentum + 0.5 * step * force
            position, momentum = drift(position, momentum)
            energy, force, extra = energy_and_force(position)
            momentum = momentum + 0.5 * step * force
    return position, momentum, energy, extra


def jump_in_scale(problem: DenseProblem, prior: Prior, replicas: Replicas, rng: np.random.Generator) -> None:
    """Propose another delta2 to each replica, with u as it is, so that f grows or shrinks.

    Where delta2 is large the density is much narrower than where paths were tuned, and all of them may be
    refused. A replica that came there would stay for hundreds of sweeps; this lets it leave.
    """
    for rung in range(max(len(replicas.position) - 1, 1)):
        position, fitted, scores = replicas.position[rung], replicas.fitted[rung], replicas.scores[rung]
        log_scale = position[-1] + JUMP * rng.standard_normal()
        threshold = -rng.standard_exponential()
        evidence = rung_of(problem.ladder, rung)
        proposed = fitted * math.exp(0.5 * (log_scale - position[-1]))
        log_ratio = log_scale_density(log_scale, prior, 0, 0.0) - log_scale_density(position[-1], prior, 0, 0.0)
        log_ratio += collapsed_likelihood(evidence, scores, proposed)
        log_ratio -= collapsed_likelihood(evidence, scores, fitted)
        if threshold < log_ratio:
            position[-1] = log_scale
            fitted[:] = proposed


def refresh_prior(problem: DenseProblem, prior: Prior, replicas: Replicas, rng: np.random.Generator) -> None:
    """Draw the replica of the last rung, which no evidence binds, from the prior."""
    draw_from_prior(prior, replicas.position[-1], rng)
    replicas.fitted[-1] = fitted_scores(problem, replicas.position[-1:])[0]


def draw_from_prior(prior: Prior, position: np.ndarray, rng: np.random.Generator) -> None:
    """Draw standard weights and log delta2; the latter stays where it is for a draw beyond its bounds."""
    precision = rng.standard_gamma(0.5 * prior.mu) / (0.5 * prior.nu)
    if math.exp(-LOG_SCALE_BOUND) < precision < math.exp(LOG_SCALE_BOUND):
        position[-1] = -math.log(precision)
    position[:-1] = rng.standard_normal(len(position) - 1)


def exchange_replicas(
    ladder: EvidenceLadder, replicas: Replicas, tally: Tally, stones: np.ndarray, rng: np.random.Generator
) -> None:
    """Let neighbours on the ladder trade places; see :func:`disaggregate.sampler.exchange.swap_order`."""
    order = swap_order(ladder, replicas.fitted, replicas.scores, tally.swapped, stones, rng)
    for rows in (replicas.position, replicas.fitted, replicas.scores):
        rows[:] = rows[order]


def draw_large_labels(problem: DenseProblem, replicas: Replicas, rng: np.random.Generator) -> None:
    """Draw the labels of large groups for every replica: their blocks' counts stand for their evidence."""
    for rung in range(len(replicas.position)):
        draw_signs(problem, replicas, rung, WHOLE_GROUP, rng)


def draw_signs(
    problem: DenseProblem, replicas: Replicas, rung: int, larger_than: int, rng: np.random.Generator
) -> None:
    """Draw labels given f and the rung's evidence, in groups of more than so many members."""
    scores = replicas.scores[rung]
    labels = scores > 0.0
    draw_all_labels(rung_of(problem.ladder, rung), replicas.fitted[rung], scores, labels, larger_than, rng)
    scores[:] = np.where(labels, 1.0, -1.0)
