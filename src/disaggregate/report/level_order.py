"""The natural order of levels, where they have one: by their numbers, or as words of a scale."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
from pandas.api import types

# Scales as surveys write them. A level belongs to the first word that it begins with or holds.
_SCALES = (
    (
        *("no school", "none", "no hs", "less than high", "primary", "elementary", "hs or less", "high school"),
        *("hs", "secondary", "vocational", "some college", "2-year", "associate", "4-year", "college", "bachelor"),
        *("undergraduate", "graduate", "master", "post-grad", "postgrad", "doctor", "phd"),
    ),
    (
        *("never", "hardly", "rarely", "seldom", "only now", "sometimes", "some of the time", "often"),
        *("most of the", "always"),
    ),
    ("very low", "low", "lower", "medium", "middle", "mid", "high", "higher", "very high"),
    ("strongly disagree", "disagree", "neither", "neutral", "agree", "strongly agree"),
    ("very small", "small", "medium", "large", "very large"),
    ("young", "middle", "old"),
    ("poor", "fair", "good", "very good", "excellent"),
)
_LAST = ("other", "missing", "unknown", "don't know", "prefer not", "not sure", "refused", "no answer", "n/a")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_BELOW = re.compile(r"\b(less|under|below|up to|fewer|younger)\b|^\s*<", re.IGNORECASE)


def natural_order(column: Any, levels: Sequence[Any]) -> list[int] | None:
    """Return the indices of levels in their natural order; None where they have none.

    Parameters
    ----------
    column : Series
        The column that holds the levels: numbers, booleans and ordered categories have an order of their own.
    levels : sequence
        Its levels.
    """
    indices = range(len(levels))
    if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
        known = {level: index for index, level in enumerate(column.cat.categories)}
        return sorted(indices, key=lambda index: known.get(levels[index], len(known)))
    if types.is_bool_dtype(column.dtype):
        return None
    if types.is_numeric_dtype(column.dtype) or types.is_datetime64_any_dtype(column.dtype):
        return sorted(indices, key=lambda index: (pd.isna(levels[index]), levels[index]))
    texts = ["missing" if pd.isna(level) else str(level) for level in levels]
    keys = _by_number(texts) or _by_scale(texts)
    return None if keys is None else sorted(indices, key=keys.__getitem__)


def is_residual_level(level: Any) -> bool:
    """Return whether a level is for those who fit nowhere else."""
    return pd.isna(level) or str(level).strip().casefold().startswith(_LAST)


def _by_number(texts: Sequence[str]) -> list[tuple[bool, float, bool, float]] | None:
    """Key each text by its first number; "under 20" comes before "20 to 30"."""
    keys = []
    for text in texts:
        numbers = [float(number.replace(",", "")) for number in _NUMBER.findall(text)]
        if not numbers and not is_residual_level(text):
            return None
        below = bool(_BELOW.search(text))
        first = numbers[0] if numbers else 0.0
        keys.append((not numbers, first, not below, numbers[-1] if numbers else 0.0))
    return keys if sum(not key[0] for key in keys) > 1 else None


def _by_scale(texts: Sequence[str]) -> list[tuple[bool, int]] | None:
    for scale in _SCALES:
        found = [_word_of(text.casefold().strip(), scale) for text in texts]
        known = [index for index in found if index is not None]
        others = [text for text, index in zip(texts, found, strict=True) if index is None]
        if len(set(known)) == len(known) > 1 and all(map(is_residual_level, others)):
            return [(index is None, index or 0) for index in found]
    return None


def _word_of(text: str, scale: Sequence[str]) -> int | None:
    """Return the index of the longest word of a scale that a text begins with."""
    fitting = [index for index, word in enumerate(scale) if text.startswith(word)]
    return max(fitting, key=lambda index: len(scale[index])) if fitting else None
