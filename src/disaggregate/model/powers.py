"""Evidence raised to a power: the rungs of a ladder, from the evidence itself down to none.

Counts that the evidence allows have their likelihood raised to the power. Counts that it excludes are let in
again, the more easily the lower the power and the nearer they are to an allowed one, because a power of an exact
tally would be the same tally.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from disaggregate.groups.grouped import GroupedData

# How fast counts that the evidence excludes come back as its power falls.
_SOFTNESS = 2.0


def log_maxima(data: GroupedData) -> np.ndarray:
    """Find the log likelihood of each group's report at its most likely count, by which evidence is scaled."""
    return np.maximum.reduceat(data.log_likelihood, data.starts[:-1])


def nearest_allowed(
    starts: np.ndarray, counts: np.ndarray, log_likelihood: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find, for each listed count, the nearest one that its group's evidence allows, and how far off it is.

    Parameters
    ----------
    starts : ndarray of shape (n_groups + 1,)
        Where each group's counts start.
    counts, log_likelihood : ndarray of shape (n_counts,)
        The listed counts, and the evidence over them.

    Returns
    -------
    nearest : ndarray of int, shape (n_counts,)
        Index of that count.
    distance : ndarray of shape (n_counts,)
        The difference of the two counts.
    """
    nearest, distance = [], []
    for start, stop in pairwise(starts):
        own = counts[start:stop]
        allowed = np.flatnonzero(np.isfinite(log_likelihood[start:stop]))
        after = np.clip(np.searchsorted(own[allowed], own), 0, len(allowed) - 1)
        before = np.maximum(after - 1, 0)
        is_before = np.abs(own[allowed[before]] - own) < np.abs(own[allowed[after]] - own)
        chosen = np.where(is_before, allowed[before], allowed[after])
        nearest.append(start + chosen)
        distance.append(np.abs(own[chosen] - own))
    return np.concatenate(nearest), np.concatenate(distance)


def at_powers(
    log_likelihood: np.ndarray, powers: np.ndarray, nearest: np.ndarray, distance: np.ndarray
) -> np.ndarray:
    """Raise the evidence to several powers.

    Parameters
    ----------
    log_likelihood : ndarray of shape (n_counts,)
        The evidence itself.
    powers : ndarray of shape (n_rungs,)
        From 1, the evidence itself, down to 0, no evidence.
    nearest : ndarray of int, shape (n_counts,)
        As of :func:`nearest_allowed`.
    distance : ndarray of shape (n_counts,)
        The same in people.

    Returns
    -------
    ndarray of shape (n_rungs, n_counts)
    """
    result = np.empty((len(powers), len(log_likelihood)))
    for row, power in zip(result, powers, strict=True):
        penalty = _SOFTNESS * power / (1.0 - power) if power < 1.0 else np.inf
        row[:] = power * log_likelihood[nearest]
        row[distance > 0] -= penalty * distance[distance > 0]
    return result
