"""What an analyst needs: fits of tables, rates of subgroups, effects, sensitivity and privacy."""

from disaggregate.analysis.analysis import Analysis
from disaggregate.analysis.contrasts import contrast
from disaggregate.analysis.dependence import predictions
from disaggregate.analysis.effects import avg_comparisons, avg_slopes
from disaggregate.analysis.fit import fit_tables
from disaggregate.analysis.folders import fit_folder, predict_folder
from disaggregate.analysis.importance import permutation_importance
from disaggregate.analysis.loading import load
from disaggregate.analysis.sensitivity import subgroup_sensitivity

__all__ = [
    "Analysis",
    "avg_comparisons",
    "avg_slopes",
    "contrast",
    "fit_folder",
    "fit_tables",
    "load",
    "permutation_importance",
    "predict_folder",
    "predictions",
    "subgroup_sensitivity",
]
