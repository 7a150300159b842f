"""From what a group reports, a plain share or evidence, to evidence."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

from disaggregate.groups.evidence import Evidence, Fraction
from disaggregate.groups.forms import is_missing
from disaggregate.groups.outcome_evidence import OutcomeEvidence, Shares

Confidence = float | Mapping[Hashable, float]


def evidence_of(group: Hashable, report: Any, confidence: Confidence) -> Evidence | OutcomeEvidence:
    """Take evidence as it is, a number as the paper's reported fraction, and a mapping as shares of outcomes.

    Parameters
    ----------
    group : hashable
        The group's id, for messages.
    report : Evidence, OutcomeEvidence, float or mapping
        What the group reports.
    confidence : float or mapping
        Confidence in plain shares, one for all or one per group.
    """
    if isinstance(report, (Evidence, OutcomeEvidence)):
        return report
    if isinstance(report, Mapping):
        try:
            return Shares(report, _confidence_of(group, confidence))
        except ValueError as error:
            raise ValueError(f"group {group!r}: {error}") from error
    if is_missing(report):
        raise ValueError(
            f"the share of group {group!r} is missing ({report!r}); give one, or "
            "disaggregate.evidence.Unknown() where nothing was reported."
        )
    if isinstance(report, bool):
        raise ValueError(
            f"the share of group {group!r} is {report!r}, which can be read in two ways; give 1.0 or 0.0 for all "
            "or none of the members, or disaggregate.evidence.AtLeast(1) for at least one."
        )
    if not isinstance(report, (Real, Decimal)):
        raise ValueError(
            f"the share of group {group!r} must be a number from 0 to 1 or an evidence object, got {report!r}."
        )
    chi = _confidence_of(group, confidence)
    try:
        return Fraction(float(report), chi)
    except ValueError as error:
        raise ValueError(f"group {group!r}: {error}") from error


def _confidence_of(group: Hashable, confidence: Confidence) -> float:
    if not isinstance(confidence, Mapping):
        return confidence
    if group not in confidence:
        raise ValueError(f"confidence is given by group but not for group {group!r}; add it.")
    return confidence[group]
