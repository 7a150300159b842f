"""Group ids of the two tables, made comparable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from numbers import Real

import pandas as pd

from disaggregate.groups.forms import is_missing
from disaggregate.tables.kinds import text_of

Ids = list[Hashable | None]

_BLANKS = re.compile(r"\s+")
_WHOLE = re.compile(r"0*(\d+)(?:\.0*)?")


def group_ids(people: pd.DataFrame, results: pd.DataFrame, group: str) -> tuple[Ids, Ids]:
    """Group id of each row of people and of results, None where it is missing.

    Where one table has numbers and the other text, as when "7A" occurs in only one of them, the numbers are
    written as text.

    Parameters
    ----------
    people, results : DataFrame
        One row per individual; one row per group.
    group : str
        Name of the column with the ids.
    """
    of_people, of_results = _ids(people[group]), _ids(results[group])
    if _all(Real, of_people) and _all(str, of_results):
        return _as_text(of_people), of_results
    if _all(str, of_people) and _all(Real, of_results):
        return of_people, _as_text(of_results)
    return of_people, of_results


def ids_like(column: pd.Series, names: Sequence[Hashable]) -> Ids:
    """Group id of each row, None where it is missing, spelt as a known name where only one is spelt like it.

    Numbers become text where known names are text.

    Parameters
    ----------
    column : Series
        Ids of a table.
    names : sequence of hashable
        Ids that are known already.
    """
    ids = _ids(column)
    ids = _as_text(ids) if _all(str, list(names)) and _all(Real, ids) else ids
    known = set(names)
    strange = {name for name in ids if name is not None and name not in known}
    if not strange:
        return ids
    known_by_spelling = by_spelling(names)
    candidates = {name: known_by_spelling.get(spelling(name), []) for name in strange}
    meant = {name: found[0] for name, found in candidates.items() if len(found) == 1}
    return [meant.get(name, name) for name in ids]


def spelling(name: Hashable) -> str:
    """Return a name without what people write in several ways: capitals, blanks, zeros in front.

    Parameters
    ----------
    name : hashable
        Of a group.
    """
    text = _BLANKS.sub(" ", unicodedata.normalize("NFKC", str(name))).strip().casefold()
    whole = _WHOLE.fullmatch(text)
    return whole[1].lstrip("0") or "0" if whole else text


def by_spelling(names: Iterable[Hashable]) -> dict[str, list[Hashable]]:
    """Collect the names that have the same spelling.

    Parameters
    ----------
    names : iterable of hashable
        Of groups.
    """
    found: dict[str, list[Hashable]] = {}
    for name in names:
        found.setdefault(spelling(name), []).append(name)
    return found


def _ids(column: pd.Series) -> Ids:
    return [None if is_missing(value) else value for value in column.to_list()]


def _all(kind: type, ids: Ids) -> bool:
    return all(isinstance(name, kind) and not isinstance(name, bool) for name in ids if name is not None)


def _as_text(ids: Ids) -> Ids:
    return [None if name is None else text_of(name) for name in ids]
