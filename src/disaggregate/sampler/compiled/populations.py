"""Compiled twin of ``model.populations``.

The mean of p over all rows is a smooth function of a group's offset alone: it is worked out at a few offsets and
interpolated between them.
"""

import math
from typing import NamedTuple

import numpy as np

from disaggregate.model.populations import FARTHEST, LEAST, SHARE_ERROR, SMOOTHNESS
from disaggregate.sampler.compiled.arrays import greater, lesser, square
from disaggregate.sampler.compiled.compile import part
from disaggregate.sampler.compiled.normal import fill_chances

_LOG_TWO_PI = math.log(2.0 * math.pi)

# Points of the interpolation: so many, and so many more per unit of the offsets' range.
_POINTS, _POINTS_PER_UNIT, _MOST_POINTS = 8, 3.0, 48


@part
def add_population_gradient(reports, power, individual, group, error, positive, density, by_row, by_group):
    """Add the gradient in u and o of the populations' shares; return log likelihood and gradient in z."""
    n_rows = individual.size
    n_groups = group.size
    chances = np.empty((3, n_rows))
    slope = np.empty(n_rows)
    excess, by_error, mean_rows = likeness(reports, individual, error, chances, slope)
    points = interpolation_points(reports.is_sample, group)
    pools = np.empty((4, points.size))
    shifted = np.empty(n_rows)
    pool_sums(reports.pooled, individual, points, shifted, chances, pools)
    weights = np.empty(points.size)
    by_points = np.zeros((2, points.size))
    total = 0.0
    by_excess = 0.0
    for j in range(n_groups):
        if reports.is_sample[j] == 0:
            continue
        start = reports.offsets[j]
        stop = reports.offsets[j + 1]
        n = reports.effective[j]
        size = reports.size[j]
        fill_weights(points, group[j], weights)
        pool = 0.0
        pool_square = 0.0
        pool_slope = 0.0
        pool_square_slope = 0.0
        for k in range(points.size):
            pool += weights[k] * pools[0, k]
            pool_square += weights[k] * pools[1, k]
            pool_slope += weights[k] * pools[2, k]
            pool_square_slope += weights[k] * pools[3, k]
        law = share_law(reports, j, excess, mean_rows, positive, pool, pool_square)
        weight = law.weight
        doubt = law.doubt
        variance = law.variance
        sampled = law.sampled
        mean = law.mean
        miss = reports.share[j] - mean
        total += power * (-0.5 * square(miss) / variance - 0.5 * (_LOG_TWO_PI + math.log(variance)))
        by_variance = power * 0.5 * (square(miss) / variance - 1.0) / variance
        by_mean = power * miss / variance + by_variance * (1.0 - 2.0 * mean) / size
        by_blend = by_mean * (1.0 - sampled) - 2.0 * by_variance * doubt * law.blend
        by_square = by_variance * doubt
        by_own = by_mean * sampled + by_blend * weight
        by_pool = by_blend * (1.0 - weight)
        by_pool_square = by_square * (1.0 - weight)
        by_weight = by_blend * (law.own - pool) + by_square * (law.own_square - pool_square)
        by_weight += by_variance * law.spread * square(1.0 - sampled) * n / square(n + weight)
        by_excess += by_weight * n * mean_rows / square(excess * n + mean_rows)
        for row in range(start, stop):
            change = reports.weight[row] * density[row] * (by_own + 2.0 * by_square * weight * positive[row])
            by_row[row] += change
            by_group[j] += change
        by_group[j] += by_pool * pool_slope + by_pool_square * pool_square_slope
        for k in range(points.size):
            by_points[0, k] += weights[k] * by_pool
            by_points[1, k] += weights[k] * by_pool_square
    for k in range(points.size):
        shift(individual, points[k], shifted)
        fill_chances(shifted, chances[0], chances[1], chances[2])
        for row in range(n_rows):
            by_row[row] += (
                reports.pooled[row] * chances[2, row] * (by_points[0, k] + 2.0 * by_points[1, k] * chances[0, row])
            )
    for row in range(n_rows):
        by_row[row] += by_excess * slope[row]
    return total, by_excess * by_error


@part
def share_moments(reports, individual, group, error, positive, moments):
    """Fill mean and variance of each population's share."""
    n_rows = individual.size
    chances = np.empty((3, n_rows))
    slope = np.empty(n_rows)
    excess, _, mean_rows = likeness(reports, individual, error, chances, slope)
    points = interpolation_points(reports.is_sample, group)
    pools = np.empty((4, points.size))
    pool_sums(reports.pooled, individual, points, slope, chances, pools)
    weights = np.empty(points.size)
    for j in range(group.size):
        if reports.is_sample[j] == 0:
            continue
        fill_weights(points, group[j], weights)
        pool = 0.0
        pool_square = 0.0
        for k in range(points.size):
            pool += weights[k] * pools[0, k]
            pool_square += weights[k] * pools[1, k]
        law = share_law(reports, j, excess, mean_rows, positive, pool, pool_square)
        moments[0, j] = law.mean
        moments[1, j] = law.variance


class ShareLaw(NamedTuple):
    """Mean and variance of a population's share, and what they come from."""

    own: float
    own_square: float
    weight: float
    sampled: float
    blend: float
    spread: float
    mean: float
    doubt: float
    variance: float


