"""Plots and reports of an analysis, which are in folders above this one.

They are loaded by their name when they are first used, as pandas loads what draws its plots. So an analysis can
offer them, and its own folder can be read, and installed, without them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "plots": ("disaggregate.plots.analysis_plots", "AnalysisPlots"),
    "report": ("disaggregate.report.page", "Report"),
}


def view(name: str) -> Any:
    """Return the class that shows an analysis in this way.

    Parameters
    ----------
    name : {"plots", "report"}
        Which one.
    """
    module, attribute = _WHERE[name]
    return getattr(import_module(module), attribute)
