"""The numbers in a report, checked when it is made."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any, TypeGuard

# Beyond it sums of whole numbers overflow.
_LARGEST_COUNT = 2**62


def share_of(kind: str, value: Any) -> float:
    """Return a share from 0 to 1 as a float, or say what the kind of evidence expects."""
    if is_number(value) and 0.0 <= float(value) <= 1.0:
        return float(value)
    percent = " (divide a percentage by 100)" if is_number(value) and 1.0 < float(value) <= 100.0 else ""
    raise ValueError(f"{kind} expects a share from 0 to 1, got {value!r}{percent}.")


def whole_number(kind: str, name: str, value: Any) -> int:
    """Return a whole number of 0 or more, or say what the kind of evidence expects."""
    if is_number(value) and float(value).is_integer() and 0 <= value <= _LARGEST_COUNT:
        return int(value)
    raise ValueError(f"{kind} expects {name} to be a whole number of 0 or more, got {value!r}.")


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether this is a number; True and False are labels, not numbers."""
    if not isinstance(value, (Real, Decimal)) or isinstance(value, bool):
        return False
    try:
        float(value)
    except (OverflowError, ValueError):  # beyond the range of floats, or a signalling NaN
        return False
    return True


def confidence_of(kind: str, value: Any) -> float:
    """Return a confidence of 0 or more as a float, or say what the kind of evidence expects."""
    if is_number(value) and float(value) >= 0.0:
        return float(value)
    raise ValueError(
        f"{kind} expects a confidence of 0 or more, got {value!r}; use 0 for a report that says nothing and "
        "infinity for one that is exact."
    )


def require_whole_population(kind: str, size: int | None, n: int) -> None:
    """Refuse a population that is smaller than its sample."""
    if size is not None and size < n:
        raise ValueError(
            f"{kind}(size={size}) expects at least as many people as its {n} sampled members; "
            "give the size of the whole group, or leave it out."
        )


def set_fields(evidence: Any, **values: Any) -> None:
    """Keep plain Python numbers, so that equal reports are equal objects whatever type they had."""
    for name, value in values.items():
        object.__setattr__(evidence, name, value)