@part
def share_law(reports, j, excess, mean_rows, positive, pool, pool_square):
    own = 0.0
    own_square = 0.0
    for row in range(reports.offsets[j], reports.offsets[j + 1]):
        own += reports.weight[row] * positive[row]
        own_square += reports.weight[row] * square(positive[row])
    n = reports.effective[j]
    weight = excess * n / (excess * n + mean_rows)
    sampled = lesser(n / reports.size[j], 1.0)
    blend = weight * own + (1.0 - weight) * pool
    spread = weight * own_square + (1.0 - weight) * pool_square - square(blend)
    mean = sampled * own + (1.0 - sampled) * blend
    doubt = square(1.0 - sampled) * weight / (n + weight)
    variance = doubt * greater(spread, 0.0) + mean * (1.0 - mean) / reports.size[j] + square(SHARE_ERROR)
    return ShareLaw(own, own_square, weight, sampled, blend, spread, mean, doubt, variance)


@part
def shift(individual, offset, shifted):
    for row in range(individual.size):
        shifted[row] = individual[row] + offset


@part
def likeness(reports, individual, error, chances, gradient):
    """Fill the gradient in u of r; return r, its gradient in z, and n_0."""
    n_groups = reports.is_sample.size
    fill_chances(individual, chances[0], chances[1], chances[2])
    means = np.zeros(n_groups)
    n_all = 0.0
    n_squares = 0.0
    grand = 0.0
    inside = 0.0
    n_samples = 0
    for j in range(n_groups):
        if reports.is_sample[j] == 0:
            continue
        within = 0.0
        for row in range(reports.offsets[j], reports.offsets[j + 1]):
            means[j] += reports.weight[row] * chances[0, row]
        for row in range(reports.offsets[j], reports.offsets[j + 1]):
            within += reports.weight[row] * square(chances[0, row] - means[j])
        n_samples += 1
        n_all += reports.effective[j]
        n_squares += square(reports.effective[j])
        grand += reports.effective[j] * means[j]
        inside += reports.effective[j] * within
    free = n_all - n_samples
    for row in range(individual.size):
        gradient[row] = 0.0
    if n_samples < 2 or free <= 0.0:
        return 0.5 * SMOOTHNESS, 0.0, greater(n_all / greater(n_samples, 1), 1.0)
    grand /= n_all
    between = 0.0
    for j in range(n_groups):
        if reports.is_sample[j]:
            between += reports.effective[j] * square(means[j] - grand)
    between /= n_samples - 1
    inside = inside / free + LEAST
    mean_rows = (n_all - n_squares / n_all) / (n_samples - 1)
    deviation = math.sqrt(2.0 / (n_samples - 1) + 2.0 / free)
    factor = math.exp(greater(lesser(deviation * error, FARTHEST), -FARTHEST))
    ratio = factor * between / inside - 1.0
    root = math.hypot(ratio, SMOOTHNESS)
    by_ratio = 0.5 * (1.0 + ratio / root)
    for j in range(n_groups):
        if reports.is_sample[j] == 0:
            continue
        scale = 2.0 * by_ratio * factor * reports.effective[j] / inside
        of_group = (means[j] - grand) / (n_samples - 1)
        for row in range(reports.offsets[j], reports.offsets[j + 1]):
            of_row = (chances[0, row] - means[j]) / free * (between / inside)
            gradient[row] = scale * reports.weight[row] * (of_group - of_row) * chances[2, row]
    return 0.5 * (ratio + root), by_ratio * (ratio + 1.0) * deviation, mean_rows


@part
def interpolation_points(is_sample, group):
    """Return the offsets at which to work the pooled means out: all of them if few, else Chebyshev's points."""
    low = np.inf
    high = -np.inf
    n = 0
    for j in range(group.size):
        if is_sample[j]:
            low = lesser(low, group[j])
            high = greater(high, group[j])
            n += 1
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low)
    if not half > 1e-6:
        return np.full(1, middle)
    n_points = int(lesser(_POINTS + _POINTS_PER_UNIT * half, _MOST_POINTS))
    points = np.empty(n_points)
    for k in range(n_points):
        points[k] = middle - half * math.cos(math.pi * (k + 0.5) / n_points)
    return points


@part
def pool_sums(pooled, individual, points, shifted, chances, pools):
    """Fill the pooled means of p and p^2, and of their slopes, at each point."""
    for k in range(points.size):
        shift(individual, points[k], shifted)
        fill_chances(shifted, chances[0], chances[1], chances[2])
        first = 0.0
        second = 0.0
        slope = 0.0
        square_slope = 0.0
        for row in range(individual.size):
            p = chances[0, row]
            part_of_slope = pooled[row] * chances[2, row]
            first += pooled[row] * p
            second += pooled[row] * p * p
            slope += part_of_slope
            square_slope += 2.0 * part_of_slope * p
        pools[0, k] = first
        pools[1, k] = second
        pools[2, k] = slope
        pools[3, k] = square_slope


@part
def fill_weights(points, offset, weights):
    """Fill the weights that interpolate between Chebyshev's points (barycentric)."""
    n = points.size
    if n == 1:
        weights[0] = 1.0
        return
    total = 0.0
    for k in range(n):
        distance = offset - points[k]
        if distance == 0.0:
            for other in range(n):
                weights[other] = 0.0
            weights[k] = 1.0
            return
        weights[k] = math.sin(math.pi * (k + 0.5) / n) / distance
        if k % 2:
            weights[k] = -weights[k]
        total += weights[k]
    for k in range(n):
        weights[k] /= total
