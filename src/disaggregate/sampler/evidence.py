"""The groups' evidence as arrays, and a ladder of weaker versions of it, down to none."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from disaggregate.groups.grouped import GroupedData
from disaggregate.model.powers import at_powers, log_maxima, nearest_allowed

# Groups up to this size are treated in one piece, larger ones in parts.
WHOLE_GROUP = 200
PART_SIZE = 64


class EvidenceArrays(NamedTuple):
    """What the groups report, end to end.

    Attributes
    ----------
    offsets : ndarray of shape (n_groups + 1,)
        Where each group starts.
    units : ndarray of int, shape (n_rows,)
        How much each individual counts: 1, or its survey weight in whole units.
    starts : ndarray of shape (n_groups + 1,)
        Where each group's counts start.
    piece : ndarray of int, shape (2,)
        Members and units of the largest piece that is treated at once.
    log_likelihood, likelihood : ndarray of shape (n_counts,)
        Evidence of each group over its counts, scaled to a largest likelihood of 1.
    fewest, most : ndarray of shape (n_groups,)
        The least and the greatest count that each group's evidence allows.
    """

    offsets: np.ndarray
    units: np.ndarray
    starts: np.ndarray
    piece: np.ndarray
    log_likelihood: np.ndarray
    likelihood: np.ndarray
    fewest: np.ndarray
    most: np.ndarray


class EvidenceLadder(EvidenceArrays):
    """The same at several powers: the last four arrays have one row per rung."""


def make_evidence(data: GroupedData) -> EvidenceArrays:
    """Gather what the sweeps need to know of the reports; :func:`log_maxima` says what the scaling took away."""
    possible = [np.flatnonzero(np.isfinite(part)) for part in _by_group(data.starts, data.log_likelihood)]
    log_likelihood = data.log_likelihood - np.repeat(log_maxima(data), data.totals + 1)
    return EvidenceArrays(
        offsets=data.offsets,
        units=data.units,
        starts=data.starts,
        piece=_largest_piece(data),
        log_likelihood=log_likelihood,
        likelihood=np.exp(log_likelihood),
        fewest=np.array([counts[0] for counts in possible]),
        most=np.array([counts[-1] for counts in possible]),
    )


def _largest_piece(data: GroupedData) -> np.ndarray:
    is_whole = data.sizes <= WHOLE_GROUP
    heaviest = np.maximum.reduceat(data.units, data.offsets[:-1])
    members = np.minimum(data.sizes, WHOLE_GROUP).max()
    return np.array([members, np.where(is_whole, data.totals, PART_SIZE * heaviest).max()])


def group_rows_of(evidence: EvidenceArrays, group: int) -> slice:
    """Rows of a group."""
    return slice(int(evidence.offsets[group]), int(evidence.offsets[group + 1]))


def group_evidence(evidence: EvidenceArrays, group: int) -> np.ndarray:
    """Log likelihood of each count of the group."""
    return evidence.log_likelihood[evidence.starts[group] : evidence.starts[group + 1]]


def rung_of(ladder: EvidenceLadder, rung: int) -> EvidenceArrays:
    """Evidence at one rung."""
    return EvidenceArrays(*ladder[:4], *(values[rung] for values in ladder[4:]))


def make_ladder(evidence: EvidenceArrays, powers: np.ndarray) -> EvidenceLadder:
    """Raise the evidence to several powers; see :mod:`disaggregate.model.powers`.

    Parameters
    ----------
    evidence : EvidenceArrays
        The evidence itself.
    powers : ndarray of shape (n_rungs,)
        From 1, the evidence itself, down to 0, no evidence.
    """
    if np.array_equal(powers, [1.0]):  # the evidence itself
        return EvidenceLadder(*evidence[:4], *(values[None] for values in evidence[4:]))
    nearest, distance = _nearest_allowed(evidence)
    log_likelihood = at_powers(evidence.log_likelihood, powers, nearest, distance)
    is_whole = (powers == 1.0)[:, None]
    return EvidenceLadder(
        *evidence[:4],
        log_likelihood=log_likelihood,
        likelihood=np.exp(log_likelihood),
        fewest=np.where(is_whole, evidence.fewest, 0),
        most=np.where(is_whole, evidence.most, np.diff(evidence.starts) - 1),
    )


def _by_group(starts: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    return [values[start:stop] for start, stop in pairwise(starts)]


def _nearest_allowed(evidence: EvidenceArrays) -> tuple[np.ndarray, np.ndarray]:
    """For each count, where the nearest count is that its group's evidence allows, and how many members away."""
    n_counts = np.diff(evidence.starts)
    counts = np.arange(evidence.starts[-1]) - np.repeat(evidence.starts[:-1], n_counts)
    nearest, distance = nearest_allowed(evidence.starts, counts, evidence.log_likelihood)
    members_per_unit = np.diff(evidence.offsets) / (n_counts - 1)
    return nearest, distance * np.repeat(members_per_unit, n_counts)
