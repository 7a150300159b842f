"""Loads saved models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from disaggregate.analysis.analysis import Analysis
from disaggregate.estimator import GroupStatsClassifier
from disaggregate.saving import read_saved


def load(path: str | Path) -> Any:
    """Read what :meth:`GroupStatsClassifier.save` or :meth:`Analysis.save` wrote; nothing in the file is run.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    GroupStatsClassifier or Analysis
        As it was saved.
    """
    return read_saved(path, GroupStatsClassifier, Analysis)
