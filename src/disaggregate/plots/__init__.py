"""The ways in which results are drawn: each takes results and returns matplotlib Axes."""

from disaggregate.plots.districts import group_scatter
from disaggregate.plots.surface import probability_surface
from disaggregate.plots.words import word_overlay

__all__ = ["group_scatter", "probability_surface", "word_overlay"]
