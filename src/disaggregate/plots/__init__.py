"""The ways in which results are drawn: each takes results and returns matplotlib Axes."""

from disaggregate.plots.districts import group_scatter
from disaggregate.plots.surface import probability_surface

__all__ = ["group_scatter", "probability_surface"]
