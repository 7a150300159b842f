"""Compiled work on one tile of a block: gradients, labels, tables of likelihoods, and information."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, fill, greater, lesser, square
from disaggregate.sampler.compiled.collapsed import forced_gradient, group_gradient, piece_evidence
from disaggregate.sampler.compiled.compile import inlined_part, kernel, part
from disaggregate.sampler.compiled.counts import SAFE_TOTAL, count_law, draw_labels, log_evidence_given_fitted
from disaggregate.sampler.compiled.exchange import rung_of
from disaggregate.sampler.compiled.latent import draw_group_labels, largest_group, new_scratch, total_units
from disaggregate.sampler.compiled.normal import chances
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
    scratch = np.empty(2 * WHOLE_GROUP + 2 * width)
    law = np.empty(widest_piece(evidence, in_one_piece))
    longer = np.empty(law.size)
    likelihood = np.empty(width)
    log_likelihood = np.empty(width)
    total = 0.0
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        if is_forced(evidence, group):
            sign = 1.0 if evidence.most[group] > 0 else -1.0
            total += forced_gradient(fitted[start:stop], sign, gradient[start:stop])
            continue
        units = evidence.units[start:stop]
        evidence_here = evidence.likelihood[evidence.starts[group] : evidence.starts[group + 1]]
        log_evidence_here = evidence.log_likelihood[evidence.starts[group] : evidence.starts[group + 1]]
        if WHOLE_GROUP < stop - start <= in_one_piece:
            value = normal_gradient(fitted[start:stop], units, log_evidence_here, gradient[start:stop])
            if is_exact:
                value = log_evidence_given_fitted(
                    fitted[start:stop], units, evidence_here, log_evidence_here, law, longer
                )
            total += value
            continue
        step = stop - start if stop - start <= WHOLE_GROUP else BLOCK
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            size = piece_evidence(evidence, labels, group, begin, end, likelihood, log_likelihood)
            total += group_gradient(
                fitted[begin:end], evidence.units[begin:end], likelihood[:size], log_likelihood[:size],
                gradient[begin:end], table, scratch,
            )  # fmt: skip
    return total


def room_for_tables(evidence, in_one_piece):
    """Return how many numbers the tables of the largest groups take, for gradients and for labels."""
    width = max(int(evidence.piece[1]), WHOLE_GROUP) + 1
    sizes = np.diff(evidence.offsets)
    whole = sizes <= in_one_piece
    labels = (sizes[whole].max(initial=0) + 1) * np.diff(evidence.starts)[whole].max(initial=1)
    return max((WHOLE_GROUP + 1) * width, int(labels))


@part
def widest_piece(evidence, in_one_piece):
    """Return how many counts the largest group in one piece has, and as many for its members at least."""
    widest = 1
    for group in range(evidence.offsets.size - 1):
        if evidence.offsets[group + 1] - evidence.offsets[group] <= in_one_piece:
            widest = greater(widest, total_units(evidence, group) + 1)
    return widest


@kernel
def tile_labels(ladder, rung, labels, fitted, in_one_piece, larger_than, table, rng):
    """Draw the labels of one replica in place, in one piece or, in larger groups, on from the present ones."""
    evidence = rung_of(ladder, rung)
    size = lesser(in_one_piece, largest_group(evidence.offsets))
    drawn = np.empty(size, dtype=np.int64)
    positive = np.empty(size)
    negative = np.empty(size)
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
                evidence.log_likelihood[first:last], drawn, positive, negative, table, rng,
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
    n_rungs = fitted.shape[0]
    law = np.empty(widest_piece(ladder, in_one_piece))
    longer = np.empty(law.size)
    for group in range(ladder.offsets.size - 1):
        start = ladder.offsets[group]
        stop = ladder.offsets[group + 1]
        first = ladder.starts[group]
        last = ladder.starts[group + 1]
        units = ladder.units[start:stop]
        for replica in range(n_rungs):
            count = 0
            if stop - start > in_one_piece:
                for row in range(start, stop):
                    count += ladder.units[row] * labels[replica, row]
            for rung in range(n_rungs):
                if stop - start > in_one_piece:
                    table[replica, rung] += ladder.log_likelihood[rung, first + count]
                else:
                    table[replica, rung] += log_evidence_given_fitted(
                        fitted[replica, start:stop], units, ladder.likelihood[rung, first:last],
                        ladder.log_likelihood[rung, first:last], law, longer,
                    )  # fmt: skip


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
def tile_information(ladder, rung, fitted, in_one_piece, slope, starts, worth):
    """Find what every piece of evidence tells of f: ``worth`` times the square of a sum of slopes.

    A report tells of a count. Where labels are forced every member is a piece; and so is every block of a group of
    more than ``in_one_piece`` members, whose count is then known. Fills the slope of each row, where each piece
    starts, and what it is worth; returns how many there are.
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
        is_held = stop - start > in_one_piece
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
