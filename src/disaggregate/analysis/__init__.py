"""What an analyst needs: a fit of tables, rates of subgroups, effects, and what all of these depend on."""

from disaggregate.analysis.analysis import Analysis
from disaggregate.analysis.fit import fit_tables
from disaggregate.analysis.folders import fit_folder, predict_folder
from disaggregate.analysis.loading import load

__all__ = ["Analysis", "fit_folder", "fit_tables", "load", "predict_folder"]
