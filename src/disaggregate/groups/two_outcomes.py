"""Turns reports on two outcomes into reports on the second, as the binary model needs them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import singledispatch
from typing import Any

from disaggregate.groups.evidence import Between, Count, Evidence, Fraction, Population
from disaggregate.groups.outcome_evidence import Bounds, Counts, PopulationShares, Shares


def of_second_outcome(
    evidence_by_group: Mapping[Hashable, Any], outcomes: Sequence[Hashable], sizes: Mapping[Hashable, int]
) -> dict[Hashable, Evidence]:
    """Turn evidence on two outcomes into evidence on the count of the second.

    Parameters
    ----------
    evidence_by_group : mapping
        Evidence of each group.
    outcomes : sequence of two
        The outcomes.
    sizes : mapping
        Number of people of each group.
    """
    first, second = outcomes
    found = {}
    for group, report in evidence_by_group.items():
        try:
            found[group] = _on_second(report, (first, second), sizes[group])
        except ValueError as error:
            raise ValueError(f"group {group!r}: {error}") from error
    return found


@singledispatch
def _on_second(report: Any, outcomes: tuple[Hashable, Hashable], n: int) -> Evidence:
    return report


@_on_second.register
def _(report: Counts, outcomes: tuple[Hashable, Hashable], n: int) -> Evidence:
    report.likely(n, len(report.named_outcomes) < 2)  # which checks their sum
    first, second = outcomes
    return Count(report.counts[second] if second in report.counts else n - report.counts[first])


@_on_second.register
def _(report: Shares, outcomes: tuple[Hashable, Hashable], n: int) -> Evidence:
    return Fraction(_share_of_second(report, outcomes, n), report.confidence)


@_on_second.register
def _(report: PopulationShares, outcomes: tuple[Hashable, Hashable], n: int) -> Evidence:
    return Population(_share_of_second(report, outcomes, n), report.size)


@_on_second.register
def _(report: Bounds, outcomes: tuple[Hashable, Hashable], n: int) -> Evidence:
    report.likely(n, len(report.named_outcomes) < 2)
    first, second = outcomes
    low, high = report.bounds.get(second, (0, n))
    least, greatest = report.bounds.get(first, (0, n))
    return Between(max(low, n - greatest), min(high, n - least, n))


def _share_of_second(report: Shares | PopulationShares, outcomes: tuple[Hashable, Hashable], n: int) -> float:
    report.likely(n, len(report.named_outcomes) < 2)  # which checks their sum
    first, second = outcomes
    return report.shares[second] if second in report.shares else 1.0 - report.shares[first]
