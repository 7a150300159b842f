"""The structured target: one record a row that carries the group and its report through scikit-learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from disaggregate.tables.reports import reports_by_group, row_groups

_FIELDS = [("group", object), ("report", object), ("confidence", np.float64), ("group_size", np.int64)]


def group_target(groups: Any, shares: Any, confidence: float | Mapping | None = None) -> np.ndarray:
    """Build a target that travels through pipelines, searches and cross-validation.

    Every record knows how many members its group has, so a split that cuts a group in two is detected.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
        Group id of each row; any hashable values.
    shares : mapping, Series or array-like
        Share of positives, or evidence, of each group: by group id, or one value a row.
    confidence : float, mapping or None, default=None
        Confidence in the shares, one for all or one a group. None leaves it to the estimator.

    Returns
    -------
    structured ndarray of shape (n_rows,)
        Fields ``group``, ``report``, ``confidence`` (NaN: the estimator's) and ``group_size``.
    """
    ids = row_groups(groups)
    reports = reports_by_group(shares, ids)
    sizes = Counter(ids)
    target = np.empty(len(ids), dtype=_FIELDS)
    for row, group in enumerate(ids):
        chi = confidence.get(group, np.nan) if isinstance(confidence, Mapping) else confidence
        target[row] = (group, reports[group], np.nan if chi is None else chi, sizes[group])
    return target


def is_group_target(y: Any) -> bool:
    """Tell whether ``y`` was made by :func:`group_target`."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    return names == tuple(name for name, _ in _FIELDS)
