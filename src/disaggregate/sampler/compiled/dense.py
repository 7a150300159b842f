"""Compiled twin of ``sampler.dense.sweep`` where groups report counts: one chain, many sweeps in one call."""

import math

import numpy as np

from disaggregate.model.priors import LOG_SCALE_BOUND, MOST_DRAWS, N_SLICES, SLICE_WIDTH
from disaggregate.sampler.compiled.arrays import copy, greater, lesser, square
from disaggregate.sampler.compiled.compile import inlined_part, kernel, part
from disaggregate.sampler.compiled.count_likelihood import add_count_likelihoods, likelihood_gradient
from disaggregate.sampler.compiled.exchange import swap_replicas
from disaggregate.sampler.compiled.expected import add_expected
from disaggregate.sampler.dense.sweep import (
    CAREFUL,
    CAREFUL_EVERY,
    JUMP,
    JUMP_EVERY,
    MOST_STEPS,
    PATH_LENGTH,
)


@kernel
def advance_dense(
    columns, reports, components, metric, state, rng, n_sweeps, n_burn, thin, tally, record
):  # fmt: skip
    """Do ``n_sweeps`` sweeps of one chain and record the kept ones.

    Returns the number of draws recorded. Sweeps before ``n_burn`` are not kept, after it every ``thin``-th is.
    """
    n_rungs = state.position.shape[1]
    log_ratios = np.empty((n_rungs - 1, 2))
    workspace = np.empty((4, columns.shape[1]))
    kept = 0
    for _ in range(n_sweeps):
        moving = moving_rungs(n_rungs, state.sweep[0])
        move_replicas(columns, reports, components, metric, state, tally, moving, workspace, rng)
        if n_rungs > 1:
            move_replicas(columns, reports, components, metric, state, tally, moving[:1], workspace, rng)
        slice_scales(components, state, rng)
        if state.sweep[0] % JUMP_EVERY == 0 or components.priors.shape[0] > 1:
            jump_in_scales(columns, reports, components, state, workspace, rng)
        if n_rungs > 1:
            draw_from_prior(components, state.position[0, n_rungs - 1], rng)
            state.is_known[0, n_rungs - 1] = 0
            exchange_replicas(columns, reports, components, state, tally, log_ratios, workspace, rng)
        state.sweep[0] += 1
        after_burn = state.sweep[0] - n_burn
        if after_burn > 0 and after_burn % thin == 0:
            record_draw(columns, reports, components, state, record, log_ratios, kept, workspace)
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


@part
def move_replicas(columns, reports, components, metric, state, tally, moving, workspace, rng):
    n_rungs = state.position.shape[1]
    n_moving = moving.size
    n_coordinates = state.position.shape[2]
    is_held = components.priors.shape[0] > 1 and state.sweep[0] // 2 % 2 == 1
    first_set = n_rungs if is_held else 0
    longest = metric.step[first_set]
    length = PATH_LENGTH * (1.0 - 0.5 * rng.random())
    n_steps = int(lesser(greater(math.ceil(length / longest), 1), MOST_STEPS))
    shorter = lesser(length / n_steps / longest, 1.0)
    if state.sweep[0] % CAREFUL_EVERY == 0:
        shorter = CAREFUL
    evaluate_replicas(columns, reports, components, state, moving, workspace)
    position = np.empty((n_moving, n_coordinates))
    momentum = np.empty((n_moving, n_coordinates))
    force = np.empty((n_moving, n_coordinates))
    energy = np.empty(n_moving)
    before = np.empty(n_moving)
    noise = np.empty(n_coordinates)
    velocity = np.empty(n_coordinates)
    steps = metric.step
    present = state.position
    present_force = state.force
    for index in range(n_moving):
        rung = moving[index]
        before[index] = state.energy[0, rung]
        for i in range(n_coordinates):
            noise[i] = rng.standard_normal()
            position[index, i] = present[0, rung, i]
            force[index, i] = present_force[0, rung, i]
        if is_held:
            for s in range(components.priors.shape[0]):
                noise[components.deviation.size + s] = 0.0
        for i in range(n_coordinates):
            before[index] += 0.5 * square(noise[i])
        copy(momentum[index], np.dot(metric.factor[first_set + rung], noise))
    for _ in range(n_steps):
        for index in range(n_moving):
            step = steps[first_set + moving[index]] * shorter
            for i in range(n_coordinates):
                momentum[index, i] += 0.5 * step * force[index, i]
            np.dot(metric.inverse[first_set + moving[index]], momentum[index], velocity)
            for i in range(n_coordinates):
                position[index, i] += step * velocity[i]
        energies_and_forces(columns, reports, components, moving, position, workspace, energy, force)
        for index in range(n_moving):
            step = steps[first_set + moving[index]] * shorter
            for i in range(n_coordinates):
                momentum[index, i] += 0.5 * step * force[index, i]
    for index in range(n_moving):
        rung = moving[index]
        np.dot(metric.inverse[first_set + rung], momentum[index], velocity)
        log_ratio = before[index] - energy[index]
        for i in range(n_coordinates):
            log_ratio -= 0.5 * momentum[index, i] * velocity[i]
        threshold = -rng.standard_exponential()
        tally.moves[0, first_set + rung] += 1.0
        if math.isfinite(log_ratio):
            tally.accepted[0, first_set + rung] += math.exp(lesser(log_ratio, 0.0))
            if threshold < log_ratio:
                state.energy[0, rung] = energy[index]
                for i in range(n_coordinates):
                    present[0, rung, i] = position[index, i]
                    present_force[0, rung, i] = force[index, i]


