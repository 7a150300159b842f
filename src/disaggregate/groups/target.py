"""The structured target: one record per row that carries the group and its report through scikit-learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from disaggregate.groups.forms import index_labels
from disaggregate.groups.reports import reports_by_group, row_groups
from disaggregate.groups.shares import evidence_of


@dataclass(frozen=True)
class GroupRecord:
    """A row of a group target: its group, the report, and the number of members.

    Attributes
    ----------
    group : hashable
        Id of the group.
    report : float or Evidence
        What the group reports.
    confidence : float or None
        Confidence in a plain share; None leaves it to the estimator.
    group_size : int
        Number of members, so that a split that cuts the group in two is detected.
    """

    group: Hashable
    report: Any
    confidence: float | None
    group_size: int


class GroupTarget(np.ndarray):
    """An array of :class:`GroupRecord`; ``target["group"]`` is one field of all of them.

    An array of objects, because scikit-learn would take anything that can be sorted for class labels.
    """

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return np.fromiter((getattr(record, key) for record in self), dtype=object, count=len(self))
        return super().__getitem__(key)


def group_target(groups: Any, shares: Any, confidence: float | Mapping | None = None) -> GroupTarget:
    """Build a target ``y`` for pipelines, grid search and cross-validation.

    Each record has the size of its group, so that a split that divides a group is detected.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Group id of each row; any hashable values.
    shares : mapping, Series or array-like
        Share of positives, or evidence, of each group: by group id, or one value per row.
    confidence : float, mapping, Series or None, default=None
        Confidence in the shares, one for all or one per group. None leaves it to the estimator, and so does a
        group without an entry.

    Returns
    -------
    array of shape (n_rows,)
        With fields ``group``, ``report``, ``confidence`` (None: the estimator's) and ``group_size``.

    Examples
    --------
    >>> import disaggregate as dg
    >>> y = dg.group_target(["north", "north", "south"], {"north": 0.5, "south": 0.25})
    >>> y["group"]
    array(['north', 'north', 'south'], dtype=object)
    """
    ids = row_groups(groups)
    reports = reports_by_group(shares, ids, index_labels(groups))
    chosen = _confidence_by_group(confidence, list(reports))
    sizes = Counter(ids)
    records = {}
    for group, report in reports.items():
        chi = chosen[group]
        evidence_of(group, report, 0.0 if chi is None else chi)  # a wrong report should fail here, not in a fold
        records[group] = GroupRecord(group, report, chi, sizes[group])
    target = np.empty(len(ids), dtype=object).view(GroupTarget)
    target[:] = [records[group] for group in ids]
    return target


def is_group_target(y: Any) -> bool:
    """Return whether ``y`` was made by :func:`group_target`."""
    return isinstance(y, np.ndarray) and y.dtype == object and y.size > 0 and isinstance(y.flat[0], GroupRecord)


def _confidence_by_group(confidence: Any, groups: list) -> dict:
    if not hasattr(confidence, "items"):
        return dict.fromkeys(groups, confidence)
    given = dict(confidence.items())
    unknown = [group for group in given if group not in set(groups)]
    if unknown:
        raise ValueError(f"confidence is given for group {unknown[0]!r}, which is in no row of groups.")
    return {group: given.get(group) for group in groups}
