"""What can be put right in two tables without asking their owner more than yes or no."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
from pandas.api import types

from disaggregate.tables.roles import Roles
from disaggregate.tables.words import plural


@dataclass(frozen=True)
class Mend:
    """Something that can be put right: a key to ask for it, and what it does in words."""

    key: str
    label: str


def offered_mends(people: pd.DataFrame, results: pd.DataFrame, roles: Roles) -> list[Mend]:
    """List what could be put right.

    Parameters
    ----------
    people, results : DataFrame
        The tables.
    roles : Roles
        Which column is what.
    """
    found = []
    if _is_percent(results, roles):
        found.append(Mend("percent", f"Divide column {roles.share!r} by 100: it holds percentages"))
    own, theirs = _ids(people[roles.group]), _ids(results[roles.group])
    if not own & theirs or len(own & theirs) < len(own):
        alike = {_plain(name) for name in own} & {_plain(name) for name in theirs}
        if len(alike) > len(own & theirs):
            found.append(
                Mend("ids", "Match group names apart from case, spaces and leading zeros, so that “01” is “1”")
            )
            own, theirs = {_plain(name) for name in own}, {_plain(name) for name in theirs}
    if own & theirs and own != theirs:
        found.append(
            Mend(
                "unmatched",
                f"Leave out {plural(len(own - theirs), 'group')} of people without a result and "
                f"{plural(len(theirs - own), 'result')} without people",
            )
        )
    return found


def mend(
    people: pd.DataFrame, results: pd.DataFrame, roles: Roles, keys: Iterable[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Put right what was asked for, and return both tables.

    Parameters
    ----------
    people, results : DataFrame
        The tables; they are left as they are.
    roles : Roles
        Which column is what.
    keys : iterable of str
        Keys of :func:`offered_mends`; others do nothing.
    """
    wanted = set(keys)
    group = roles.group
    if "percent" in wanted and roles.share is not None and _is_percent(results, roles):
        results = results.assign(**{roles.share: results[roles.share] / 100.0})
    if "ids" in wanted:
        written = {_plain(name): name for name in _ids(results[group])}
        results = results.assign(**{group: results[group].map(_text)})
        people = people.assign(**{group: [written.get(_plain(name), name) for name in people[group].map(_text)]})
    if "unmatched" in wanted:
        own, theirs = people[group].map(_text), results[group].map(_text)
        people = people[own.isin(set(theirs))].reset_index(drop=True)
        results = results[theirs.isin(set(own))].reset_index(drop=True)
    return people, results


def _is_percent(results: pd.DataFrame, roles: Roles) -> bool:
    if roles.share is None or not types.is_numeric_dtype(results[roles.share].dtype):
        return False
    known = results[roles.share].dropna()
    return bool(len(known) and (known >= 0).all() and (known <= 100).all() and (known > 1).any())


def _ids(column: pd.Series) -> set[str]:
    return set(column.dropna().map(_text))


def _text(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if pd.isna(value) else str(value)


def _plain(name: str) -> str:
    text = " ".join(name.split()).casefold()
    return text.lstrip("0") or text[:1]
