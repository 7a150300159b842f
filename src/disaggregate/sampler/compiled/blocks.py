"""Compiled work on one tile of a block: gradients, labels, tables of likelihoods, and information."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, fill, greater, lesser, square
from disaggregate.sampler.compiled.collapsed import (
    forced_gradient,
    forced_side,
    group_gradient,
    is_forced,
    piece_evidence,
    piece_size,
)
from disaggregate.sampler.compiled.compile import kernel, part
from disaggregate.sampler.compiled.counts import SAFE_TOTAL, count_law, draw_labels, log_evidence_given_law
from disaggregate.sampler.compiled.exchange import add_likelihoods, rung_of, widest_piece
from disaggregate.sampler.compiled.latent import draw_group_labels, largest_group, new_scratch
from disaggregate.sampler.compiled.normal import chances_of
from disaggregate.sampler.evidence import BLOCK, WHOLE_GROUP

_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)

# Of a count whose law is as good as a point nothing can be learned, and nothing may be divided by its variance.
_LEAST_VARIANCE = 1e-12
_LEAST_DENSITY = 1e-100


@kernel
def tile_gradient(ladder, rungs, labels, fitted, in_one_piece, is_exact, table, gradient, log_likelihood):
    """Fill the gradient of every replica and add up its log likelihood; ``table`` is room to work in.

    The gradient of a group of more than ``WHOLE_GROUP`` members takes its count for normal; so does its likelihood
    unless ``is_exact``. Labels are held in groups of more than ``in_one_piece`` members.
    """
    for place in range(rungs.size):
        evidence = rung_of(ladder, rungs[place])
        log_likelihood[place] += collapsed(
            evidence, labels[place], fitted[place], in_one_piece, is_exact, table, gradient[place]
        )


@part
def collapsed(evidence, labels, fitted, in_one_piece, is_exact, table, gradient):
    width = greater(evidence.piece[1], WHOLE_GROUP) + 1
    laws = np.empty((2, width))
    law = np.empty(widest_piece(evidence, in_one_piece))
    longer = np.empty(law.size)
    likelihood = np.empty(width)
    log_likelihood = np.empty(width)
    positive, negative, density = chances_of(fitted)
    total = 0.0
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        if is_forced(evidence, group):
            sign, chance = forced_side(evidence, group, positive, negative)
            total += forced_gradient(
                fitted[start:stop], sign, chance[start:stop], density[start:stop], gradient[start:stop]
            )
            continue
        units = evidence.units[start:stop]
        evidence_here = evidence.likelihood[evidence.starts[group] : evidence.starts[group + 1]]
        log_evidence_here = evidence.log_likelihood[evidence.starts[group] : evidence.starts[group + 1]]
        if WHOLE_GROUP < stop - start <= in_one_piece:
            value = normal_gradient(
                positive[start:stop], negative[start:stop], density[start:stop], units, log_evidence_here,
                gradient[start:stop],
            )  # fmt: skip
            if is_exact:
                found = count_law(positive[start:stop], negative[start:stop], units, law, longer)
                value = log_evidence_given_law(found, fitted[start:stop], units, evidence_here, log_evidence_here)
            total += value
            continue
        step = piece_size(stop - start)
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            of_counts, log_of_counts = piece_evidence(
                evidence, labels, group, begin, end, likelihood, log_likelihood
            )
            total += group_gradient(
                fitted[begin:end], evidence.units[begin:end], of_counts, log_of_counts, positive[begin:end],
                negative[begin:end], density[begin:end], gradient[begin:end], table, laws,
            )  # fmt: skip
    return total


def room_for_tables(evidence, in_one_piece):
    """Return how many numbers the tables of the largest groups take, for gradients and for labels."""
    width = max(int(evidence.piece[1]), WHOLE_GROUP) + 1
    sizes = np.diff(evidence.offsets)
    whole = sizes <= in_one_piece
    labels = (sizes[whole].max(initial=0) + 1) * np.diff(evidence.starts)[whole].max(initial=1)
    return max((WHOLE_GROUP + 1) * width, int(labels))


@kernel
def tile_labels(ladder, rung, labels, fitted, in_one_piece, larger_than, table, rng):
    """Draw the labels of one replica in place, in one piece or, in larger groups, on from the present ones."""
    evidence = rung_of(ladder, rung)
    size = lesser(in_one_piece, largest_group(evidence.offsets))
    drawn = np.empty(size, dtype=np.int64)
    chances = np.empty((3, size))
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        if stop - start <= larger_than:
            continue
        if is_forced(evidence, group):
            fill(labels[start:stop], int(evidence.most[group] > 0))
        elif stop - start <= in_one_piece:
            first = evidence.starts[group]
            last = evidence.starts[group + 1]
            draw_labels(
                fitted[start:stop], evidence.units[start:stop], evidence.likelihood[first:last],
                evidence.log_likelihood[first:last], drawn, chances, table, rng,
            )  # fmt: skip
            copy(labels[start:stop], drawn)
        else:
            draw_in_blocks(evidence, group, fitted, labels, rng)


@part
def draw_in_blocks(evidence, group, fitted, labels, rng):
    start = evidence.offsets[group]
    stop = evidence.offsets[group + 1]
    order = np.empty(stop - start, dtype=np.int64)
    scratch = new_scratch(evidence.piece[0], evidence.piece[1])
    draw_group_labels(evidence, group, fitted, labels, labels[start:stop], order, scratch, rng)


@kernel
def tile_table(ladder, labels, fitted, in_one_piece, table):
    """Add up the log likelihood of each replica of a chain, in rows, under each rung's evidence, in columns."""
    add_likelihoods(ladder, labels, fitted, in_one_piece, table)


