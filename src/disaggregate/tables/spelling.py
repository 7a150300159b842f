"""What is the same in two spellings of a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable

_BLANKS = re.compile(r"\s+")
_WHOLE = re.compile(r"0*(\d+)(?:\.0*)?")


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
