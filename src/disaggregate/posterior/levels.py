"""Levels of credible intervals."""

from __future__ import annotations

from numbers import Real


def interval_ends(level: float) -> tuple[float, float]:
    """Return the probabilities below the two ends of the central interval that holds this probability."""
    if not (isinstance(level, Real) and 0.0 < level < 1.0):
        raise ValueError(f"level must lie between 0 and 1, such as 0.9; got {level!r}.")
    return 0.5 - level / 2.0, 0.5 + level / 2.0