@part
def normal_gradient(positive, negative, density, units, log_likelihood, gradient):
    """Log likelihood of a group whose count is normal with the right mean and variance, and its gradient."""
    mean, variance = count_moments(positive, negative, units)
    log_total, mean_after, variance_after = normal_moments_after(mean, variance, log_likelihood)
    by_mean = (mean_after - mean) / variance
    by_variance = 0.5 * ((variance_after + square(mean_after - mean)) / variance - 1.0) / variance
    for i in range(units.size):
        slope = by_mean + by_variance * units[i] * (negative[i] - positive[i])
        gradient[i] = units[i] * density[i] * slope
    return log_total


@part
def count_moments(positive, negative, units):
    """Mean and variance of a count."""
    mean = 0.0
    variance = 0.0
    for i in range(units.size):
        mean += units[i] * positive[i]
        variance += square(units[i]) * positive[i] * negative[i]
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
def tile_information(ladder, rung, fitted, in_one_piece, slope, starts, worth):
    """Find what every piece of evidence tells of f: ``worth`` times the square of a sum of slopes.

    A report tells of a count. Where labels are forced every member is a piece; and so is every block of a group of
    more than ``in_one_piece`` members, whose count is then known. Fills the slope of each row, where each piece
    starts, and what it is worth; returns how many there are.
    """
    evidence = rung_of(ladder, rung)
    widest = widest_piece(evidence, WHOLE_GROUP)
    law = np.empty(widest)
    longer = np.empty(widest)
    positive, negative, density = chances_of(fitted)
    for row in range(fitted.size):
        slope[row] = evidence.units[row] * density[row]
    n_pieces = 0
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        if is_forced(evidence, group):
            sign, chance = forced_side(evidence, group, positive, negative)
            for row in range(start, stop):
                starts[n_pieces] = row
                worth[n_pieces] = forced_worth(sign * fitted[row], chance[row], density[row], evidence.units[row])
                n_pieces += 1
            continue
        is_held = stop - start > in_one_piece
        step = BLOCK if is_held else stop - start
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            _, variance = count_moments(positive[begin:end], negative[begin:end], evidence.units[begin:end])
            after = 0.0
            if not is_held:
                after = variance_after(evidence, group, positive[start:stop], negative[start:stop], law, longer)
            starts[n_pieces] = begin
            worth[n_pieces] = greater(variance - after, 0.0) / square(variance)
            n_pieces += 1
    return n_pieces


@part
def forced_worth(fitted, chance, density, unit):
    """Curvature of log Phi(f) over the squared slope."""
    if density < _LEAST_DENSITY:  # its square must stay a number
        return 0.0
    ratio = density / chance
    return greater(ratio * (ratio + fitted), 0.0) / square(unit * density)


@part
def variance_after(evidence, group, positive, negative, law, longer):
    """Variance of a group's count given its evidence; none where that is hardly possible."""
    start = evidence.offsets[group]
    stop = evidence.offsets[group + 1]
    first = evidence.starts[group]
    last = evidence.starts[group + 1]
    units = evidence.units[start:stop]
    if stop - start > WHOLE_GROUP:
        mean, variance = count_moments(positive, negative, units)
        return normal_moments_after(mean, variance, evidence.log_likelihood[first:last])[2]
    found = count_law(positive, negative, units, law, longer)
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