@part
def evaluate_replicas(columns, reports, components, state, rungs, workspace):
    """Work out energies and forces that are not known."""
    unknown = np.empty(rungs.size, dtype=np.int64)
    n = 0
    for index in range(rungs.size):
        if state.is_known[0, rungs[index]] == 0:
            unknown[n] = rungs[index]
            n += 1
    if n == 0:
        return
    position = np.empty((n, state.position.shape[2]))
    energy = np.empty(n)
    force = np.empty((n, state.position.shape[2]))
    for index in range(n):
        copy(position[index], state.position[0, unknown[index]])
    energies_and_forces(columns, reports, components, unknown[:n], position, workspace, energy, force)
    for index in range(n):
        rung = unknown[index]
        state.energy[0, rung] = energy[index]
        copy(state.force[0, rung], force[index])
        state.is_known[0, rung] = 1


@part
def fill_weights(components, position, weights):
    """Fill the weights of all components at some positions."""
    deviation = components.deviation
    scale_of = components.scale_of
    n_weights = deviation.size
    factor = np.empty(components.priors.shape[0])
    for index in range(weights.shape[0]):
        for s in range(factor.size):
            factor[s] = math.exp(0.5 * position[index, n_weights + s])
        for i in range(n_weights):
            own = scale_of[i]
            weights[index, i] = position[index, i] * (factor[own] if own >= 0 else 1.0) * deviation[i]
        if scale_of[0] < 0:
            weights[index, 0] *= math.sqrt(variance_of_scores(components.spread, weights, index))


@part
def variance_of_scores(spread, weights, index):
    """Return 1 + the variance of f over individuals."""
    variance = 1.0
    for i in range(spread.size):
        variance += spread[i] * square(weights[index, i])
    return variance


@part
def individual_scores(components, weights, columns):
    """Return the individual component of the scores."""
    of_columns = np.empty((weights.shape[0], components.n_columns))
    for index in range(of_columns.shape[0]):
        for i in range(of_columns.shape[1]):
            of_columns[index, i] = weights[index, i]
    return np.dot(of_columns, columns)


@part
def offsets_of_groups(components, weights):
    """Return the offset of each group, its own intercept not included."""
    context = components.context
    n_columns = components.n_columns
    group = np.zeros((weights.shape[0], context.shape[0]))
    for index in range(group.shape[0]):
        for j in range(group.shape[1]):
            for k in range(context.shape[1]):
                group[index, j] += context[j, k] * weights[index, n_columns + k]
    return group


