"""Compiled twin of ``model.populations``.

The means of p over all rows and over a group's own rows are smooth functions of the group's offset alone: they are
worked out at a few offsets, the same for all groups, and interpolated between them.
"""

import math
from typing import NamedTuple

import numpy as np

from disaggregate.model.populations import FARTHEST, LEAST, SHARE_ERROR, SMOOTHNESS
from disaggregate.sampler.compiled.arrays import add_multiple, copy, greater, lesser, square
from disaggregate.sampler.compiled.compile import fused_part, part
from disaggregate.sampler.compiled.normal import fill_chances

_LOG_TWO_PI = math.log(2.0 * math.pi)

# Points of the interpolation: so many, and so many more per unit of the offsets' range. Fewer per unit would let
# means of steep scores swing beyond 0 and 1.
_POINTS, _POINTS_PER_UNIT, _MOST_POINTS = 10, 3.5, 160

# Scores beyond this have a p of 0 or 1: offsets that put all scores there need no points.
_FARTHEST_SCORE = 9.0

# Rows of a table of means: of p and p^2 over a group's own rows, and of their slopes in the offset; the same over
# all rows.
OWN, OWN_SQUARE, OWN_SLOPE, OWN_SQUARE_SLOPE, POOL, POOL_SQUARE, POOL_SLOPE, POOL_SQUARE_SLOPE = range(8)


class Means(NamedTuple):
    """Means of p at some offsets, and what they were worked out from.

    Attributes
    ----------
    low, high : float
        Between which offsets; beyond them the means are as they are there.
    points : ndarray of shape (n_points,)
        The offsets.
    factors : ndarray of shape (n_points,)
        Barycentric factors that interpolate between them.
    values : ndarray of shape (n_groups, n_points, 8)
        Means over the rows of each group that is a sample, and over all rows, in the order of OWN to
        POOL_SQUARE_SLOPE.
    positive, density : ndarray of shape (n_points, n_rows)
        Phi and the normal density at each row and point.
    of_all : ndarray of shape (n_groups,)
        How much each group's rows count among all rows: means over all rows are averages of those of groups.
    """

    low: float
    high: float
    points: np.ndarray
    factors: np.ndarray
    values: np.ndarray
    positive: np.ndarray
    density: np.ndarray
    of_all: np.ndarray


@part
def tabulate(reports, individual, low, high):
    """Work out the means at Chebyshev's points between two offsets."""
    n_rows = individual.size
    n_groups = reports.is_sample.size
    least = np.inf
    most = -np.inf
    for row in range(n_rows):
        least = lesser(least, individual[row])
        most = greater(most, individual[row])
    low = lesser(greater(low, -_FARTHEST_SCORE - most), _FARTHEST_SCORE - least)
    high = greater(lesser(high, _FARTHEST_SCORE - least), low)
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low)
    n = 1
    if half > 1e-6:
        n = int(lesser(_POINTS + _POINTS_PER_UNIT * half, _MOST_POINTS))
    means = Means(
        low, high, np.full(n, middle), np.ones(n), np.zeros((n_groups, n, 8)), np.empty((n, n_rows)),
        np.empty((n, n_rows)), np.zeros(n_groups),
    )  # fmt: skip
    for j in range(n_groups):
        for row in range(reports.offsets[j], reports.offsets[j + 1]):
            means.of_all[j] += reports.pooled[row]  # 0 for rows that are no sample
    shifted = np.empty(n_rows)
    negative = np.empty(n_rows)
    for k in range(n):
        if n > 1:
            means.points[k] -= half * math.cos(math.pi * (k + 0.5) / n)
            means.factors[k] = math.sin(math.pi * (k + 0.5) / n) * (-1.0 if k % 2 else 1.0)
        positive = means.positive[k]
        density = means.density[k]
        pooled = np.zeros(4)
        shift(individual, means.points[k], shifted)
        fill_chances(shifted, positive, negative, density)
        for j in range(n_groups):
            if reports.is_sample[j] == 0:
                continue
            sums = means.values[j, k, :POOL]
            add_means(reports.weight, positive, density, reports.offsets[j], reports.offsets[j + 1], sums)
            add_multiple(pooled, means.of_all[j], sums)
        for j in range(n_groups):
            copy(means.values[j, k, POOL:], pooled)
    return means


@fused_part
def add_means(weight, positive, density, start, stop, sums):
    """Add the weighted sums of p, p^2 and their slopes over the rows of a group."""
    first = 0.0
    second = 0.0
    first_slope = 0.0
    second_slope = 0.0
    for row in range(start, stop):
        of_p = weight[row] * positive[row]
        of_slope = weight[row] * density[row]
        first += of_p
        second += of_p * positive[row]
        first_slope += of_slope
        second_slope += 2.0 * of_slope * positive[row]
    sums[0] += first
    sums[1] += second
    sums[2] += first_slope
    sums[3] += second_slope


