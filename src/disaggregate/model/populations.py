"""The share of a population of which a group's rows are a sample.

The composition of group j is unknown: its rows show it with the noise of a sample, and all rows together show what
groups are like. With p at group j's own offset, n_j sampled people and a population of S_j,

    pi_j    = lambda_j mean of p over the group's rows + (1 - lambda_j) mean of p over all rows
    V_j     = lambda_j / (n_j + lambda_j) (mixture's mean of p^2 - pi_j^2) + pi_j (1 - pi_j) / S_j
    share_j ~ Normal(pi_j, V_j)

This is a Dirichlet process around the pooled composition, with lambda_j = n_j / (n_j + alpha). How alike groups
are is judged along the present scores: with F the ratio of the variance of group means of Phi(u) to what sampling
alone would give them (one-way analysis of variance; under survey weights, by the jackknife),
lambda_j = r n_j / (r n_j + n_0), where r is the positive part of F exp(s z) - 1 and n_0 the average of the n_j,
which are Kish's effective numbers under weights. F itself has the error of a sample, about s on the scale of its
logarithm; z ~ N(0, 1) stands for it, and is drawn with everything else. People who were sampled are themselves
part of the population: a sample of all of it leaves no doubt about its composition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from disaggregate.model.link import probability, probability_slope
from disaggregate.model.reports import Reports

# A share is known to about so much, as a standard deviation, even of an endless population.
SHARE_ERROR = 5e-4

# Least variance of p within groups, so that nothing is divided by zero.
LEAST = 1e-100

# Bound of the logarithm of what z does to the ratio of variances.
FARTHEST = 30.0

# How smoothly the positive part of F - 1 is taken.
SMOOTHNESS = 0.1


@dataclass(frozen=True)
class VarianceRatio:
    """How far groups differ in composition along the scores: r above, its gradient in u and z, and n_0."""

    excess: float
    gradient: np.ndarray
    by_error: float
    mean_rows: float


@dataclass(frozen=True)
class ShareLaw:
    """Mean and variance of each population's share, shape (n_groups,)."""

    mean: np.ndarray
    variance: np.ndarray


class ShareGradient(NamedTuple):
    """Log density of what one group reports; its gradient in own and in all rows, the offset, r and rho."""

    log_density: float
    own: np.ndarray
    pooled: np.ndarray
    offset: float
    excess: float
    correlation: float = 0.0


def share_law(reports: Reports, individual: np.ndarray, group: np.ndarray, error: float) -> ShareLaw:
    """Mean and variance of each population's share given the scores; NaN where there is no population."""
    ratio = variance_ratio(reports, individual, error)
    mean, variance = np.full((2, len(group)), np.nan)
    for j in np.flatnonzero(reports.is_sample).tolist():
        rows = slice(int(reports.offsets[j]), int(reports.offsets[j + 1]))
        parts = _mixture(reports, j, rows, individual, group[j], own_weight(reports, j, ratio))
        mean[j], variance[j] = parts.mean, parts.variance
    return ShareLaw(mean, variance)


def variance_ratio(reports: Reports, individual: np.ndarray, error: float) -> VarianceRatio:
    """Judge along the present scores how far groups differ in composition."""
    weight, n, jackknife = reports.weight, reports.sampled, reports.jackknife
    is_sample = reports.is_sample > 0
    sizes = np.diff(reports.offsets)
    p = probability(individual)
    means = np.add.reduceat(weight * p, reports.offsets[:-1])
    distance = p - np.repeat(means, sizes)
    within = np.add.reduceat(jackknife * distance**2, reports.offsets[:-1])
    n_all, n_groups = float(n[is_sample].sum()), int(is_sample.sum())
    free, average = n_all - n_groups, mean_rows(reports.effective[is_sample])
    if n_groups < 2 or free <= 0.0:
        return VarianceRatio(0.5 * SMOOTHNESS, np.zeros_like(individual), 0.0, average)
    grand = float(n[is_sample] @ means[is_sample]) / n_all
    of_group = np.where(is_sample, means - grand, 0.0)
    between = float(n @ of_group**2) / (n_groups - 1)
    inside = float(within[is_sample].sum()) / free + LEAST
    spread = np.sqrt(2.0 / (n_groups - 1) + 2.0 / free)  # of log F
    factor = np.exp(np.clip(spread * error, -FARTHEST, FARTHEST))
    ratio = factor * between / inside - 1.0
    root = np.hypot(ratio, SMOOTHNESS)
    by_ratio = 0.5 * (1.0 + ratio / root)
    balance = np.add.reduceat(jackknife * distance, reports.offsets[:-1])  # 0 where weights are equal
    by_p = 2.0 * weight * np.repeat(n * of_group, sizes) / (n_groups - 1) / inside
    by_p -= 2.0 * (jackknife * distance - weight * np.repeat(balance, sizes)) / free * (between / inside) / inside
    gradient = by_ratio * factor * by_p * probability_slope(individual)
    return VarianceRatio(0.5 * (ratio + root), gradient, by_ratio * (ratio + 1.0) * spread, average)


