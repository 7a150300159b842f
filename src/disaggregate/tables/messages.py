"""Words for messages: a few names out of many, and the name that was probably meant."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Iterable
from typing import Any

_SHOWN = 5


def some(names: Collection[Any]) -> str:
    """List the first names, and say how many more there are."""
    shown = ", ".join(shown_name(name) for name in list(names)[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def shown_name(name: Any) -> str:
    """Write a name as Python does, but with codes for accents that are stored apart from their letter.

    On a screen such a name looks like one whose letters hold their accents.
    """
    text = repr(name)
    if not isinstance(name, str) or unicodedata.is_normalized("NFC", name):
        return text
    return "".join(f"\\u{ord(one):04x}" if unicodedata.combining(one) else one for one in text)


def nearest(name: Any, names: Iterable[Any]) -> Any | None:
    """Return the one of ``names`` that is spelt most like ``name``, capitals and blanks apart; None if none is."""
    by_spelling = {_spelling(known): known for known in names}
    found = difflib.get_close_matches(_spelling(name), by_spelling, n=1)
    return by_spelling[found[0]] if found else None


def did_you_mean(name: Any, names: Collection[Any], otherwise: str | None = None) -> str:
    """End a message about a name that is not there: with the one that was probably meant, or with all.

    Parameters
    ----------
    name : str
        The name that was given.
    names : collection
        What there is.
    otherwise : str, optional
        What to say where none is like it; the first names by default.
    """
    meant = nearest(name, names)
    if meant is not None:
        return f"did you mean {shown_name(meant)}?"
    return otherwise or f"there are {some(names)}."


def plural(number: int, one: str, many: str | None = None) -> str:
    """Write a number with its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def _spelling(name: Any) -> str:
    return unicodedata.normalize("NFC", str(name)).strip().casefold()
