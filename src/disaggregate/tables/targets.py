"""The accepted forms of ``y`` that describe groups, read into groups with evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from disaggregate.groups.forms import index_labels, is_dataframe
from disaggregate.groups.grouped import GroupedData, group_rows
from disaggregate.groups.reports import reports_by_group, row_groups, two_columns
from disaggregate.groups.shares import Confidence, evidence_of
from disaggregate.groups.target import GroupRecord, is_group_target
from disaggregate.tables.outcome_targets import (
    are_outcome_reports,
    group_by_outcomes,
    is_outcome_table,
    reports_of_table,
    require_same_outcomes,
)


def is_about_groups(y: Any, groups: Any) -> bool:
    """Return whether a target describes groups; else it has plain labels."""
    if isinstance(y, Mapping) and groups is None:
        raise ValueError(
            "y maps groups to shares but groups is None; pass groups=, the group id of each row of X."
        )
    return groups is not None or is_group_target(y) or (is_dataframe(y) and len(y.columns) == 2)


def read_target(
    X: Any,
    y: Any,
    groups: Any,
    n_rows: int,
    confidence: Any,
    weights: np.ndarray | None = None,
    counts: np.ndarray | None = None,
    outcomes: Sequence[Hashable] | None = None,
) -> tuple[np.ndarray, GroupedData]:
    """Read any form of ``y`` that describes groups, also such as name several outcomes; return classes and groups.

    Parameters
    ----------
    X, y, groups, n_rows, confidence, weights, counts
        As for :func:`read_group_target`; ``y`` may also be a dataframe of groups by outcomes, or map groups to
        mappings from outcomes to shares.
    outcomes : sequence of hashable, optional
        The outcomes of an earlier fit; by default those that the reports name.
    """
    chi = dict(confidence.items()) if hasattr(confidence, "items") else confidence
    own: dict[Hashable, Confidence] = {}
    if is_group_target(y):
        ids, reports, own = _records(y, groups, n_rows, chi)
    elif is_dataframe(y) and groups is not None and is_outcome_table(y, row_groups(groups, n_rows)):
        ids = row_groups(groups, n_rows)
        reports = reports_by_group(reports_of_table(y, ids), ids)
    elif isinstance(y, Mapping) and groups is not None and are_outcome_reports(y):
        ids = row_groups(groups, n_rows)
        reports = reports_by_group(y, ids)
    else:
        reports = {}
    if not are_outcome_reports(reports):
        return np.array([0, 1]), read_group_target(X, y, groups, n_rows, confidence, weights, counts)
    require_same_outcomes(reports)
    evidence = {group: evidence_of(group, report, own.get(group, chi)) for group, report in reports.items()}
    return group_by_outcomes(ids, evidence, counts, outcomes, weights)


def read_group_target(
    X: Any,
    y: Any,
    groups: Any,
    n_rows: int,
    confidence: Any,
    weights: np.ndarray | None = None,
    counts: np.ndarray | None = None,
) -> GroupedData:
    """Read any form of ``y`` that describes groups.

    Parameters
    ----------
    X : dataframe or array-like
        The individuals; the index of a pandas dataframe distinguishes a Series by row from a Series by group.
    y : mapping, Series, array-like, two-column dataframe or structured target
        What the groups reported.
    groups : array-like of shape (n_rows,) or None
        Group id of each row; None when ``y`` carries the ids itself.
    n_rows : int
        Number of rows of X.
    confidence : float, mapping or Series
        Confidence in plain shares, one for all or one per group.
    weights : ndarray of shape (n_rows,), optional
        Positive survey weights.
    counts : ndarray of int, shape (n_rows,), optional
        How many people each row stands for.
    """
    chi = dict(confidence.items()) if hasattr(confidence, "items") else confidence
    if is_group_target(y):
        return _read_records(y, groups, n_rows, chi, weights, counts)
    if groups is None:
        groups, y = two_columns(y)
        if len(groups) != n_rows:
            raise ValueError(f"y has {len(groups)} rows but X has {n_rows}; without groups= they must agree.")
    ids = row_groups(groups, n_rows)
    reports = reports_by_group(y, ids, index_labels(X) or index_labels(groups))
    return group_rows(ids, _evidence_by_group(reports, chi), weights, counts)


def _read_records(
    y: np.ndarray,
    groups: Any,
    n_rows: int,
    confidence: Confidence,
    weights: np.ndarray | None,
    counts: np.ndarray | None,
) -> GroupedData:
    ids, reports, chosen = _records(y, groups, n_rows, confidence)
    evidence: dict = {group: evidence_of(group, report, chosen[group]) for group, report in reports.items()}
    return group_rows(ids, evidence, weights, counts)


def _records(
    y: np.ndarray, groups: Any, n_rows: int, confidence: Confidence
) -> tuple[list[Hashable], dict[Hashable, Any], dict[Hashable, Confidence]]:
    """Group of each row, and what each group reports with what confidence."""
    if y.shape != (n_rows,):
        raise ValueError(f"y has {len(y)} records but X has {n_rows} rows; give one record for each row of X.")
    ids = [record.group for record in y]
    if groups is not None and row_groups(groups, n_rows) != ids:
        raise ValueError("groups= disagrees with the groups inside y; pass only one of the two.")
    records = {record.group: record for record in y}
    _require_whole_groups(records, Counter(ids))
    chosen = {
        group: confidence if known.confidence is None else known.confidence for group, known in records.items()
    }
    return ids, {group: known.report for group, known in records.items()}, chosen


def _require_whole_groups(records: Mapping[Hashable, GroupRecord], present: Mapping[Hashable, int]) -> None:
    for group, record in records.items():
        if present[group] != record.group_size:
            raise ValueError(
                f"group {group!r} has {record.group_size} members but {present[group]} came: a split has cut it "
                "in two, and its share no longer describes the rows. Split by group, for instance with "
                "GroupKFold and groups=y['group']."
            )


def _evidence_by_group(reports: Mapping[Hashable, Any], confidence: Confidence) -> dict[Hashable, Any]:
    return {group: evidence_of(group, report, confidence) for group, report in reports.items()}
