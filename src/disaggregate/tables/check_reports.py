"""Checks of what the groups report: it should be there, be readable, and be possible for the rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from disaggregate.tables.counts import n_people_by_group, sound_counts
from disaggregate.tables.evidence_columns import evidence_and_problems
from disaggregate.tables.ids import group_ids
from disaggregate.tables.kinds import numbers_of
from disaggregate.tables.messages import plural, some
from disaggregate.tables.problems import Problem, TableError, column_of
from disaggregate.tables.roles import Roles

# Digits that single precision, or a share worked out by a spreadsheet, can be trusted for.
_MOST_DIGITS, _EXACT = 6, 12


def report_problems(people: pd.DataFrame, results: pd.DataFrame, roles: Roles, sampled: bool) -> Iterator[Problem]:
    """Yield what is wrong with the reports of the groups.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual, or per cell with a count of people; one row per group.
    roles : Roles
        Roles of the columns.
    sampled : bool
        Whether the people are a random sample of the group that the results describe.
    """
    evidence, problems = evidence_and_problems(people, results, roles, sampled=sampled)
    yield from problems
    of_results = set(group_ids(people, results, roles.group)[1])
    silent = [group for group, known in evidence.items() if known.is_uninformative and group in of_results]
    if silent and not problems:
        is_all = all(known.is_uninformative for known in evidence.values())
        yield Problem(
            "error" if is_all else "warning",
            "results",
            f"{plural(len(silent), 'group')} with a row but no report: {some(silent)}; nothing is learned from "
            "them, but they get predictions.",
        )
    has_sizes = roles.count is None or sound_counts(people, roles) is not None
    if roles.confidence is None and not sampled and has_sizes:
        for name in roles.shares or roles.names("share"):
            yield from _impossible_shares(people, results, roles, name)


def could_be_counts(shares: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Find which shares are k / n of a whole number k, up to the digits that the shares are given to.

    Parameters
    ----------
    shares, sizes : ndarray of shape (n_groups,)
        Share and number of people of each group.
    """
    allowed = 0.5 * 10.0 ** -min(_digits(shares), _MOST_DIGITS) * (1.0 + 1e-6)
    return np.abs(np.rint(shares * sizes) / sizes - shares) <= allowed


def _digits(shares: np.ndarray) -> int:
    """Digits after the point of the share with most of them; zeros at the end of others are not written.

    Rounding errors of arithmetic do not count: 59.09 % of a spreadsheet is 0.5908999999999999.
    """
    texts = [np.format_float_positional(share, trim="-") for share in np.round(shares, _EXACT)]
    return max((len(text.partition(".")[2]) for text in texts), default=0)


def _impossible_shares(
    people: pd.DataFrame, results: pd.DataFrame, roles: Roles, column: str
) -> Iterator[Problem]:
    of_people, of_results = group_ids(people, results, roles.group)
    n_people = n_people_by_group(of_people, sound_counts(people, roles))
    try:
        shares = numbers_of(results[column])
    except TableError:
        return  # reported as an error already
    usable = np.array([group in n_people for group in of_results]) & (shares >= 0.0) & (shares <= 1.0)
    groups = [group for group, is_usable in zip(of_results, usable, strict=True) if is_usable]
    sizes = np.array([n_people[group] for group in groups], dtype=np.float64)
    possible = could_be_counts(shares[usable], sizes)
    wrong = [group for group, is_possible in zip(groups, possible, strict=True) if not is_possible]
    if wrong:
        n, share = n_people[wrong[0]], shares[usable][~possible][0]
        whom = "rows" if roles.count is None else "people"
        yield Problem(
            "advice",
            column_of("results", column),
            f"{plural(len(wrong), 'share')} of {len(groups)} cannot be a count of the {whom}: {some(wrong)} (no "
            f"whole number of {n} is {share:g}). If the people are a sample of their group, say so: sampled, "
            f"which is dg.evidence.{'PopulationShares' if roles.shares else 'Population'}.",
            "sampled",
        )