@fused_part
def interpolate(bounds, points, factors, values, j, offset, weights, row):
    """Fill a row of interpolation weights, and return the eight means of one group at one offset.

    The interpolation is barycentric. Means are summed in registers: an array for the sums takes several times as
    long.
    """
    offset = lesser(greater(offset, bounds[0]), bounds[1])
    for k in range(points.size):
        weights[row, k] = factors[k] / (offset - points[k])
    total = 0.0
    own = 0.0
    own_square = 0.0
    own_slope = 0.0
    own_square_slope = 0.0
    pool = 0.0
    pool_square = 0.0
    pool_slope = 0.0
    pool_square_slope = 0.0
    for k in range(points.size):
        total += weights[row, k]
        own += weights[row, k] * values[j, k, OWN]
        own_square += weights[row, k] * values[j, k, OWN_SQUARE]
        own_slope += weights[row, k] * values[j, k, OWN_SLOPE]
        own_square_slope += weights[row, k] * values[j, k, OWN_SQUARE_SLOPE]
        pool += weights[row, k] * values[j, k, POOL]
        pool_square += weights[row, k] * values[j, k, POOL_SQUARE]
        pool_slope += weights[row, k] * values[j, k, POOL_SLOPE]
        pool_square_slope += weights[row, k] * values[j, k, POOL_SQUARE_SLOPE]
    if not abs(total) < np.inf:  # on one of the points
        k = 0
        while k < points.size - 1 and offset != points[k]:
            k += 1
        for other in range(points.size):
            weights[row, other] = 1.0 if other == k else 0.0
        return (
            values[j, k, OWN], values[j, k, OWN_SQUARE], values[j, k, OWN_SLOPE], values[j, k, OWN_SQUARE_SLOPE],
            values[j, k, POOL], values[j, k, POOL_SQUARE], values[j, k, POOL_SLOPE],
            values[j, k, POOL_SQUARE_SLOPE],
        )  # fmt: skip
    scale = 1.0 / total
    for k in range(points.size):
        weights[row, k] *= scale
    return (
        _within_one(scale * own), _within_one(scale * own_square), scale * own_slope, scale * own_square_slope,
        _within_one(scale * pool), _within_one(scale * pool_square), scale * pool_slope,
        scale * pool_square_slope,
    )  # fmt: skip


@part
def _within_one(mean):
    return lesser(greater(mean, 0.0), 1.0)


class ShareTerms(NamedTuple):
    """Log density of one population's share, and its derivatives.

    ``by_offset`` is the derivative in the group's offset, and ``information`` the expected curvature in it; the
    others are in the means of p and p^2 over the group's own rows and over all rows, and in r.
    """

    mean: float
    variance: float
    log_density: float
    by_offset: float
    information: float
    by_own: float
    by_own_square: float
    by_pool: float
    by_pool_square: float
    by_excess: float


class ShareFacts(NamedTuple):
    """What the law of one population's share depends on beside the means: worked out once per group.

    Attributes
    ----------
    share, by_size : float
        The reported share, and one over the number of people.
    sampled, weight, doubt : float
        Share of the people who were sampled, lambda, and the factor of the mixture's variance.
    doubt_by_weight, weight_by_excess : float
        Derivatives of the last two, in lambda and in r.
    """

    share: float
    by_size: float
    sampled: float
    weight: float
    doubt: float
    doubt_by_weight: float
    weight_by_excess: float


@part
def facts_of(share, size, n, excess, mean_rows):
    """``n`` is the effective number of rows, ``size`` that of the population's people."""
    known = excess * n
    weight = known / (known + mean_rows)
    sampled = lesser(n / size, 1.0)
    return ShareFacts(
        share, 1.0 / size, sampled, weight, square(1.0 - sampled) * weight / (n + weight),
        square(1.0 - sampled) * n / square(n + weight), n * mean_rows / square(known + mean_rows),
    )  # fmt: skip


@part
def share_terms(facts, values):
    """Log density of a share, from the means."""
    weight = facts.weight
    own = values[OWN]
    pool = values[POOL]
    blend = weight * own + (1.0 - weight) * pool
    spread = weight * values[OWN_SQUARE] + (1.0 - weight) * values[POOL_SQUARE] - square(blend)
    mean = facts.sampled * own + (1.0 - facts.sampled) * blend
    variance = facts.doubt * greater(spread, 0.0) + mean * (1.0 - mean) * facts.by_size + square(SHARE_ERROR)
    precision = 1.0 / variance
    miss = facts.share - mean
    error = square(miss) * precision
    log_density = -0.5 * error - 0.5 * (_LOG_TWO_PI + math.log(variance))
    by_variance = 0.5 * (error - 1.0) * precision
    by_mean = miss * precision + by_variance * (1.0 - 2.0 * mean) * facts.by_size
    by_blend = by_mean * (1.0 - facts.sampled) - 2.0 * by_variance * facts.doubt * blend
    by_square = by_variance * facts.doubt
    by_own = by_mean * facts.sampled + by_blend * weight
    by_own_square = by_square * weight
    by_pool = by_blend * (1.0 - weight)
    by_pool_square = by_square * (1.0 - weight)
    by_weight = by_blend * (own - pool) + by_square * (values[OWN_SQUARE] - values[POOL_SQUARE])
    by_weight += by_variance * spread * facts.doubt_by_weight
    by_excess = by_weight * facts.weight_by_excess
    by_offset = by_own * values[OWN_SLOPE] + by_own_square * values[OWN_SQUARE_SLOPE]
    by_offset += by_pool * values[POOL_SLOPE] + by_pool_square * values[POOL_SQUARE_SLOPE]
    blend_slope = weight * values[OWN_SLOPE] + (1.0 - weight) * values[POOL_SLOPE]
    mean_slope = facts.sampled * values[OWN_SLOPE] + (1.0 - facts.sampled) * blend_slope
    spread_slope = weight * values[OWN_SQUARE_SLOPE] + (1.0 - weight) * values[POOL_SQUARE_SLOPE]
    spread_slope -= 2.0 * blend * blend_slope
    variance_slope = facts.doubt * spread_slope + (1.0 - 2.0 * mean) * mean_slope * facts.by_size
    information = square(mean_slope) * precision + 0.5 * square(variance_slope * precision)
    return ShareTerms(
        mean, variance, log_density, by_offset, information, by_own, by_own_square, by_pool, by_pool_square,
        by_excess,
    )  # fmt: skip


