"""Plots of results: each function takes results and returns matplotlib Axes."""

from disaggregate.plots.active import active_kernels
from disaggregate.plots.bands import effect_bands
from disaggregate.plots.calibration import calibration_plot
from disaggregate.plots.chains import chain_ranks, chain_traces
from disaggregate.plots.districts import group_scatter
from disaggregate.plots.forest import subgroup_forest
from disaggregate.plots.group_shares import group_shares
from disaggregate.plots.ladder import replica_swaps
from disaggregate.plots.outcome_bars import outcome_bars
from disaggregate.plots.surface import probability_surface
from disaggregate.plots.words import word_overlay

__all__ = [
    "active_kernels",
    "calibration_plot",
    "chain_ranks",
    "chain_traces",
    "effect_bands",
    "group_scatter",
    "group_shares",
    "outcome_bars",
    "probability_surface",
    "replica_swaps",
    "subgroup_forest",
    "word_overlay",
]