@part
def energies_and_forces(columns, reports, components, rungs, position, workspace, energy, force):
    """Fill energy and force at some positions; the two products serve all of them at once."""
    n = rungs.size
    context = components.context
    deviation = components.deviation
    scale_of = components.scale_of
    spread = components.spread
    priors = components.priors
    n_columns = components.n_columns
    n_weights = deviation.size
    n_scales = priors.shape[0]
    n_groups = context.shape[0]
    weights = np.empty((n, n_weights))
    fill_weights(components, position, weights)
    individual = individual_scores(components, weights, columns)
    group = offsets_of_groups(components, weights)
    by_row = np.empty(individual.shape)
    by_group = np.empty((n, n_groups))
    for index in range(n):
        energy[index] = -likelihood_gradient(
            reports, rungs[index], individual[index], group[index], workspace, by_row[index], by_group[index]
        )
    by_columns = np.dot(by_row, columns.T)
    by_scale = np.empty(n_scales)
    scale = np.empty(n_scales)
    for index in range(n):
        for s in range(n_scales):
            by_scale[s] = 0.0
            scale[s] = math.exp(0.5 * position[index, n_weights + s])
        by_variance = 0.0
        root = 1.0
        if scale_of[0] < 0:
            variance = variance_of_scores(spread, weights, index)
            root = math.sqrt(variance)
            by_variance = by_columns[index, 0] * weights[index, 0] / variance
        for i in range(n_weights):
            if i < n_columns:
                slope = by_columns[index, i]
            else:
                slope = 0.0
                for j in range(n_groups):
                    slope += context[j, i - n_columns] * by_group[index, j]
            slope += by_variance * spread[i] * weights[index, i]
            own = scale_of[i]
            factor = deviation[i] * (root if i == 0 else 1.0)
            if own >= 0:
                factor *= scale[own]
                by_scale[own] += 0.5 * slope * weights[index, i]
            energy[index] += 0.5 * square(position[index, i])
            force[index, i] = slope * factor - position[index, i]
        for s in range(n_scales):
            log_scale = position[index, n_weights + s]
            energy[index] -= log_scale_prior(priors, s, log_scale)
            force[index, n_weights + s] = by_scale[s] + (
                priors[s, 0] - priors[s, 1] * math.exp(log_scale) + priors[s, 2] * math.exp(-log_scale)
            )


@part
def log_scale_prior(priors, s, log_scale):
    """Log density of a log scale, normalised so that it agrees with the plain twin."""
    return log_kernel(priors[s, 0], priors[s, 1], priors[s, 2], log_scale) - priors[s, 3]


@inlined_part
def slice_scales(components, state, rng):
    n_rungs = state.position.shape[1]
    n_weights = components.deviation.size
    for rung in range(n_rungs - 1 if n_rungs > 1 else 1):
        position = state.position[0, rung]
        force = state.force[0, rung]
        for s in range(components.priors.shape[0]):
            n = 0
            squares = 0.0
            for i in range(n_weights):
                if components.scale_of[i] == s:
                    n += 1
                    squares += square(position[i])
            if n == 0:
                continue
            before = position[n_weights + s]
            power = components.priors[s, 0] - 0.5 * n
            rate = components.priors[s, 1]
            inverse_rate = components.priors[s, 2] + 0.5 * squares * math.exp(before)
            after = slice_log_scale(power, rate, inverse_rate, before, rng)
            factor = math.exp(0.5 * (after - before))
            for i in range(n_weights):
                if components.scale_of[i] == s:
                    by_weight = force[i] + position[i]
                    position[i] /= factor
                    force[i] = factor * by_weight - position[i]
            position[n_weights + s] = after
            rate_of_prior = components.priors[s, 2]
            force[n_weights + s] += rate * (math.exp(before) - math.exp(after))
            force[n_weights + s] += rate_of_prior * (math.exp(-after) - math.exp(-before))
            state.energy[0, rung] += 0.5 * squares * (1.0 / square(factor) - 1.0)
            state.energy[0, rung] += log_kernel(components.priors[s, 0], rate, rate_of_prior, before)
            state.energy[0, rung] -= log_kernel(components.priors[s, 0], rate, rate_of_prior, after)


@part
def log_kernel(power, rate, inverse_rate, log_scale):
    if not abs(log_scale) <= LOG_SCALE_BOUND:
        return -np.inf
    return power * log_scale - rate * math.exp(log_scale) - inverse_rate * math.exp(-log_scale)


@part
def slice_log_scale(power, rate, inverse_rate, present, rng):
    level = log_kernel(power, rate, inverse_rate, present) - rng.standard_exponential()
    low = present - SLICE_WIDTH * rng.random()
    high = low + SLICE_WIDTH
    while log_kernel(power, rate, inverse_rate, low) > level:
        low -= SLICE_WIDTH
    while log_kernel(power, rate, inverse_rate, high) > level:
        high += SLICE_WIDTH
    while True:
        proposed = low + (high - low) * rng.random()
        if log_kernel(power, rate, inverse_rate, proposed) >= level:
            return proposed
        if proposed < present:
            low = proposed
        else:
            high = proposed


