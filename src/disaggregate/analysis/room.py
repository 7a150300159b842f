"""Whether a disk has room for a model, before hours are spent on it."""

from __future__ import annotations

from numbers import Integral
from pathlib import Path
from typing import Any

from disaggregate.basis.centers import ALL_ROWS, LANDMARKS
from disaggregate.complete_file import require_room
from disaggregate.estimator import GroupStatsClassifier
from disaggregate.fitting.plan import fewest_bytes
from disaggregate.fitting.rounds import FIRST


def require_room_for_model(path: str | Path | None, classifier: GroupStatsClassifier, n_rows: int) -> None:
    """Raise OSError if the model that is to be fitted will not fit on the disk.

    Parameters
    ----------
    path : str, Path or None
        File that it is to be saved to; None if nobody has said.
    classifier : GroupStatsClassifier
        Not fitted yet.
    n_rows : int
        Rows of the fit.
    """
    if path is None or classifier.weights != "dense":
        return
    n_weights = _fewest_centers(classifier.centers, n_rows)
    n_draws = FIRST if isinstance(classifier.n_draws, str) else classifier.n_draws  # more, if these are not enough
    require_room(Path(path), fewest_bytes(classifier.n_chains * n_draws, n_weights))


def _fewest_centers(centers: Any, n_rows: int) -> int:
    """Say on how many points kernels will sit; with "auto" these are landmarks where there are many rows."""
    if isinstance(centers, str):
        return n_rows if centers == "all" or n_rows <= ALL_ROWS else LANDMARKS
    return min(int(centers) if isinstance(centers, Integral) else len(centers), n_rows)
