"""Compiled work on one tile of a block: gradients, labels, tables of likelihoods, and information."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import fill, greater, lesser, square
from disaggregate.sampler.compiled.collapsed import collapsed_gradient, forced_gradient, group_gradient
from disaggregate.sampler.compiled.compile import inlined_part, kernel, part
from disaggregate.sampler.compiled.counts import SAFE_TOTAL, count_law
from disaggregate.sampler.compiled.exchange import fill_likelihood_table, rung_of
from disaggregate.sampler.compiled.latent import draw_all_labels, total_units
from disaggregate.sampler.compiled.normal import chances
from disaggregate.sampler.evidence import BLOCK, WHOLE_GROUP

_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)

# Of a count whose law is as good as a point nothing can be learned, and nothing may be divided by its variance.
_LEAST_VARIANCE = 1e-12
_LEAST_DENSITY = 1e-100


@kernel
def tile_gradient(ladder, rungs, labels, fitted, gradient, log_likelihood):
    """Fill the gradient of every replica and add up its log likelihood."""
    for place in range(rungs.size):
        evidence = rung_of(ladder, rungs[place])
        log_likelihood[place] += collapsed_gradient(evidence, labels[place], fitted[place], gradient[place])


@kernel
def tile_labels(ladder, rung, labels, fitted, larger_than, rng):
    """Draw the labels of one replica in place; a large group's go on from the present ones."""
    draw_all_labels(rung_of(ladder, rung), fitted, labels, labels, larger_than, rng)


@kernel
def tile_table(ladder, labels, fitted, table):
    """Add up the log likelihood of each replica of a chain, in rows, under each rung's evidence, in columns."""
    own = np.empty(table.shape)
    fill_likelihood_table(ladder, fitted, labels, own)
    for replica in range(table.shape[0]):
        for rung in range(table.shape[1]):
            table[replica, rung] += own[replica, rung]


@kernel
def tile_approach(ladder, rung, fitted, gradient):
    """Fill the gradient and return the log likelihood, with the count of a large group taken for normal."""
    evidence = rung_of(ladder, rung)
    width = greater(evidence.piece[1], WHOLE_GROUP) + 1
    table = np.empty((greater(evidence.piece[0], WHOLE_GROUP) + 1) * width)
    scratch = np.empty(2 * WHOLE_GROUP + 2 * width)
    total = 0.0
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        first = evidence.starts[group]
        last = evidence.starts[group + 1]
        if is_forced(evidence, group):
            sign = 1.0 if evidence.most[group] > 0 else -1.0
            total += forced_gradient(fitted[start:stop], sign, gradient[start:stop])
        elif stop - start <= WHOLE_GROUP:
            total += group_gradient(
                fitted[start:stop], evidence.units[start:stop], evidence.likelihood[first:last],
                evidence.log_likelihood[first:last], gradient[start:stop], table, scratch,
            )  # fmt: skip
        else:
            total += normal_gradient(
                fitted[start:stop], evidence.units[start:stop], evidence.log_likelihood[first:last],
                gradient[start:stop],
            )  # fmt: skip
    return total


@inlined_part
def is_forced(evidence, group):
    return evidence.most[group] == 0 or evidence.fewest[group] == total_units(evidence, group)


@part
def normal_gradient(fitted, units, log_likelihood, gradient):
    """Log likelihood of a group whose count is normal with the right mean and variance, and its gradient."""
    mean, variance = count_moments(fitted, units)
    log_total, mean_after, variance_after = normal_moments_after(mean, variance, log_likelihood)
    by_mean = (mean_after - mean) / variance
    by_variance = 0.5 * ((variance_after + square(mean_after - mean)) / variance - 1.0) / variance
    for i in range(fitted.size):
        p, q = chances(fitted[i])
        density = math.exp(-0.5 * square(fitted[i])) / _ROOT_TWO_PI
        gradient[i] = units[i] * density * (by_mean + by_variance * units[i] * (q - p))
    return log_total


@part
def count_moments(fitted, units):
    """Mean and variance of a count."""
    mean = 0.0
    variance = 0.0
    for i in range(fitted.size):
        p, q = chances(fitted[i])
        mean += units[i] * p
        variance += square(units[i]) * p * q
    return mean, greater(variance, _LEAST_VARIANCE)


