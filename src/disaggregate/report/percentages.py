"""Shares in per cent and differences in points, with the digits that their intervals are worth."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
_MOST_DIGITS = 3


def digits_of(low: float, high: float) -> int:
    """Return digits after the point of per cents: none where the interval reaches over two points or more."""
    half = 50.0 * (high - low)
    if not math.isfinite(half) or half >= 1.0:
        return 0
    return _MOST_DIGITS if half <= 0.0 else min(_MOST_DIGITS, math.ceil(-math.log10(half)))


def share(value: float, low: float, high: float) -> tuple[str, str]:
    """Write a share and its interval, such as "45%" and "41-49%"."""
    digits = digits_of(low, high)
    ends = [_below_and_above(end, digits) for end in (low, high)]
    return f"{_below_and_above(value, digits)}%", f"{ends[0]}{DASH}{ends[1]}%"


def points(value: float, low: float, high: float) -> tuple[str, str]:
    """Write a difference of shares and its interval in points, such as "+12" and "+3 to +21"."""
    digits = digits_of(low, high)
    written = [_signed(100.0 * number, digits) for number in (value, low, high)]
    return written[0], f"{written[1]} to {written[2]}"


def plain(value: float) -> str:
    """Write a share that has no interval."""
    return f"{100.0 * value:.1f}%"


def level_in_words(level: float) -> str:
    """Write the level of an interval, such as 90% or 99.9%."""
    return f"{100.0 * level:g}%"


def _below_and_above(value: float, digits: int) -> str:
    """Write a share so that what is not nothing, or not everything, does not seem to be."""
    least = 10.0**-digits
    per_cent = 100.0 * value
    if 0.0 < per_cent < least / 2.0:
        return f"<{least:.{digits}f}"
    if 100.0 - least / 2.0 < per_cent < 100.0:
        return f">{100.0 - least:.{digits}f}"
    return f"{per_cent:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0.0 else text.replace("-", MINUS)
