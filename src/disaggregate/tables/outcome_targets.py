"""Targets that name several outcomes: a table of groups by outcomes, or a mapping from groups to mappings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.groups.evidence import Unknown
from disaggregate.groups.forms import is_missing
from disaggregate.groups.grouped import GroupedData, group_rows
from disaggregate.groups.outcome_evidence import OutcomeEvidence
from disaggregate.groups.outcomes import group_outcomes, reported_outcomes
from disaggregate.groups.two_outcomes import of_second_outcome


def is_outcome_table(y: Any, ids: Sequence[Hashable]) -> bool:
    """Return whether this is a table of groups by outcomes, not one with a group and a share in each row.

    Parameters
    ----------
    y : DataFrame
        What the groups report.
    ids : sequence of hashable
        Group id of each row of X.
    """
    if len(y.columns) > 2:
        return True
    if len(y.columns) < 2 or not isinstance(y, pd.DataFrame):
        return False
    known = set(ids)
    return known <= set(y.index) and not set(y[y.columns[0]]) <= known


def reports_of_table(y: Any, ids: Sequence[Hashable]) -> dict[Hashable, Any]:
    """Read a table of groups by outcomes: shares, missing where one is not known.

    Parameters
    ----------
    y : DataFrame
        Groups are its index, or its first column; every other column is an outcome.
    ids : sequence of hashable
        Group id of each row of X.
    """
    table = y if isinstance(y, pd.DataFrame) else pd.DataFrame(y.to_dict(as_series=False))
    known = set(ids)
    if not known <= set(table.index) and known <= set(table[table.columns[0]]):
        table = table.set_index(table.columns[0])
    if table.index.has_duplicates:
        raise ValueError(f"group {table.index[table.index.duplicated()][0]!r} has two rows in y; keep one.")
    if table.columns.has_duplicates:
        raise ValueError(f"two columns of y are called {table.columns[table.columns.duplicated()][0]!r}.")
    return {group: _row(group, row) for group, row in table.to_dict(orient="index").items()}


def _row(group: Hashable, row: dict[Hashable, Any]) -> Any:
    if all(is_missing(value) for value in row.values()):
        raise ValueError(
            f"group {group!r} has no share of any outcome; give disaggregate.evidence.Unknown() where nothing was "
            "reported."
        )
    found = [value for value in row.values() if isinstance(value, Unknown)]
    return found[0] if found else row


def are_outcome_reports(reports: Mapping[Hashable, Any]) -> bool:
    """Return whether any report names outcomes."""
    return any(isinstance(report, (Mapping, OutcomeEvidence)) for report in reports.values())


def require_same_outcomes(reports: Mapping[Hashable, Any]) -> None:
    """Refuse plain mappings that name different outcomes: one of them may be misspelt.

    Parameters
    ----------
    reports : mapping
        What each group reports, as it was given.
    """
    first: tuple[Hashable, set] | None = None
    for group, report in reports.items():
        if not isinstance(report, Mapping):
            continue
        if first is None:
            first = group, set(report)
        if set(report) != first[1]:
            differing = sorted(map(repr, set(report) ^ first[1]))
            raise ValueError(
                f"groups {first[0]!r} and {group!r} name different outcomes ({', '.join(differing)}); name the "
                "same ones in all groups: 0 where no one has it, NaN where the share is not known."
            )


def group_by_outcomes(
    ids: Sequence[Hashable],
    evidence: Mapping[Hashable, Any],
    counts: np.ndarray | None,
    outcomes: Sequence[Hashable] | None = None,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, GroupedData]:
    """Sort rows by group, with evidence that names outcomes; return these, and the groups.

    Parameters
    ----------
    ids : sequence of hashable
        Group id of each row.
    evidence : mapping
        Evidence of each group.
    counts : ndarray of int, shape (n_rows,), optional
        How many people each row stands for.
    outcomes : sequence of hashable, optional
        The outcomes of an earlier fit; by default those that the reports name.
    weights : ndarray of shape (n_rows,), optional
        Positive survey weights.
    """
    named = reported_outcomes(evidence)
    known = named if outcomes is None else list(outcomes)
    if len(known) < 2:
        raise ValueError(
            f"the reports name one outcome only, {known[0]!r}; name all of them, or give plain shares of that one."
        )
    if outcomes is None:
        require_positive_shares(evidence, known)
    if len(known) > 2:
        _require_samples(evidence, weights)
        data: GroupedData = group_outcomes(ids, evidence, known, counts, weights)
    else:
        people = Counter(ids) if counts is None else _people(ids, counts)
        data = group_rows(ids, of_second_outcome(evidence, known, people), weights, counts)
    return as_classes(known), data


def _require_samples(evidence: Mapping[Hashable, Any], weights: np.ndarray | None) -> None:
    """Refuse survey weights within shares of the rows' own people."""
    if weights is None or (weights == weights[0]).all():
        return
    own = [group for group, report in evidence.items() if not report.population and not _is_unknown(report)]
    if own:
        raise ValueError(
            "sample_weight is not yet supported for reports on the rows' own people that name several outcomes, "
            "as of "
            f"group {own[0]!r}; give PopulationShares where the rows are a sample of the group, counts= where "
            "rows stand for several people, or leave sample_weight out."
        )


def _is_unknown(report: Any) -> bool:
    return isinstance(report, Unknown)


def as_classes(outcomes: Sequence[Hashable]) -> np.ndarray:
    """Make an array of the outcomes; texts stay texts."""
    classes = np.asarray(list(outcomes))
    if classes.ndim == 1 and classes.dtype.kind in "biufU" and len(set(classes.tolist())) == len(outcomes):
        return classes
    classes = np.empty(len(outcomes), dtype=object)
    classes[:] = list(outcomes)
    return classes


def _people(ids: Sequence[Hashable], counts: np.ndarray) -> Counter:
    people: Counter = Counter()
    for group, n in zip(ids, counts.tolist(), strict=True):
        people[group] += n
    return people


def require_positive_shares(evidence: Mapping[Hashable, Any], outcomes: list[Hashable]) -> None:
    """Refuse an outcome that no group has: nothing could be learned of it.

    Parameters
    ----------
    evidence : mapping
        Evidence of each group.
    outcomes : list
        The outcomes.
    """
    for outcome in outcomes:
        shares = [_largest_share(report, outcome) for report in evidence.values()]
        if max(shares) == 0.0:
            raise ValueError(
                f"no group has any share of {outcome!r}; drop this outcome, or join it to another one."
            )


def _largest_share(report: Any, outcome: Hashable) -> float:
    if not isinstance(report, OutcomeEvidence):
        return 0.0
    if outcome not in report.named_outcomes:
        return 0.0 if report.is_complete else 1.0
    return report.reported_shares(1).get(outcome, 1.0)
