"""Valid values of settings: conditions, and the error that gives the expected and the actual value."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

# Upper bound against typos in the number of draws, chains or threads.
_TOO_MANY = 2**31


def require(sound: bool, name: str, expected: str, came: Any) -> None:
    """Raise ValueError that names a setting, unless it is sound.

    Parameters
    ----------
    sound : bool
        Whether it is.
    name, expected : str
        The setting, and what it must be.
    came : object
        What it is.
    """
    if not sound:
        raise ValueError(f"{name} must be {expected}; got {came!r}.")


def is_positive(value: Any) -> bool:
    """Accept a positive, finite number."""
    return is_number(value) and 0 < value < np.inf


def is_one_of(value: Any, *names: str) -> bool:
    """Accept one of some strings."""
    return isinstance(value, str) and value in names


def is_flag(value: Any) -> bool:
    """Accept True and False."""
    return isinstance(value, (bool, np.bool_))


def is_whole(value: Any, least: float) -> bool:
    """Accept a whole number of at least so much."""
    return isinstance(value, Integral) and is_number(value) and least <= value < _TOO_MANY


def is_number(value: Any) -> TypeGuard[float]:
    """Accept a number that a float can represent."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True
