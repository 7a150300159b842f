"""Individuals sorted by group, with the evidence of each group beside them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from disaggregate.groups.evidence import Evidence


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
    log_likelihood : ndarray of shape (n_rows + n_groups,)
        The groups' evidence vectors end to end; group j's starts at ``offsets[j] + j``.
    """

    names: tuple[Hashable, ...]
    evidence: tuple[Evidence, ...]
    offsets: np.ndarray
    order: np.ndarray
    log_likelihood: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of members of each group."""
        return np.diff(self.offsets)

    @property
    def reported_shares(self) -> np.ndarray:
        """The share that each group reports, NaN where its evidence states none."""
        pairs = zip(self.evidence, self.sizes, strict=True)
        return np.array([evidence.reported_share(int(n)) for evidence, n in pairs])

    def in_caller_order(self, sorted_values: np.ndarray) -> np.ndarray:
        """Take one value a sorted row back to the caller's order of rows."""
        values = np.empty_like(sorted_values)
        values[self.order] = sorted_values
        return values


def group_rows(ids: Sequence[Hashable], evidence_by_group: Mapping[Hashable, Evidence]) -> GroupedData:
    """Sort rows by group and lay out the evidence.

    Parameters
    ----------
    ids : sequence of hashable
        The group of each row.
    evidence_by_group : mapping
        Evidence of every group in ``ids``.
    """
    code_of: dict[Hashable, int] = {}
    codes = np.array([code_of.setdefault(group, len(code_of)) for group in ids])
    sizes = np.bincount(codes)
    names = tuple(code_of)
    evidence = tuple(evidence_by_group[name] for name in names)
    return GroupedData(
        names=names,
        evidence=evidence,
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        order=np.argsort(codes, kind="stable"),
        log_likelihood=_evidence_vectors(names, evidence, sizes),
    )


def _evidence_vectors(
    names: tuple[Hashable, ...], evidence: tuple[Evidence, ...], sizes: np.ndarray
) -> np.ndarray:
    """Concatenate the evidence vectors; equal reports on groups of one size are worked out once."""
    known: dict[tuple[Evidence, int], np.ndarray] = {}
    vectors = []
    for name, report, n in zip(names, evidence, sizes.tolist(), strict=True):
        if (report, n) not in known:
            known[report, n] = _checked_vector(name, report, n)
        vectors.append(known[report, n])
    return np.concatenate(vectors)


def _checked_vector(name: Hashable, report: Evidence, n: int) -> np.ndarray:
    try:
        vector = np.asarray(report.log_likelihood(n), dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"group {name!r}: {error}") from error
    if vector.shape != (n + 1,) or np.isnan(vector).any() or not np.isfinite(vector.max()):
        raise ValueError(
            f"group {name!r}: {report!r} must give one log likelihood for each count from 0 to {n}, "
            f"no NaN and at least one finite; it gave {vector!r}."
        )
    return vector
