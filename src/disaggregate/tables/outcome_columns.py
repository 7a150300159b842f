"""Columns of results that name several outcomes become evidence: a column per outcome, shares or counts.

Outcomes whose cell is empty are not told apart from each other. With a name for the rest, what the named ones
leave of the whole is an outcome of its own, such as those who did not vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.groups.evidence import Unknown
from disaggregate.groups.outcome_evidence import ROUNDING, Counts, Shares
from disaggregate.tables.counts import n_people_by_group, sound_counts
from disaggregate.tables.errors import TableError
from disaggregate.tables.ids import group_ids
from disaggregate.tables.kinds import numbers_of
from disaggregate.tables.problem import Problem, column_of
from disaggregate.tables.roles import Roles
from disaggregate.tables.words import plural, some


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
        Whether the people are a random sample of the group that the results speak of.
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
    for place, group in enumerate(of_results):
        if group in n_people:
            row = {name: float(values[place]) for name, values in numbers.items()}
            try:
                evidence[group] = _evidence(row, roles, n_people[group], confidence)
            except ValueError as error:
                refused[group] = str(error)
    problems += [Problem("error", "results", f"group {group!r}: {error}") for group, error in _first(refused)]
    return evidence, problems


def _evidence(row: dict[str, float], roles: Roles, n: int, confidence: float) -> Any:
    columns = roles.shares or roles.tallies
    told: dict[Hashable, float] = {name: row[name] for name in columns if not np.isnan(row[name])}
    if not told:
        return Unknown()
    chi = row[roles.confidence] if roles.confidence is not None else np.nan
    whole = 1.0
    if roles.tallies:
        total = row[roles.total] if roles.total is not None else np.nan
        whole = float(n) if np.isnan(total) else total
        if whole != n:
            raise ValueError(
                f"the results count {whole:g} people, but the table has {plural(n, 'person', 'people')} of this "
                "group; give shares instead of counts where the two are not the same people."
            )
    if roles.rest is not None and len(told) == len(columns):
        left = whole - sum(told.values())
        if left < -ROUNDING * whole:
            raise ValueError(
                f"the outcomes add up to {sum(told.values()):g} of {whole:g}, so that nothing is left for "
                f"{roles.rest!r}; correct them, or leave the rest out."
            )
        told[roles.rest] = max(left, 0.0)
    return Shares(told, confidence if np.isnan(chi) else chi) if roles.shares else Counts(_whole(told))


def _whole(told: dict[Hashable, float]) -> dict[Hashable, int]:
    return {name: int(count) for name, count in told.items()}


def _numbers(results: pd.DataFrame, roles: Roles) -> tuple[dict[str, np.ndarray], list[Problem]]:
    """Read the columns as numbers; shares are from 0 to 1, and counts whole."""
    numbers, problems = {}, []
    for role in ("shares", "tallies", "total", "confidence"):
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
    elif role in ("tallies", "total"):
        broken = ~np.isnan(values) & (values != np.rint(values))
        expected, wrong = "whole numbers of 0 or more", broken | (values < 0.0) | np.isinf(values)
    if wrong.any():
        names = groups[wrong].to_list()
        raise TableError(
            f"expected {expected}, got {values[wrong][0]:g} in group {names[0]!r} "
            f"({plural(len(names), 'group')}: {some(names)}); correct the value, or leave it empty."
        )


def _unsupported(roles: Roles, sampled: bool) -> list[Problem]:
    """Say what there is not yet for several outcomes."""
    wrong = [role for role in ("low", "high", "noise", "size", "weight", "replicates") if roles.names(role)]
    found = [f"{role} is not yet for several outcomes; leave it out." for role in wrong]
    if sampled:
        found.append(
            "people who are a sample of their group are not yet for several outcomes; leave sampled out if the "
            "shares of the sample are about those of the group, or fit each outcome by itself."
        )
    return [Problem("error", "results", message) for message in found]


def _repeated(ids: list[Hashable | None]) -> list[Problem]:
    repeated = [group for group, times in Counter(ids).items() if times > 1 and group is not None]
    if not repeated:
        return []
    return [Problem("error", "results", f"several rows for {some(repeated)}; keep one row per group.")]


def _first(refused: dict[Hashable, str], most: int = 3) -> list[tuple[Hashable, str]]:
    return list(refused.items())[:most]