@part
def normal_moments_after(mean, variance, log_likelihood):
    """Log probability of the evidence on a normal count, and mean and variance of the count given it."""
    peak = -np.inf
    for c in range(log_likelihood.size):
        peak = greater(peak, log_likelihood[c] - 0.5 * square(c - mean) / variance)
    total = 0.0
    first = 0.0
    second = 0.0
    for c in range(log_likelihood.size):
        chance = math.exp(log_likelihood[c] - 0.5 * square(c - mean) / variance - peak)
        total += chance
        first += chance * (c - mean)
        second += chance * square(c - mean)
    first /= total
    return (
        peak + math.log(total / math.sqrt(variance) / _ROOT_TWO_PI),
        mean + first,
        second / total - square(first),
    )


@kernel
def tile_information(ladder, rung, fitted, hold_blocks, slope, starts, worth):
    """Find what every piece of evidence tells of f: ``worth`` times the square of a sum of slopes.

    A report tells of a count. Where labels are forced every member is a piece; with ``hold_blocks`` so is every
    block of a large group, whose count is then known. Fills the slope of each row, and where each piece starts and
    what it is worth; returns how many there are.
    """
    evidence = rung_of(ladder, rung)
    widest = 1
    for group in range(evidence.offsets.size - 1):
        if evidence.offsets[group + 1] - evidence.offsets[group] <= WHOLE_GROUP:
            widest = greater(widest, evidence.starts[group + 1] - evidence.starts[group])
    law = np.empty(widest)
    longer = np.empty(widest)
    for row in range(fitted.size):
        slope[row] = evidence.units[row] * math.exp(-0.5 * square(fitted[row])) / _ROOT_TWO_PI
    n_pieces = 0
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        if is_forced(evidence, group):
            sign = 1.0 if evidence.most[group] > 0 else -1.0
            for row in range(start, stop):
                starts[n_pieces] = row
                worth[n_pieces] = forced_worth(sign * fitted[row], evidence.units[row])
                n_pieces += 1
            continue
        is_held = stop - start > WHOLE_GROUP and hold_blocks
        step = BLOCK if is_held else stop - start
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            _, variance = count_moments(fitted[begin:end], evidence.units[begin:end])
            after = 0.0
            if not is_held:
                after = variance_after(evidence, group, fitted[start:stop], law, longer)
            starts[n_pieces] = begin
            worth[n_pieces] = greater(variance - after, 0.0) / square(variance)
            n_pieces += 1
    return n_pieces


@part
def forced_worth(fitted, unit):
    """Curvature of log Phi(f) over the squared slope."""
    p, _ = chances(fitted)
    density = math.exp(-0.5 * square(fitted)) / _ROOT_TWO_PI
    if density < _LEAST_DENSITY:  # its square must stay a number
        return 0.0
    ratio = density / p
    return greater(ratio * (ratio + fitted), 0.0) / square(unit * density)


@part
def variance_after(evidence, group, fitted, law, longer):
    """Variance of a group's count given its evidence; none where that is hardly possible."""
    start = evidence.offsets[group]
    stop = evidence.offsets[group + 1]
    first = evidence.starts[group]
    last = evidence.starts[group + 1]
    units = evidence.units[start:stop]
    if stop - start > WHOLE_GROUP:
        mean, variance = count_moments(fitted, units)
        return normal_moments_after(mean, variance, evidence.log_likelihood[first:last])[2]
    found = count_law(fitted, units, law, longer)
    total = 0.0
    mean = 0.0
    for c in range(found.size):
        chance = found[c] * evidence.likelihood[first + c]
        total += chance
        mean += chance * c
    if not total > SAFE_TOTAL:
        return 0.0
    mean /= total
    spread = 0.0
    for c in range(found.size):
        spread += found[c] * evidence.likelihood[first + c] * square(c - mean)
    return spread / total


@kernel
def count_positives(offsets, units, labels, counts):
    """Count the positive units of each group."""
    fill(counts, 0)
    for group in range(offsets.size - 1):
        for row in range(offsets[group], offsets[group + 1]):
            counts[group] += units[row] * labels[row]
