"""The kinds of evidence, under their public name: ``disaggregate.evidence.Count(3)``."""

from disaggregate.groups.evidence import (
    AtLeast,
    AtMost,
    Between,
    Count,
    Evidence,
    Fraction,
    NoisyCount,
    Population,
    Survey,
    Unknown,
)

__all__ = [
    "AtLeast",
    "AtMost",
    "Between",
    "Count",
    "Evidence",
    "Fraction",
    "NoisyCount",
    "Population",
    "Survey",
    "Unknown",
]
