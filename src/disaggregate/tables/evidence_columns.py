"""Columns of results become evidence, one kind for each group, by the columns that its row fills in.

===========================  ==========================================  ===================================
filled in                    people are the whole group                  people are a sample (``sampled``)
===========================  ==========================================  ===================================
share                        Fraction(share, confidence)                 Population(share, size)
positives                    Count(positives)                            Population(positives / size, size)
positives, total             total = people: Count(positives)            Population(positives / total, size),
                             total < people: Survey(positives, total)    the size being the total
                             total > people: refused, see ``sampled``    unless it has a column
positives, noise             NoisyCount(positives, noise)                refused
positives, rounded_to        RoundedCount(positives, rounded_to)         refused
low, high                    AtLeast, AtMost or Between                  refused
nothing                      Unknown()                                   Unknown()
===========================  ==========================================  ===================================

The people of a group are its rows, or the sum of their counts where rows are cells.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from disaggregate.groups.evidence import (
    AtLeast,
    AtMost,
    Between,
    Count,
    Evidence,
    Fraction,
    NoisyCount,
    Population,
    RoundedCount,
    Survey,
    Unknown,
)
from disaggregate.tables.counts import counts_of, n_people_by_group, sound_counts
from disaggregate.tables.ids import group_ids
from disaggregate.tables.messages import plural, some
from disaggregate.tables.outcome_columns import outcome_evidence_and_problems
from disaggregate.tables.problems import Problem, TableError
from disaggregate.tables.report_numbers import bounds_are_shares, report_numbers
from disaggregate.tables.roles import ROLES, Roles

EvidenceByGroup = dict[Hashable, Evidence]

# A bound such as 0.7 of ten people is seven of them, though 0.7 * 10 may be a little more.
_ROUNDING = 1e-9

_LONGEST = 200  # characters of the message about one row


def read_evidence(
    people: pd.DataFrame,
    results: pd.DataFrame,
    roles: Roles,
    *,
    sampled: bool = False,
    confidence: Any = 1000.0,
    noise: Literal["laplace", "gaussian"] = "laplace",
) -> EvidenceByGroup:
    """Read what is known of every group of people; groups without a result are ``Unknown()``.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual, or per cell with a count of people; one row per group. Results of groups without
        people are left out.
    roles : Roles
        Roles of the columns.
    sampled : bool, default=False
        Whether the people are a random sample of the group that the results describe.
    confidence : float or "auto", default=1000.0
        Confidence in shares without one of their own.
    noise : {"laplace", "gaussian"}, default="laplace"
        Kind of the noise on counts that have a scale of noise.
    """
    counts_of(people, roles)  # unsound ones are refused before they are summed
    evidence, problems = evidence_and_problems(
        people, results, roles, sampled=sampled, confidence=confidence, noise=noise
    )
    if problems:
        raise TableError("\n".join(f"{problem.where}: {problem.message}" for problem in problems))
    return evidence


def evidence_and_problems(
    people: pd.DataFrame,
    results: pd.DataFrame,
    roles: Roles,
    *,
    sampled: bool = False,
    confidence: Any = 1000.0,
    noise: Literal["laplace", "gaussian"] = "laplace",
) -> tuple[EvidenceByGroup, list[Problem]]:
    """Read evidence as :func:`read_evidence` does, but list every problem instead of stopping at the first.

    Unsound counts are no problem of the results, and are reported elsewhere; here is only what does not depend
    on them.
    """
    if roles.names_outcomes:
        return outcome_evidence_and_problems(people, results, roles, sampled=sampled, confidence=confidence)
    of_people, of_results = group_ids(people, results, roles.group)
    counts = sound_counts(people, roles)
    numbers, problems = report_numbers(results, roles)
    problems += _repeated(of_results) + _misplaced(roles, sampled)
    if problems or (counts is None and roles.count is not None):
        return {}, problems
    n_people = n_people_by_group(of_people, counts)
    by_share = bounds_are_shares(numbers)
    evidence: EvidenceByGroup = dict.fromkeys(n_people, Unknown())
    refused: dict[str, list[tuple[Hashable, str]]] = {}
    for index, group in enumerate(of_results):
        if group not in n_people:
            continue
        row = _row(numbers, index, n_people[group], by_share)
        try:
            evidence[group] = _evidence(row, sampled, confidence, noise)
        except _Refusal as refusal:
            refused.setdefault(refusal.reason, []).append((group, refusal.detail))
        except ValueError as error:
            refused.setdefault("the numbers make no evidence", []).append(
                (group, f"this: {str(error)[:_LONGEST].rstrip('.')}")
            )
    return evidence, [_problem(reason, cases) for reason, cases in refused.items()]


@dataclass(frozen=True)
class _Row:
    """What one row of results says, None where it says nothing, and how many people the group has."""

    people: int
    bounds_are_shares: bool
    share: float | None = None
    positives: float | None = None
    total: float | None = None
    confidence: float | None = None
    low: float | None = None
    high: float | None = None
    noise: float | None = None
    rounded_to: float | None = None
    size: float | None = None


class _Refusal(Exception):
    """A row that cannot be evidence: a reason that several rows may share, and this row's numbers."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail


def _row(numbers: dict[str, np.ndarray], index: int, people: int, by_share: bool) -> _Row:
    values = {role: float(column[index]) for role, column in numbers.items()}
    return _Row(people, by_share, **{role: value for role, value in values.items() if not math.isnan(value)})


