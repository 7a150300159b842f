"""What the reports tell of the scores: the expected curvature of their log likelihood."""

from __future__ import annotations

import numpy as np

from disaggregate.model.link import probability, probability_slope
from disaggregate.model.populations import likeness_of_groups, share_law
from disaggregate.model.reports import Reports
from disaggregate.sampler.dense.metric import Information

# Slopes of populations' shares that are held at once.
_VALUES_AT_ONCE = 2**22


def information_of(
    reports: Reports, rung: int, columns: np.ndarray, individual: np.ndarray, group: np.ndarray, error: float
) -> Information:
    """Find the expected curvature at one position.

    Every report tells of one sum over the rows, with a slope for each row, and is worth so much: its information
    is worth times the square of the sum of slopes times the change in scores.

    Parameters
    ----------
    reports : Reports
        What the groups report.
    rung : int
        At which power of the evidence.
    columns : ndarray of shape (n_columns, n_rows)
        Columns of the individual part.
    individual : ndarray of shape (n_rows,)
        u.
    group : ndarray of shape (n_groups,)
        o.
    error : float
        z.
    """
    from disaggregate.sampler.compiled.dense import information_pieces

    n_errors = int(reports.is_sample.any())
    n_rows = len(individual)
    slope, worth = np.empty(n_rows), np.empty(n_rows)
    starts, owner = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    n = information_pieces(reports, rung, individual, group, slope, starts, worth, owner)
    size = len(columns) + n_errors
    total = Information(np.zeros((size, size)), np.zeros((size, len(group))), np.zeros(len(group)))
    if n:
        sloped = columns * slope
        pieces = sloped if n == n_rows else np.add.reduceat(sloped, starts[:n], axis=1)
        sums = slope if n == n_rows else np.add.reduceat(slope, starts[:n])
        pieces = np.vstack([pieces, np.zeros((n_errors, n))])
        _add_pieces(total, pieces, sums, worth[:n], owner[:n])
    if n_errors and reports.powers[rung] > 0.0:
        _add_populations(total, reports, float(reports.powers[rung]), columns, individual, group, error)
    return total


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
    likeness = likeness_of_groups(reports, individual, error)
    law = share_law(reports, individual, group, error)
    chosen = np.flatnonzero(reports.is_sample)
    step = max(1, _VALUES_AT_ONCE // len(individual))
    for first in range(0, len(chosen), step):
        own = chosen[first : first + step]
        slopes, by_error = _share_slopes(reports, own, individual, group, likeness.excess, likeness.mean_rows)
        pieces = np.vstack([columns @ slopes.T, by_error * likeness.by_error])
        _add_pieces(total, pieces, slopes.sum(axis=1), power / law.variance[own], own)


def _share_slopes(
    reports: Reports,
    chosen: np.ndarray,
    individual: np.ndarray,
    group: np.ndarray,
    excess: float,
    mean_rows: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Differentiate each share's mean in every row's score, and in r."""
    n = reports.effective[chosen]
    known = excess * n
    weight, sampled = known / (known + mean_rows), np.minimum(n / reports.size[chosen], 1.0)
    of_pool, of_own = (1.0 - sampled) * (1.0 - weight), sampled + (1.0 - sampled) * weight
    scores = individual + group[chosen, None]
    slopes = probability_slope(scores) * reports.pooled * of_pool[:, None]
    by_excess = np.empty(len(chosen))
    for index, j in enumerate(chosen):
        rows = slice(int(reports.offsets[j]), int(reports.offsets[j + 1]))
        slopes[index, rows] += of_own[index] * reports.weight[rows] * probability_slope(scores[index, rows])
        gap = reports.weight[rows] @ probability(scores[index, rows]) - reports.pooled @ probability(scores[index])
        by_excess[index] = (1.0 - sampled[index]) * gap * n[index] * mean_rows / (known[index] + mean_rows) ** 2
    return slopes, by_excess
