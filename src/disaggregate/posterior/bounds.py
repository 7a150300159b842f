"""Deterministic bounds (Duncan & Davis, 1953).

A group of weight W reports that a share s of it is positive. Of a subgroup with weight w in it, at least
s W - (W - w) is positive, what is left when all others are, and at most s W. Added up over groups these are bounds
on the rate of the subgroup among exactly these people, whatever is assumed about them. They are narrow where
groups are nearly all of one kind.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from disaggregate.groups.grouped import GroupedData
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.tables.suppression import hidden, members_of_groups

FloatArray = NDArray[np.float64]

LOW, HIGH = "bound_low", "bound_high"


class ReportedShares(NamedTuple):
    """What the groups of some rows report.

    Attributes
    ----------
    group : ndarray of int, shape (n_rows,)
        Group of each row.
    shares : ndarray of shape (n_groups, 2)
        Least and greatest share of positives in each group.
    """

    group: NDArray[np.intp]
    shares: FloatArray


def reported_shares(
    data: GroupedData, ids: Sequence[Hashable], counts: ArrayLike | None = None, min_group_size: int = 1
) -> ReportedShares | None:
    """Find what the reports of the fit say of the groups of some rows; None where they bound nothing.

    A report bounds its group only where the rows are all of its people. Reports that must not be published
    bound nothing either: they would follow from the bounds of several subgroups.

    Parameters
    ----------
    data : GroupedData
        Groups and evidence of the fit.
    ids : sequence of hashable
        Group of each row, None where it is missing.
    counts : array-like of int, shape (n_rows,), optional
        People per row.
    min_group_size : int, default=1
        As for :func:`disaggregate.tables.suppression.hidden`.
    """
    if isinstance(data, GroupedOutcomes):
        return None
    number_of = {name: number for number, name in enumerate(data.names)}
    group = np.array([number_of.get(name, len(number_of)) for name in ids], dtype=np.intp)
    there = np.bincount(group, weights=counts, minlength=len(number_of) + 1)[:-1]
    shares = np.tile([0.0, 1.0], (len(number_of) + 1, 1))
    is_shown = ~hidden(members_of_groups(data), min_group_size)
    for number in np.flatnonzero((there == data.people) & is_shown):
        if data.populations[number] is None:
            shares[number] = data.evidence[number].share_bounds(int(data.people[number]))
    return ReportedShares(group, shares) if (shares != [0.0, 1.0]).any() else None


def subgroup_bounds(subgroup: NDArray[np.intp], reported: ReportedShares, weight: FloatArray) -> FloatArray:
    """Bounds on the rate of each subgroup, shape (n_subgroups, 2).

    Parameters
    ----------
    subgroup : ndarray of int, shape (n_rows,)
        Subgroup of each row.
    reported : ReportedShares
        Group of each row, and what it reports.
    weight : ndarray of shape (n_rows,)
        How much each row counts.

    Returns
    -------
    ndarray
        NaN for subgroups without weight.
    """
    group, shares = reported
    n_subgroups = int(subgroup.max(initial=-1)) + 1
    cells, cell = np.unique(np.stack([group, subgroup]), axis=1, return_inverse=True)
    inside = np.bincount(cell.ravel(), weights=weight, minlength=cells.shape[1])
    whole = np.bincount(group, weights=weight, minlength=len(shares))[cells[0]]
    low = np.clip(shares[cells[0], 0] * whole - (whole - inside), 0.0, inside)
    high = np.clip(shares[cells[0], 1] * whole, 0.0, inside)
    total, low, high = (np.bincount(cells[1], weights=part, minlength=n_subgroups) for part in (inside, low, high))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack([low / total, high / total], axis=1)
