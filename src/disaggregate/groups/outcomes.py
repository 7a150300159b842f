"""Individuals sorted by group, with what each group reports of several outcomes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disaggregate.groups.grouped import SHARE_STEPS, GroupedData
from disaggregate.groups.outcome_evidence import OutcomeEvidence


@dataclass(frozen=True)
class GroupedOutcomes(GroupedData):
    """Rows sorted by group, as in :class:`GroupedData`, with evidence on several outcomes.

    ``evidence`` holds :class:`disaggregate.groups.outcome_evidence.OutcomeEvidence` or Unknown;
    ``log_likelihood`` is empty, as count vectors are listed where they are needed.

    Attributes
    ----------
    outcomes : tuple
        The outcomes.
    """

    outcomes: tuple[Hashable, ...] = ()

    @property
    def starts(self) -> np.ndarray:
        """Where each group's counts start in ``log_likelihood``: nowhere."""
        return np.zeros(len(self.names) + 1, dtype=np.int64)

    @property
    def tally_steps(self) -> np.ndarray:
        """Into how many steps the shares of each group are cut where its draws are tallied."""
        is_sample = [population is not None for population in self.populations]
        return np.where(is_sample, SHARE_STEPS, np.minimum(self.people, SHARE_STEPS))

    @property
    def tally_starts(self) -> np.ndarray:
        """Where the tallies of each group's share of each outcome start, and where the last one's end."""
        lengths = np.repeat(self.tally_steps + 1, len(self.outcomes))
        return np.concatenate([[0], np.cumsum(lengths)])

    @property
    def reported_shares(self) -> np.ndarray:
        """The share of each outcome that each group reports, shape (n_groups, n_outcomes); NaN where none."""
        shares = np.full((len(self.names), len(self.outcomes)), np.nan)
        reports: tuple[Any, ...] = self.evidence
        for row, report, n in zip(shares, reports, self.people.tolist(), strict=True):
            if isinstance(report, OutcomeEvidence):
                reported = report.reported_shares(n)
                row[:] = [reported.get(outcome, np.nan) for outcome in self.outcomes]
        return shares


def group_outcomes(
    ids: Sequence[Hashable],
    evidence_by_group: Mapping[Hashable, Any],
    outcomes: Sequence[Hashable],
    counts: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> GroupedOutcomes:
    """Sort rows by group and check what the groups report.

    Parameters
    ----------
    ids : sequence of hashable
        The group of each row.
    evidence_by_group : mapping
        Evidence on the outcomes, or Unknown, of every group in ``ids``.
    outcomes : sequence of hashable
        All outcomes.
    counts : ndarray of int, shape (n_rows,), optional
        How many people each row stands for.
    weights : ndarray of shape (n_rows,), optional
        Positive survey weights: how much each row stands for in the population of which it is a sample.
    """
    code_of: dict[Hashable, int] = {}
    codes = np.array([code_of.setdefault(group, len(code_of)) for group in ids])
    names = tuple(code_of)
    evidence = tuple(evidence_by_group[name] for name in names)
    order = np.argsort(codes, kind="stable")
    data = GroupedOutcomes(
        names=names,
        evidence=evidence,
        offsets=np.concatenate([[0], np.cumsum(np.bincount(codes))]),
        order=order,
        units=np.ones(len(codes), dtype=np.int64),
        log_likelihood=np.zeros(0),
        counts=None if counts is None else counts[order],
        weights=None if weights is None else weights[order],
        outcomes=tuple(outcomes),
    )
    for name, report, n in zip(names, evidence, data.people.tolist(), strict=True):
        _require_possible(name, report, n, data.outcomes)
    return data


def reported_outcomes(evidence_by_group: Mapping[Hashable, Any]) -> list[Hashable]:
    """List the outcomes that reports name, in the order in which they first do."""
    named: dict[Hashable, None] = {}
    for report in evidence_by_group.values():
        if isinstance(report, OutcomeEvidence):
            named.update(dict.fromkeys(report.named_outcomes))
    return list(named)


def _require_possible(name: Hashable, report: Any, n: int, outcomes: tuple[Hashable, ...]) -> None:
    if report.is_uninformative and not isinstance(report, OutcomeEvidence):
        return
    if not isinstance(report, OutcomeEvidence):
        raise ValueError(
            f"group {name!r}: {type(report).__name__} is about one outcome, but there are {len(outcomes)}: "
            f"{list(outcomes)}. Name the outcome: Counts, Shares or Bounds of {{outcome: ...}}, or Unknown()."
        )
    unknown = [outcome for outcome in report.named_outcomes if outcome not in outcomes]
    if unknown:
        raise ValueError(f"group {name!r}: {unknown[0]!r} is not one of the outcomes {list(outcomes)}.")
    try:
        report.likely(n, len(report.named_outcomes) < len(outcomes))
    except ValueError as error:
        raise ValueError(f"group {name!r}: {error}") from error
