"""The accepted forms of ``y``, read into groups with evidence or into plain labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.groups.evidence import Count, Evidence, Fraction
from disaggregate.groups.grouped import GroupedData, group_rows
from disaggregate.groups.target import is_group_target
from disaggregate.tables.reports import (
    as_list,
    is_dataframe,
    is_missing,
    reports_by_group,
    row_groups,
    two_columns,
)

Confidence = float | Mapping[Hashable, float]


def speaks_of_groups(y: Any, groups: Any) -> bool:
    """Tell a target that speaks of groups from plain labels."""
    if isinstance(y, Mapping) and groups is None:
        raise ValueError(
            "y maps groups to shares but groups is None; pass groups=, the group id of each row of X."
        )
    return groups is not None or is_group_target(y) or (is_dataframe(y) and len(y.columns) == 2)


def read_group_target(
    y: Any, groups: Any, n_rows: int, confidence: Confidence, row_index: Any = None
) -> GroupedData:
    """Read any form of ``y`` that speaks of groups.

    Parameters
    ----------
    y : mapping, Series, array-like, two-column dataframe or structured target
        What the groups reported.
    groups : array-like of shape (n_rows,) or None
        Group id of each row; None when ``y`` carries the ids itself.
    n_rows : int
        Number of rows of X.
    confidence : float, mapping or Series
        Confidence in plain shares, one for all or one a group.
    row_index : pandas Index, optional
        Labels of the rows of X.
    """
    if isinstance(confidence, pd.Series):
        confidence = confidence.to_dict()
    if is_group_target(y):
        return _read_structured(y, groups, n_rows, confidence)
    if groups is None:
        groups, values = two_columns(y)
        if len(groups) != n_rows:
            raise ValueError(f"y has {len(groups)} rows but X has {n_rows}; without groups= they must agree.")
        y = values
    ids = row_groups(groups, n_rows)
    reports = reports_by_group(y, ids, row_index)
    return group_rows(ids, _evidence_by_group(reports, confidence))


def label_groups(labels: Sequence[int]) -> GroupedData:
    """Make each labelled row a group of one: supervised learning is a special case."""
    evidence: dict[Hashable, Evidence] = {row: Count(int(label)) for row, label in enumerate(labels)}
    return group_rows(range(len(evidence)), evidence)


def _read_structured(y: np.ndarray, groups: Any, n_rows: int, confidence: Confidence) -> GroupedData:
    ids = row_groups(y["group"], n_rows)
    if groups is not None and row_groups(groups, n_rows) != ids:
        raise ValueError("groups= disagrees with the groups inside y; pass only one of the two.")
    _require_whole_groups(ids, y["group_size"].tolist())
    own = dict(zip(ids, y["confidence"].tolist(), strict=True))
    chosen = {group: _confidence_of(group, confidence) if np.isnan(chi) else chi for group, chi in own.items()}
    reports = dict(zip(ids, as_list(y["report"], "y"), strict=True))
    return group_rows(ids, _evidence_by_group(reports, chosen))


def _require_whole_groups(ids: list[Hashable], sizes: list[int]) -> None:
    present = Counter(ids)
    for group, size in zip(ids, sizes, strict=True):
        if present[group] != size:
            raise ValueError(
                f"group {group!r} has {size} members but {present[group]} came: a split has cut it in two, "
                "and its share no longer describes the rows. Split by group, for instance with "
                "GroupKFold and groups=y['group']."
            )


def _evidence_by_group(reports: Mapping[Hashable, Any], confidence: Confidence) -> dict[Hashable, Evidence]:
    return {group: _as_evidence(group, report, confidence) for group, report in reports.items()}


def _as_evidence(group: Hashable, report: Any, confidence: Confidence) -> Evidence:
    if isinstance(report, Evidence):
        return report
    if is_missing(report):
        raise ValueError(
            f"the share of group {group!r} is missing ({report!r}); give one, or "
            "disaggregate.evidence.Unknown() where nothing was reported."
        )
    if not isinstance(report, (Real, np.bool_)):
        raise ValueError(
            f"the share of group {group!r} must be a number from 0 to 1 or an evidence object, got {report!r}."
        )
    try:
        return Fraction(float(report), _confidence_of(group, confidence))
    except ValueError as error:
        raise ValueError(f"group {group!r}: {error}") from error


def _confidence_of(group: Hashable, confidence: Confidence) -> float:
    if not isinstance(confidence, Mapping):
        return confidence
    if group not in confidence:
        raise ValueError(f"confidence is given by group but not for group {group!r}; add it.")
    return confidence[group]
