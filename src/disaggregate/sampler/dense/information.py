"""The information of the reports on the scores: the expected curvature of their log likelihood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.model.cells import inflation
from disaggregate.model.link import probability, probability_slope
from disaggregate.model.populations import SHARE_ERROR, VarianceRatio, variance_ratio
from disaggregate.model.reports import NORMAL, Reports
from disaggregate.sampler.dense.kernels import kernels_for
from disaggregate.sampler.dense.metric import Information

# Slopes of populations' shares in memory at once.
VALUES_AT_ONCE = 2**22


def information_of(
    reports: Reports,
    rung: int,
    columns: np.ndarray,
    individual: np.ndarray,
    group: np.ndarray,
    deviation: float,
    error: float,
) -> Information:
    """Find the expected curvature at one position.

    Every report is about one sum over the rows, with a slope per row and a weight: its information is the weight
    times the square of the sum of slopes times changes in scores. Intercepts are integrated out of it as if
    everything were normal around the most probable ones.

    Parameters
    ----------
    reports : Reports
        What the groups report.
    rung : int
        At which power of the evidence.
    columns : ndarray of shape (n_columns, n_rows)
        Columns of the individual component.
    individual : ndarray of shape (n_rows,)
        u.
    group : ndarray of shape (n_groups,)
        Centres of the groups' offsets.
    deviation : float
        Of the offsets around them; 0 without intercepts.
    error : float
        z.
    """
    n_errors = int(reports.is_sample.any())
    n_rows = len(individual)
    slope, worth = np.empty(n_rows), np.empty(n_rows)
    starts, owner = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    centers = np.empty(len(group))
    n = kernels_for(reports, deviation).information_pieces(
        reports, rung, individual, group, deviation, error, centers, slope, starts, worth, owner
    )
    size = len(columns) + n_errors
    total = Information(np.zeros((size, size)), np.zeros((size, len(group))), np.zeros(len(group)), 0.0)
    if n:
        sloped = columns * slope
        pieces = sloped if n == n_rows else np.add.reduceat(sloped, starts[:n], axis=1)
        sums = slope if n == n_rows else np.add.reduceat(slope, starts[:n])
        pieces = np.vstack([pieces, np.zeros((n_errors, n))])
        _add_pieces(total, pieces, sums, worth[:n], owner[:n])
    if n_errors and reports.powers[rung] > 0.0:
        _add_populations(total, reports, float(reports.powers[rung]), columns, individual, centers, error)
    found = _integrated_out(total, deviation**2)
    if reports.correlation[0] == 0.0:
        return found
    return found._replace(cell=_of_cells(reports, individual, centers, deviation**2))


def _of_cells(reports: Reports, individual: np.ndarray, group: np.ndarray, variance: float) -> float:
    """Information on the log scale of cells: on the variance of normal counts, whose mean the intercepts blur."""
    scores = individual + np.repeat(group, np.diff(reports.offsets))
    correlation = float(reports.correlation[0])
    people, units = reports.counts, reports.units
    spread = people * units**2 * probability(scores) * probability(-scores)
    parts = (
        spread * inflation(people, correlation),
        spread * (people - 1.0) * correlation * (1.0 - correlation),
        people * units * probability_slope(scores),
    )
    own, change, slope = (np.add.reduceat(part, reports.offsets[:-1]) for part in parts)
    is_told = (reports.law == NORMAL) & (reports.is_sample == 0)
    ratio = change[is_told] / (own + variance * slope**2)[is_told]
    return 0.5 * float(np.sum(ratio**2))


def _integrated_out(given: Information, variance: float) -> Information:
    """Integrate intercepts of this variance out of the information given them."""
    if variance == 0.0:
        return given
    known = variance * given.group
    return Information(
        given.columns - (given.cross * (variance / (1.0 + known))) @ given.cross.T,
        given.cross / (1.0 + known),
        given.group / (1.0 + known),
        0.5 * float(np.sum((known / (1.0 + known)) ** 2)),
    )


def _add_pieces(
    total: Information, pieces: np.ndarray, sums: np.ndarray, worth: np.ndarray, owner: np.ndarray
) -> None:
    weighed = pieces * worth
    total.columns[:] += weighed @ pieces.T
    total.group[:] += np.bincount(owner, weights=worth * sums**2, minlength=len(total.group))
    if len(owner) == len(np.unique(owner)):
        total.cross[:, owner] += weighed * sums
    else:
        np.add.at(total.cross.T, owner, (weighed * sums).T)


def _add_populations(
    total: Information,
    reports: Reports,
    power: float,
    columns: np.ndarray,
    individual: np.ndarray,
    group: np.ndarray,
    error: float,
) -> None:
    """Add the information of the shares of populations, by their means and variances, as of normal variables."""
    ratio = variance_ratio(reports, individual, error)
    chosen = np.flatnonzero(reports.is_sample)
    step = max(1, VALUES_AT_ONCE // len(individual))
    for first in range(0, len(chosen), step):
        own = chosen[first : first + step]
        slopes = _share_slopes(reports, own, individual, group[own], ratio)
        for by_row, by_excess, worth in (
            (slopes.mean, slopes.mean_by_excess, power / slopes.variance_value),
            (slopes.variance, slopes.variance_by_excess, 0.5 * power / slopes.variance_value**2),
        ):
            through = by_row + by_excess[:, None] * ratio.gradient
            pieces = np.vstack([columns @ through.T, by_excess * ratio.by_error])
            _add_pieces(total, pieces, by_row.sum(axis=1), worth, own)


class _Slopes(NamedTuple):
    """Derivatives of the mean and the variance of each share in every row's score, and in r; and the variance."""

    mean: np.ndarray
    mean_by_excess: np.ndarray
    variance: np.ndarray
    variance_by_excess: np.ndarray
    variance_value: np.ndarray


