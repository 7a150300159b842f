"""Columns of results that name several outcomes become evidence: a column per outcome, shares or counts.

Outcomes whose cell is empty are not distinguished. With a name for the rest, what the named ones
leave of the whole is an outcome of its own, such as those who did not vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.groups.evidence import Unknown
from disaggregate.groups.outcome_evidence import ROUNDING, Counts, OutcomeEvidence, PopulationShares, Shares
from disaggregate.groups.outcomes import reported_outcomes
from disaggregate.tables.counts import n_people_by_group, sound_counts
from disaggregate.tables.ids import group_ids
from disaggregate.tables.kinds import numbers_of
from disaggregate.tables.messages import plural, some
from disaggregate.tables.outcome_targets import require_positive_shares
from disaggregate.tables.problems import Problem, TableError, column_of
from disaggregate.tables.roles import OF_RESULTS, ROLES, Roles

_NAME_THE_REST = " Or name the remaining outcome (rest)."


def outcome_evidence_and_problems(
    people: pd.DataFrame, results: pd.DataFrame, roles: Roles, *, sampled: bool, confidence: float
) -> tuple[dict[Hashable, Any], list[Problem]]:
    """Read what is known of the outcomes in every group of people, and list what is wrong.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual, or per cell with a count of people; one row per group.
    roles : Roles
        With ``shares`` or ``tallies``.
    sampled : bool
        Whether the people are a random sample of the group that the results describe.
    confidence : float
        Confidence in shares without one of their own.
    """
    of_people, of_results = group_ids(people, results, roles.group)
    counts = sound_counts(people, roles)
    numbers, problems = _numbers(results, roles)
    problems += _unsupported(roles, sampled) + _repeated(of_results)
    if problems or (counts is None and roles.count is not None):
        return {}, problems
    n_people = n_people_by_group(of_people, counts)
    evidence: dict[Hashable, Any] = dict.fromkeys(n_people, Unknown())
    refused: dict[Hashable, str] = {}
    for index, group in enumerate(of_results):
        if group in n_people:
            row = {name: float(values[index]) for name, values in numbers.items()}
            try:
                evidence[group] = _evidence(row, roles, n_people[group], sampled, confidence)
            except ValueError as error:
                refused[group] = str(error)
    outcomes = reported_outcomes(evidence)
    refused.update(_impossible(evidence, n_people, outcomes, roles))
    problems += [Problem("error", "results", f"group {group!r}: {error}") for group, error in _first(refused)]
    if not refused and len(outcomes) > 1:
        problems += _of_nobody(evidence, outcomes)
    return evidence, problems


def _impossible(
    evidence: dict[Hashable, Any], n_people: dict[Hashable, int], outcomes: list[Hashable], roles: Roles
) -> dict[Hashable, str]:
    """Say which groups report what cannot be, such as shares of all outcomes that do not add up to 1."""
    refused = {}
    for group, report in evidence.items():
        if not isinstance(report, OutcomeEvidence):
            continue
        try:
            report.likely(n_people[group], len(report.named_outcomes) < len(outcomes))
        except ValueError as error:
            leaves_some = sum(report.reported_shares(n_people[group]).values()) < 1.0
            refused[group] = f"{error}{_NAME_THE_REST if leaves_some and roles.rest is None else ''}"
    return refused


def _of_nobody(evidence: dict[Hashable, Any], outcomes: list[Hashable]) -> list[Problem]:
    try:
        require_positive_shares(evidence, outcomes)
    except ValueError as error:
        return [Problem("error", "results", str(error))]
    return []


def _evidence(row: dict[str, float], roles: Roles, n: int, sampled: bool, confidence: float) -> Any:
    columns = roles.shares or roles.tallies
    reported: dict[Hashable, float] = {name: row[name] for name in columns if not np.isnan(row[name])}
    if not reported:
        return Unknown()
    whole = _whole_of(row, roles, n, sampled) if roles.tallies else 1.0
    if roles.rest is not None and len(reported) == len(columns):
        left = whole - sum(reported.values())
        if left < -ROUNDING * whole:
            raise ValueError(
                f"the outcomes add up to {sum(reported.values()):g} of {whole:g}, so that nothing is left for "
                f"{roles.rest!r}; correct them, or leave the rest out."
            )
        reported[roles.rest] = max(left, 0.0)
    if sampled:
        return _population(reported, whole, _cell(row, roles.size), roles)
    chi = _cell(row, roles.confidence)
    return Shares(reported, confidence if chi is None else chi) if roles.shares else Counts(_whole(reported))


def _cell(row: dict[str, float], name: str | None) -> float | None:
    return None if name is None or np.isnan(row[name]) else row[name]


def _whole_of(row: dict[str, float], roles: Roles, n: int, sampled: bool) -> float:
    """Return how many people the counts of a group are of."""
    total = _cell(row, roles.total)
    if sampled:
        whole = _cell(row, roles.size) if total is None else total
        if not whole:
            raise ValueError("counts of a population need its size: give total or size, above 0.")
        return whole
    if total is not None and total != n:
        raise ValueError(
            f"the results count {total:g} people, but the table has {plural(n, 'person', 'people')} of this "
            "group; give shares instead of counts where the two are not the same people, or say that the people "
            "are a sample (sampled)."
        )
    return float(n)


def _population(
    reported: dict[Hashable, float], whole: float, size: float | None, roles: Roles
) -> PopulationShares:
    """Take shares, or counts of a whole, as those of a population."""
    if size is None and roles.tallies:
        size = whole
    return PopulationShares(
        {name: value / whole for name, value in reported.items()}, None if size is None else int(size)
    )


def _whole(reported: dict[Hashable, float]) -> dict[Hashable, int]:
    return {name: int(count) for name, count in reported.items()}


def _numbers(results: pd.DataFrame, roles: Roles) -> tuple[dict[str, np.ndarray], list[Problem]]:
    """Read the columns as numbers; shares are from 0 to 1, and counts whole."""
    numbers, problems = {}, []
    for role in (role for role in OF_RESULTS if ROLES[role].of_outcomes):
        for name in roles.names(role):
            try:
                numbers[name] = numbers_of(results[name])
                _require_range(role, numbers[name], results[roles.group])
            except TableError as error:
                problems.append(Problem("error", column_of("results", name), str(error)))
    return numbers, problems


def _require_range(role: str, values: np.ndarray, groups: pd.Series) -> None:
    expected, wrong = "numbers of 0 or more", values < 0.0
    if role == "shares":
        expected, wrong = "shares from 0 to 1 (divide percentages by 100)", (values < 0.0) | (values > 1.0)
    elif role in ("tallies", "total", "size"):
        broken = ~np.isnan(values) & (values != np.rint(values))
        expected, wrong = "whole numbers of 0 or more", broken | (values < 0.0) | np.isinf(values)
    if wrong.any():
        names = groups[wrong].to_list()
        raise TableError(
            f"expected {expected}, got {values[wrong][0]:g} in group {names[0]!r} "
            f"({plural(len(names), 'group')}: {some(names)}); correct the value, or leave it empty."
        )


def _unsupported(roles: Roles, sampled: bool) -> list[Problem]:
    """Return what is not yet supported for several outcomes."""
    wrong = [role for role in OF_RESULTS if not ROLES[role].of_outcomes and roles.names(role)]
    found = [f"{role} is not yet supported for several outcomes; leave it out." for role in wrong]
    if not sampled:
        found += [
            f"{role}: the people of a group that is not sampled count one each where there are several outcomes; "
            f"leave {role} out, or say that the people are a sample of their group (sampled)."
            for role in ("size", "weight")
            if roles.names(role)
        ]
    return [Problem("error", "results", message) for message in found]


def _repeated(ids: list[Hashable | None]) -> list[Problem]:
    repeated = [group for group, times in Counter(ids).items() if times > 1 and group is not None]
    if not repeated:
        return []
    return [Problem("error", "results", f"several rows for {some(repeated)}; keep one row per group.")]


def _first(refused: dict[Hashable, str], most: int = 3) -> list[tuple[Hashable, str]]:
    return list(refused.items())[:most]
