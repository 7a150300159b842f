"""Compiled twin of ``sampler.dense``, and many sweeps in one call."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, dot, lesser, square
from disaggregate.sampler.compiled.collapsed import collapsed_gradient, collapsed_likelihood
from disaggregate.sampler.compiled.compile import inlined_part, kernel, part
from disaggregate.sampler.compiled.exchange import rung_of, swap_order
from disaggregate.sampler.compiled.latent import draw_all_labels, tally_labels
from disaggregate.sampler.compiled.scale import log_scale_density
from disaggregate.sampler.dense.moves import JITTER, JUMP, JUMP_EVERY, MOST_STEPS, PATH_LENGTH
from disaggregate.sampler.evidence import WHOLE_GROUP
from disaggregate.sampler.model import LOG_SCALE_BOUND


@kernel
def advance_dense(problem, prior, paths, replicas, rng, n_sweeps, n_burn, thin, tally, record):
    """Do ``n_sweeps`` sweeps and record the kept ones.

    Returns the number of draws recorded. Sweeps before ``n_burn`` are not kept, after it every ``thin``-th is;
    the likelihood ratios along the ladder are recorded for all of them.
    """
    n_rungs = replicas.position.shape[0]
    kept = 0
    for sweep in range(n_sweeps):
        move_replicas(problem, prior, paths, replicas, tally, rng)
        if replicas.sweep[0] % JUMP_EVERY == 0:
            jump_in_scale(problem, prior, replicas, rng)
        if n_rungs > 1:
            refresh_prior(problem, prior, replicas, rng)
            for rung in range(n_rungs):
                draw_signs(problem, replicas, rung, WHOLE_GROUP, rng)
            exchange_replicas(problem.ladder, replicas, tally, record.stones[sweep], rng)
        draw_signs(problem, replicas, 0, 0, rng)
        replicas.sweep[0] += 1
        after_burn = replicas.sweep[0] - n_burn
        if after_burn > 0 and after_burn % thin == 0:
            record_draw(problem, replicas, record, kept)
            kept += 1
    return kept


@part
def moving_rungs(n_rungs, sweep):
    moving = np.empty(n_rungs, dtype=np.int64)
    moving[0] = 0
    n_moving = 1
    for rung in range(2 - sweep % 2, n_rungs - 1, 2):
        moving[n_moving] = rung
        n_moving += 1
    return moving[:n_moving]


@inlined_part
def move_replicas(problem, prior, paths, replicas, tally, rng):
    moving = moving_rungs(replicas.position.shape[0], replicas.sweep[0])
    n_coordinates = replicas.position.shape[1]
    length = PATH_LENGTH * (1.0 - 0.5 * rng.random())
    n_steps = int(lesser(math.ceil(length / paths.step[0]), MOST_STEPS))
    n_steps = n_steps if n_steps > 1 else 1
    jitter = 1.0 + JITTER * (2.0 * rng.random() - 1.0)
    position = np.empty((moving.size, n_coordinates))
    momentum = np.empty((moving.size, n_coordinates))
    for place in range(moving.size):
        for i in range(n_coordinates):
            position[place, i] = replicas.position[moving[place], i]
            momentum[place, i] = rng.standard_normal() * math.sqrt(paths.mass[moving[place], i])
    weights = np.empty((moving.size, n_coordinates - 1))
    pull = np.empty((moving.size, n_coordinates - 1))
    force = np.empty((moving.size, n_coordinates))
    fitted = np.empty((moving.size, replicas.fitted.shape[1]))
    gradient = np.empty((moving.size, replicas.fitted.shape[1]))
    energy = np.empty(moving.size)
    before = np.empty(moving.size)
    for taken in range(n_steps + 1):
        energy_and_force(
            problem, prior, replicas.scores, moving, position, weights, fitted, gradient, pull, energy, force
        )
        for place in range(moving.size):
            rung = moving[place]
            if taken == 0:
                before[place] = energy[place] + kinetic(momentum[place], paths.mass[rung])
                for i in range(n_coordinates):
                    tally.sums[rung, i] += position[place, i]
                    tally.squares[rung, i] += square(position[place, i])
                    tally.forces[rung, i] += square(force[place, i])
            # Half a kick at either end of the path, a whole one in between.
            step = paths.step[rung] * jitter
            kick = step if 0 < taken < n_steps else 0.5 * step
            for i in range(n_coordinates):
                momentum[place, i] += kick * force[place, i]
                if taken < n_steps:
                    position[place, i] += step * momentum[place, i] / paths.mass[rung, i]
    for place in range(moving.size):
        rung = moving[place]
        log_ratio = before[place] - energy[place] - kinetic(momentum[place], paths.mass[rung])
        threshold = -rng.standard_exponential()
        tally.moves[rung] += 1.0
        if math.isfinite(log_ratio):
            tally.accepted[rung] += math.exp(lesser(log_ratio, 0.0))
            if threshold < log_ratio:
                copy(replicas.position[rung], position[place])
                copy(replicas.fitted[rung], fitted[place])


@part
def kinetic(momentum, mass):
    total = 0.0
    for i in range(momentum.size):
        total += 0.5 * square(momentum[i]) / mass[i]
    return total


@inlined_part
def energy_and_force(problem, prior, scores, moving, position, weights, fitted, gradient, pull, energy, force):
    """Fill f, the energy and the force of every moving replica; the two products serve all of them at once."""
    n_moving, n_columns = weights.shape
    for place in range(n_moving):
        weigh(problem, position[place], weights[place])
    np.dot(weights, problem.columns, fitted)
    for place in range(n_moving):
        evidence = rung_of(problem.ladder, moving[place])
        energy[place] = -collapsed_gradient(evidence, scores[moving[place]], fitted[place], gradient[place])
    np.dot(gradient, problem.columns.T, pull)
    for place in range(n_moving):
        log_scale = position[place, n_columns]
        scale = math.exp(0.5 * log_scale)
        prior_rate = 0.5 * prior.nu * math.exp(-log_scale)
        energy[place] += 0.5 * prior.mu * log_scale + prior_rate if abs(log_scale) <= LOG_SCALE_BOUND else np.inf
        force[place, n_columns] = 0.5 * dot(pull[place], weights[place]) - 0.5 * prior.mu + prior_rate
        for i in range(n_columns):
            energy[place] += 0.5 * square(position[place, i])
            force[place, i] = pull[place, i] * scale * problem.deviation[i] - position[place, i]


@part
def weigh(problem, position, weights):
    """Fill the weights of the columns."""
    scale = math.exp(0.5 * position[weights.size])
    for i in range(weights.size):
        weights[i] = position[i] * scale * problem.deviation[i]


@inlined_part
def jump_in_scale(problem, prior, replicas, rng):
    n_rungs, n_rows = replicas.fitted.shape
    last = replicas.position.shape[1] - 1
    proposed = np.empty(n_rows)
    for rung in range(n_rungs - 1 if n_rungs > 1 else 1):
        before = replicas.position[rung, last]
        log_scale = before + JUMP * rng.standard_normal()
        threshold = -rng.standard_exponential()
        factor = math.exp(0.5 * (log_scale - before))
        for row in range(n_rows):
            proposed[row] = factor * replicas.fitted[rung, row]
        evidence = rung_of(problem.ladder, rung)
        log_ratio = log_scale_density(log_scale, prior, 0, 0.0) - log_scale_density(before, prior, 0, 0.0)
        log_ratio += collapsed_likelihood(evidence, replicas.scores[rung], proposed, -np.inf)
        log_ratio -= collapsed_likelihood(evidence, replicas.scores[rung], replicas.fitted[rung], -np.inf)
        if threshold < log_ratio:
            replicas.position[rung, last] = log_scale
            copy(replicas.fitted[rung], proposed)


@inlined_part
def refresh_prior(problem, prior, replicas, rng):
    last = replicas.position.shape[0] - 1
    position = replicas.position[last]
    n_columns = position.size - 1
    precision = rng.standard_gamma(0.5 * prior.mu) / (0.5 * prior.nu)
    if math.exp(-LOG_SCALE_BOUND) < precision < math.exp(LOG_SCALE_BOUND):
        position[n_columns] = -math.log(precision)
    for i in range(n_columns):
        position[i] = rng.standard_normal()
    weights = np.empty((1, n_columns))
    weigh(problem, position, weights[0])
    np.dot(weights, problem.columns, replicas.fitted[last:])


@inlined_part
def draw_signs(problem, replicas, rung, larger_than, rng):
    scores = replicas.scores[rung]
    labels = np.empty(scores.size, dtype=np.int64)
    for row in range(scores.size):
        labels[row] = scores[row] > 0.0
    draw_all_labels(rung_of(problem.ladder, rung), replicas.fitted[rung], scores, labels, larger_than, rng)
    for row in range(scores.size):
        scores[row] = 2.0 * labels[row] - 1.0


@inlined_part
def exchange_replicas(ladder, replicas, tally, stones, rng):
    order = swap_order(ladder, replicas.fitted, replicas.scores, tally.swapped, stones, rng)
    permute(replicas.position, order)
    permute(replicas.fitted, order)
    permute(replicas.scores, order)


@part
def permute(rows, order):
    old = np.empty(rows.shape)
    for i in range(order.size):
        copy(old[i], rows[i])
    for i in range(order.size):
        copy(rows[i], old[order[i]])


@inlined_part
def record_draw(problem, replicas, record, place):
    """Write down weights, delta2 and labels of the first rung."""
    weigh(problem, replicas.position[0], record.weights[place])
    record.scale[place] = math.exp(replicas.position[0, record.weights.shape[1]])
    tally_labels(problem.ladder, replicas.scores[0], record.label_sums, record.count_tallies)