def _evidence(row: _Row, sampled: bool, confidence: Any, noise: Literal["laplace", "gaussian"]) -> Evidence:
    has_bounds = row.low is not None or row.high is not None
    filled = [
        name
        for name, is_given in (
            ("share", row.share is not None),
            ("positives", row.positives is not None),
            ("bounds", has_bounds),
        )
        if is_given
    ]
    if len(filled) > 1:
        raise _Refusal(
            "a row gives one of share, positives or bounds; leave the others empty", " and ".join(filled)
        )
    if has_bounds:
        return _from_bounds(row)
    if row.share is not None:
        chi = confidence if row.confidence is None else row.confidence
        return _population(row.share, row.size, row) if sampled else Fraction(row.share, chi)
    if row.positives is None:
        return Unknown()
    if sampled:
        return _sampled_count(row.positives, row)
    if row.rounded_to:
        return _rounded_count(row.positives, row.rounded_to, row)
    if row.noise:
        return _noisy_count(row.positives, row.noise, noise, row)
    return _count(row.positives, row)


def _count(positives: float, row: _Row) -> Evidence:
    total = row.people if row.total is None else row.total
    _require_no_more(positives, row.total)
    if max(positives, total) > row.people:
        raise _Refusal(
            "the results count more than the people in the table; if these are a sample of their group, say so "
            "(sampled, evidence Population)",
            f"{positives:g} of {total:g} with {plural(row.people, 'person', 'people')}",
        )
    if positives < 0 or not positives.is_integer():
        raise _Refusal("positives must be whole numbers of 0 or more where no noise is given", f"{positives:g}")
    return Count(int(positives)) if total == row.people else Survey(int(positives), int(total))


def _noisy_count(positives: float, scale: float, noise: Literal["laplace", "gaussian"], row: _Row) -> Evidence:
    if row.total is not None and row.total != row.people:
        raise _Refusal(
            "a count with noise must be of the people in the table",
            f"total {row.total:g} with {plural(row.people, 'person', 'people')}",
        )
    return NoisyCount(positives, scale, noise)


def _rounded_count(positives: Any, base: Any, row: _Row) -> Evidence:
    if row.noise:
        raise _Refusal("a count has noise or is rounded; leave one of the two empty", f"noise {row.noise:g}")
    if row.total is not None and abs(row.total - row.people) >= base:
        raise _Refusal(
            "a rounded count must be of the people in the table",
            f"total {row.total:g} with {plural(row.people, 'person', 'people')}",
        )
    return RoundedCount(positives, base)


def _sampled_count(positives: float, row: _Row) -> Evidence:
    total = row.size if row.total is None else row.total
    if total is None:
        raise _Refusal(
            "positives of a population need its size: give total or size", f"{positives:g} of an unknown number"
        )
    _require_no_more(positives, total)
    if total == 0:
        return Unknown()
    return _population(positives / total, total if row.size is None else row.size, row)


def _require_no_more(positives: float, total: float | None) -> None:
    if total is not None and positives > total:
        raise _Refusal("there cannot be more positives than people counted", f"{positives:g} of {total:g}")


def _population(share: float, size: float | None, row: _Row) -> Evidence:
    if size is not None and size < row.people:
        raise _Refusal(
            "a population cannot be smaller than its sample; leave sampled out if the people are the whole group",
            f"{size:g} with {plural(row.people, 'person', 'people')}",
        )
    return Population(share, None if size is None else int(size))


def _from_bounds(row: _Row) -> Evidence:
    low, high = row.low, row.high
    if row.bounds_are_shares:
        low = None if low is None else math.ceil(low * row.people - _ROUNDING)
        high = None if high is None else math.floor(high * row.people + _ROUNDING)
    if low is not None and low > (row.people if high is None else min(high, row.people)):
        raise _Refusal(
            "no count of the people lies between the bounds",
            f"low {_shown(row.low)}, high {_shown(row.high)} with {plural(row.people, 'person', 'people')}",
        )
    if low is None:
        return AtMost(int(high or 0))
    return AtLeast(int(low)) if high is None else Between(int(low), int(high))


def _shown(bound: float | None) -> str:
    return "none" if bound is None else f"{bound:g}"


def _repeated(ids: list[Hashable | None]) -> list[Problem]:
    repeated = [group for group, times in Counter(ids).items() if times > 1 and group is not None]
    if not repeated:
        return []
    return [
        Problem(
            "error",
            "results",
            f"{plural(len(repeated), 'group has', 'groups have')} several rows: "
            f"{some(repeated)}; keep one row per group.",
        )
    ]


def _misplaced(roles: Roles, sampled: bool) -> list[Problem]:
    """Roles that have no meaning for a sample, or only for one."""
    wrong = [name for name, role in ROLES.items() if role.of_sample is (not sampled) and roles.names(name)]
    if not sampled:
        advice = "is for people who are a sample of a larger group; say so (sampled), or leave the role out."
    else:
        advice = (
            "is about the people in the table, not about the larger group that they are a sample of; leave it out."
        )
    return [Problem("error", f"results, column {roles.names(role)[0]!r}", f"{role} {advice}") for role in wrong]


def _problem(reason: str, cases: list[tuple[Hashable, str]]) -> Problem:
    group, detail = cases[0]
    listed = some([name for name, _ in cases])
    return Problem(
        "error",
        "results",
        f"{plural(len(cases), 'group')} ({listed}): {reason}. Group {group!r} has {detail}.",
    )