@inlined_part
def jump_in_scales(columns, reports, components, state, workspace, rng):
    n_rungs = state.position.shape[1]
    n_weights = components.deviation.size
    n_moving = n_rungs - 1 if n_rungs > 1 else 1
    rungs = np.empty(n_moving, dtype=np.int64)
    for rung in range(n_moving):
        rungs[rung] = rung
    evaluate_replicas(columns, reports, components, state, rungs, workspace)
    position = np.empty((1, state.position.shape[2]))
    weights = np.empty((1, n_weights))
    result = np.empty(1)
    for rung in range(n_moving):
        for which in range(components.priors.shape[0]):
            copy(position[0], state.position[0, rung])
            position[0, n_weights + which] += JUMP * rng.standard_normal()
            threshold = -rng.standard_exponential()
            if abs(position[0, n_weights + which]) > LOG_SCALE_BOUND:
                continue
            fill_weights(components, position, weights)
            group = offsets_of_groups(components, weights)
            individual = individual_scores(components, weights, columns)
            result[0] = 0.0
            add_count_likelihoods(reports, individual[0], group[0], rung, rung + 1, workspace, result)
            energy = -result[0]
            for i in range(n_weights):
                energy += 0.5 * square(position[0, i])
            for s in range(components.priors.shape[0]):
                energy -= log_scale_prior(components.priors, s, position[0, n_weights + s])
            if threshold < state.energy[0, rung] - energy:
                state.position[0, rung, n_weights + which] = position[0, n_weights + which]
                state.energy[0, rung] = energy
                state.is_known[0, rung] = 0


@part
def draw_from_prior(components, position, rng):
    for i in range(position.size):
        position[i] = rng.standard_normal()
    for s in range(components.priors.shape[0]):
        position[components.deviation.size + s] = draw_log_scale(components.priors, s, rng)


@part
def draw_log_scale(priors, s, rng):
    power = priors[s, 0]
    for _ in range(MOST_DRAWS):
        gamma = rng.standard_gamma(abs(power))
        if not gamma > 0.0:
            continue
        log_scale = math.log(gamma / priors[s, 1]) if power > 0.0 else -math.log(gamma / priors[s, 2])
        if abs(log_scale) > LOG_SCALE_BOUND:
            continue
        left = priors[s, 2] * math.exp(-log_scale) if power > 0.0 else priors[s, 1] * math.exp(log_scale)
        if left == 0.0 or rng.standard_exponential() > left:
            return log_scale
    log_scale = math.log(power / priors[s, 1]) if power > 0.0 else math.log(priors[s, 2] / -power)
    log_scale = lesser(greater(log_scale, 1.0 - LOG_SCALE_BOUND), LOG_SCALE_BOUND - 1.0)
    for _ in range(N_SLICES):
        log_scale = slice_log_scale(power, priors[s, 1], priors[s, 2], log_scale, rng)
    return log_scale


@inlined_part
def exchange_replicas(columns, reports, components, state, tally, log_ratios, workspace, rng):
    n_rungs = state.position.shape[1]
    weights = np.empty((n_rungs, components.deviation.size))
    fill_weights(components, state.position[0], weights)
    individual = individual_scores(components, weights, columns)
    group = offsets_of_groups(components, weights)
    table = np.zeros((n_rungs, n_rungs))
    for rung in range(n_rungs):
        add_count_likelihoods(reports, individual[rung], group[rung], np.int64(0), n_rungs, workspace, table[rung])
    order = swap_replicas(table, tally.swapped[0], log_ratios, rng)
    old = state.position[0].copy()
    for rung in range(n_rungs):
        if order[rung] != rung:
            copy(state.position[0, rung], old[order[rung]])
            state.is_known[0, rung] = 0


@inlined_part
def record_draw(columns, reports, components, state, record, log_ratios, kept, workspace):
    """Write down weights and scales of the first rung, and add up expected labels and shares."""
    position = state.position[0, 0]
    n_weights = components.deviation.size
    weights = np.empty((1, n_weights))
    fill_weights(components, state.position[0, :1], weights)
    copy(record.weights[kept, 0, :n_weights], weights[0])
    for s in range(components.priors.shape[0]):
        record.scales[kept, 0, s] = math.exp(position[n_weights + s])
    for rung in range(log_ratios.shape[0]):
        record.log_ratios[kept, 0, rung, 0] = log_ratios[rung, 0]
        record.log_ratios[kept, 0, rung, 1] = log_ratios[rung, 1]
    if record.label_sums.shape[1] > 0:
        group = offsets_of_groups(components, weights)
        individual = individual_scores(components, weights, columns)
        no_moments = np.empty((2, group.shape[1]))
        add_expected(
            reports, individual[0], group[0], no_moments, workspace, record.label_sums[0], record.share_tallies[0]
        )