def _share_slopes(
    reports: Reports, chosen: np.ndarray, individual: np.ndarray, offset: np.ndarray, ratio: VarianceRatio
) -> _Slopes:
    n, size = reports.effective[chosen], reports.size[chosen]
    known = ratio.excess * n
    weight, sampled = known / (known + ratio.mean_rows), np.minimum(n / size, 1.0)
    scores = individual + offset[:, None]
    p, slope = probability(scores), probability_slope(scores)
    own = np.zeros_like(p)
    for index, j in enumerate(chosen):
        rows = slice(int(reports.offsets[j]), int(reports.offsets[j + 1]))
        own[index, rows] = reports.weight[rows]
    own_mean, own_square = np.sum(own * p, axis=1), np.sum(own * p**2, axis=1)
    pool_mean, pool_square = p @ reports.pooled, p**2 @ reports.pooled
    blend = weight * own_mean + (1.0 - weight) * pool_mean
    spread = np.maximum(weight * own_square + (1.0 - weight) * pool_square - blend**2, 0.0)
    mean = sampled * own_mean + (1.0 - sampled) * blend
    doubt = (1.0 - sampled) ** 2 * weight / (n + weight)
    mixed = own * weight[:, None] + reports.pooled * (1.0 - weight)[:, None]
    by_mean = slope * (own * sampled[:, None] + mixed * (1.0 - sampled)[:, None])
    of_labels = (1.0 - 2.0 * mean) / size
    by_variance = 2.0 * doubt[:, None] * slope * mixed * (p - blend[:, None]) + of_labels[:, None] * by_mean
    weight_by_excess = n * ratio.mean_rows / (known + ratio.mean_rows) ** 2
    blend_by_weight = own_mean - pool_mean
    mean_by_excess = (1.0 - sampled) * blend_by_weight * weight_by_excess
    spread_by_weight = own_square - pool_square - 2.0 * blend * blend_by_weight
    doubt_by_weight = (1.0 - sampled) ** 2 * n / (n + weight) ** 2
    variance_by_weight = doubt * spread_by_weight + doubt_by_weight * spread
    return _Slopes(
        by_mean,
        mean_by_excess,
        by_variance,
        variance_by_weight * weight_by_excess + of_labels * mean_by_excess,
        doubt * spread + mean * (1.0 - mean) / size + SHARE_ERROR**2,
    )