@part
def share_moments(reports, individual, group, error, moments):
    """Fill mean and variance of each population's share."""
    if reports.capacity[3] == 0:
        return
    slope = np.empty(individual.size)
    excess, _, mean_rows = variance_ratio(reports, individual, error, slope)
    low = np.inf
    high = -np.inf
    for j in range(group.size):
        if reports.is_sample[j]:
            low = lesser(low, group[j])
            high = greater(high, group[j])
    means = tabulate(reports, individual, low, high)
    weights = np.empty((1, means.points.size))
    bounds = (means.low, means.high)
    first = np.int64(0)
    for j in range(group.size):
        if reports.is_sample[j]:
            facts = facts_of(reports.share[j], reports.size[j], reports.effective[j], excess, mean_rows)
            values = interpolate(bounds, means.points, means.factors, means.values, j, group[j], weights, first)
            terms = share_terms(facts, values)
            moments[0, j] = terms.mean
            moments[1, j] = terms.variance


@part
def shift(individual, offset, shifted):
    for row in range(individual.size):
        shifted[row] = individual[row] + offset


@part
def variance_ratio(reports, individual, error, gradient):
    """Fill the gradient in u of r; return r, its gradient in z, and n_0."""
    n_groups = reports.is_sample.size
    chances = np.empty((3, individual.size))
    fill_chances(individual, chances[0], chances[1], chances[2])
    means = np.zeros(n_groups)
    balance = np.zeros(n_groups)
    n_all = 0.0
    effective = 0.0
    squares = 0.0
    grand = 0.0
    inside = 0.0
    n_samples = 0
    for j in range(n_groups):
        if reports.is_sample[j] == 0:
            continue
        for row in range(reports.offsets[j], reports.offsets[j + 1]):
            means[j] += reports.weight[row] * chances[0, row]
        for row in range(reports.offsets[j], reports.offsets[j + 1]):
            balance[j] += reports.jackknife[row] * (chances[0, row] - means[j])
            inside += reports.jackknife[row] * square(chances[0, row] - means[j])
        n_samples += 1
        n_all += reports.sampled[j]
        effective += reports.effective[j]
        squares += square(reports.effective[j])
        grand += reports.sampled[j] * means[j]
    free = n_all - n_samples
    for row in range(individual.size):
        gradient[row] = 0.0
    mean_rows = greater(effective, 1.0)
    if n_samples > 1:
        mean_rows = (effective - squares / effective) / (n_samples - 1)
    if n_samples < 2 or free <= 0.0:
        return 0.5 * SMOOTHNESS, 0.0, mean_rows
    grand /= n_all
    between = 0.0
    for j in range(n_groups):
        if reports.is_sample[j]:
            between += reports.sampled[j] * square(means[j] - grand)
    between /= n_samples - 1
    inside = inside / free + LEAST
    deviation = math.sqrt(2.0 / (n_samples - 1) + 2.0 / free)
    factor = math.exp(greater(lesser(deviation * error, FARTHEST), -FARTHEST))
    ratio = factor * between / inside - 1.0
    root = math.hypot(ratio, SMOOTHNESS)
    by_ratio = 0.5 * (1.0 + ratio / root)
    for j in range(n_groups):
        if reports.is_sample[j] == 0:
            continue
        scale = 2.0 * by_ratio * factor / inside
        of_group = reports.sampled[j] * (means[j] - grand) / (n_samples - 1) + balance[j] / free * (
            between / inside
        )
        for row in range(reports.offsets[j], reports.offsets[j + 1]):
            of_row = reports.jackknife[row] * (chances[0, row] - means[j]) / free * (between / inside)
            gradient[row] = scale * (reports.weight[row] * of_group - of_row) * chances[2, row]
    return 0.5 * (ratio + root), by_ratio * (ratio + 1.0) * deviation, mean_rows