def mean_rows(effective: np.ndarray) -> float:
    """Average of the effective numbers, less as they differ: n_0 of the analysis of variance."""
    total = float(effective.sum())
    if len(effective) < 2:
        return max(total, 1.0)
    return (total - float(effective @ effective) / total) / (len(effective) - 1)


@dataclass(frozen=True)
class _Mixture:
    own: float
    own_square: float
    pool: float
    pool_square: float
    blend: float
    mean: float
    variance: float
    sampled: float
    doubt: float


def own_weight(reports: Reports, j: int, ratio: VarianceRatio) -> float:
    """Return how much of a group's composition its own rows decide; all rows together decide the rest."""
    known = ratio.excess * reports.effective[j]
    return known / (known + ratio.mean_rows)


def _mixture(
    reports: Reports, j: int, rows: slice, individual: np.ndarray, offset: float, own_weight: float
) -> _Mixture:
    p, w = probability(individual[rows] + offset), reports.weight[rows]
    pooled = probability(individual + offset)
    own, own_square = float(w @ p), float(w @ p**2)
    pool, pool_square = float(reports.pooled @ pooled), float(reports.pooled @ pooled**2)
    n = reports.effective[j]
    sampled = min(n / reports.size[j], 1.0)
    blend = own_weight * own + (1.0 - own_weight) * pool
    square = own_weight * own_square + (1.0 - own_weight) * pool_square
    mean = sampled * own + (1.0 - sampled) * blend
    doubt = (1.0 - sampled) ** 2 * own_weight / (n + own_weight)
    variance = doubt * max(square - blend**2, 0.0) + mean * (1.0 - mean) / reports.size[j] + SHARE_ERROR**2
    return _Mixture(own, own_square, pool, pool_square, blend, mean, variance, sampled, doubt)


def share_gradient(
    reports: Reports, j: int, individual: np.ndarray, offset: float, ratio: VarianceRatio
) -> ShareGradient:
    """Log density of the share of one population at an offset of its group, and its gradient.

    Parameters
    ----------
    reports : Reports
        Groups.
    j : int
        One that is a sample.
    individual : ndarray of shape (n_rows,)
        Individual component u of the scores.
    offset : float
        Offset of the group: its context and its own intercept.
    ratio : VarianceRatio
        How far groups differ along the present scores.
    """
    rows = slice(int(reports.offsets[j]), int(reports.offsets[j + 1]))
    n, size = reports.effective[j], reports.size[j]
    weight = own_weight(reports, j, ratio)
    found = _mixture(reports, j, rows, individual, offset, weight)
    error = reports.share[j] - found.mean
    value = -0.5 * error**2 / found.variance - 0.5 * np.log(2.0 * np.pi * found.variance)
    by_variance = 0.5 * (error**2 / found.variance - 1.0) / found.variance
    by_mean = error / found.variance + by_variance * (1.0 - 2.0 * found.mean) / size
    by_blend = by_mean * (1.0 - found.sampled) - 2.0 * by_variance * found.doubt * found.blend
    by_square = by_variance * found.doubt
    by_own = by_mean * found.sampled + by_blend * weight
    by_pool = by_blend * (1.0 - weight)
    spread = weight * found.own_square + (1.0 - weight) * found.pool_square - found.blend**2
    by_weight = by_blend * (found.own - found.pool) + by_square * (found.own_square - found.pool_square)
    by_weight += by_variance * spread * (1.0 - found.sampled) ** 2 * n / (n + weight) ** 2
    by_excess = by_weight * n * ratio.mean_rows / (ratio.excess * n + ratio.mean_rows) ** 2
    p, slope = probability(individual[rows] + offset), probability_slope(individual[rows] + offset)
    own = reports.weight[rows] * slope * (by_own + 2.0 * by_square * weight * p)
    q, pooled_slope = probability(individual + offset), probability_slope(individual + offset)
    pooled = reports.pooled * pooled_slope * (by_pool + 2.0 * by_square * (1.0 - weight) * q)
    return ShareGradient(float(value), own, pooled, float(own.sum() + pooled.sum()), float(by_excess))
