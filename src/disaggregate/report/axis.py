"""Axes of figures: ends and ticks that are easy to read, and where a value lies between them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Axis:
    """From one value to another.

    Attributes
    ----------
    low, high : float
        Its ends.
    ticks : tuple of (float, str)
        Positions in per cent of its length, with what is written there.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def position(self, value: float) -> float:
        """Return where a value lies, in per cent of the length; never beyond the ends."""
        share = (value - self.low) / (self.high - self.low)
        return round(100.0 * min(max(share, 0.0), 1.0), 2)


def axis_over(values: Iterable[float], *, signed: bool = False, within: tuple[float, float] | None = None) -> Axis:
    """Make an axis of shares that holds all values.

    Parameters
    ----------
    values : iterable of float
        Shares, or differences of shares; what is not finite does not count.
    signed : bool, default=False
        Whether they are differences, written in points with their sign; zero is then on the axis.
    within : pair of float, optional
        Ends that it does not go beyond.
    """
    known = [value for value in values if math.isfinite(value)] + ([0.0] if signed else [])
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    step = _step(max(high - low, 0.02))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    if first == last:
        last += 1
    pad = 0.04 * max(high - low, 0.02)
    ends = [low - pad, high + pad]
    if not signed and low < step:
        ends[0] = 0.0
    if within is not None:
        ends = [max(ends[0], within[0]), min(ends[1], within[1])]
    if ends[1] - ends[0] < step:  # one tick would not say how long the axis is
        ends = [first * step, last * step]
    whole = abs(100.0 * step - round(100.0 * step)) < 1e-9
    ticks = []
    for number in range(first, last + 1):
        value = number * step
        if ends[0] - 1e-9 <= value <= ends[1] + 1e-9:
            position = round(100.0 * (value - ends[0]) / (ends[1] - ends[0]), 2)
            ticks.append((position, _written(value, whole, signed)))
    return Axis(ends[0], ends[1], tuple(ticks))


def _step(width: float) -> float:
    """Return the shortest of the round steps that divide the width into at most four."""
    power = 10.0 ** math.floor(math.log10(width / 4.0))
    return next(step * power for step in _STEPS if width / (step * power) <= 4.0 + 1e-9)


def _written(value: float, whole: bool, signed: bool) -> str:
    text = f"{100.0 * value + 0.0:{'+' if signed else ''}.{0 if whole else 1}f}"
    if float(text) == 0.0:
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}") + ("" if signed else "%")
