"""Individuals sorted by group, with the evidence of each group beside them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from disaggregate.groups.evidence import Evidence
from disaggregate.groups.units import effective_size, largest_rounding_error, whole_units


@dataclass(frozen=True)
class GroupedData:
    """Rows sorted by group; group j holds sorted rows ``offsets[j]:offsets[j + 1]``.

    Attributes
    ----------
    names : tuple
        Group ids, in the order in which the caller's rows first name them.
    evidence : tuple of Evidence
        What is known of each group.
    offsets : ndarray of shape (n_groups + 1,)
        Where each group starts among the sorted rows.
    order : ndarray of shape (n_rows,)
        The caller's row at each sorted place; members keep the caller's order inside their group.
    units : ndarray of int, shape (n_rows,)
        How much each sorted row counts: 1, or its survey weight in whole units.
    log_likelihood : ndarray of shape (sum of units + n_groups,)
        The groups' evidence vectors end to end, over counts of units; group j's starts at ``starts[j]``.
    rounding_error : float
        By how much the rounding of survey weights to units can move a group's share at most.
    """

    names: tuple[Hashable, ...]
    evidence: tuple[Evidence, ...]
    offsets: np.ndarray
    order: np.ndarray
    units: np.ndarray
    log_likelihood: np.ndarray
    rounding_error: float = 0.0

    @property
    def sizes(self) -> np.ndarray:
        """Number of members of each group."""
        return np.diff(self.offsets)

    @property
    def totals(self) -> np.ndarray:
        """Units of each group: its number of members, but for survey weights."""
        return np.add.reduceat(self.units, self.offsets[:-1])

    @property
    def starts(self) -> np.ndarray:
        """Where each group's counts start in ``log_likelihood``, and where the last one's end."""
        return np.concatenate([[0], np.cumsum(self.totals + 1)])

    @property
    def reported_shares(self) -> np.ndarray:
        """The share that each group reports, NaN where its evidence states none."""
        pairs = zip(self.evidence, self.sizes, strict=True)
        return np.array([evidence.reported_share(int(n)) for evidence, n in pairs])

    @property
    def ids(self) -> list[Hashable]:
        """The group of each of the caller's rows."""
        places = self.in_caller_order(np.repeat(np.arange(len(self.names)), self.sizes))
        return [self.names[place] for place in places]

    def in_caller_order(self, sorted_values: np.ndarray) -> np.ndarray:
        """Take one value a sorted row back to the caller's order of rows."""
        values = np.empty_like(sorted_values)
        values[self.order] = sorted_values
        return values


def group_rows(
    ids: Sequence[Hashable],
    evidence_by_group: Mapping[Hashable, Evidence],
    weights: np.ndarray | None = None,
) -> GroupedData:
    """Sort rows by group and lay out the evidence.

    Parameters
    ----------
    ids : sequence of hashable
        The group of each row.
    evidence_by_group : mapping
        Evidence of every group in ``ids``.
    weights : ndarray of shape (n_rows,), optional
        Positive survey weights: a group's share is then the weighted share of its members.
    """
    code_of: dict[Hashable, int] = {}
    codes = np.array([code_of.setdefault(group, len(code_of)) for group in ids])
    sizes = np.bincount(codes)
    names = tuple(code_of)
    evidence = tuple(evidence_by_group[name] for name in names)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    order = np.argsort(codes, kind="stable")
    by_group = None if weights is None else np.split(weights[order], offsets[1:-1])
    units = [np.ones(n, dtype=np.int64) for n in sizes] if by_group is None else [whole_units(w) for w in by_group]
    effective = sizes.tolist() if by_group is None else [effective_size(w) for w in by_group]
    return GroupedData(
        names=names,
        evidence=evidence,
        offsets=offsets,
        order=order,
        units=np.concatenate(units),
        log_likelihood=_evidence_vectors(names, evidence, units, effective),
        rounding_error=max(map(largest_rounding_error, by_group or (), units), default=0.0),
    )


def _evidence_vectors(
    names: tuple[Hashable, ...],
    evidence: tuple[Evidence, ...],
    units: Sequence[np.ndarray],
    effective: Sequence[float],
) -> np.ndarray:
    """Concatenate the evidence vectors; equal reports on groups of one size are worked out once."""
    known: dict[tuple[Evidence, int, float], np.ndarray] = {}
    vectors = []
    for name, report, members, size in zip(names, evidence, units, effective, strict=True):
        total = int(members.sum())
        n_members = float(len(members) if total == len(members) else size)
        if (report, total, n_members) not in known:
            known[report, total, n_members] = _checked_vector(name, report, total, n_members)
        vectors.append(known[report, total, n_members])
    return np.concatenate(vectors)


def _checked_vector(name: Hashable, report: Evidence, n: int, effective: float) -> np.ndarray:
    try:
        given = report.log_likelihood(n) if n == effective else report.weighted_log_likelihood(n, effective)
        vector = np.asarray(given, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"group {name!r}: {error}") from error
    if vector.shape != (n + 1,) or np.isnan(vector).any() or not np.isfinite(vector.max()):
        raise ValueError(
            f"group {name!r}: {report!r} must give one log likelihood for each count from 0 to {n}, "
            f"no NaN and at least one finite; it gave {vector!r}."
        )
    return vector
