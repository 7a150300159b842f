"""Checks, before a fit, that the disk has room for the model."""

from __future__ import annotations

from numbers import Integral
from pathlib import Path
from typing import Any

from disaggregate.basis.centers import ALL_ROWS, LANDMARKS
from disaggregate.estimator import GroupStatsClassifier
from disaggregate.fitting.plan import fewest_bytes
from disaggregate.posterior.stopping import FIRST
from disaggregate.settings import is_sparse
from disaggregate.storage.atomic_files import require_disk_space


def require_disk_space_for_model(path: str | Path | None, classifier: GroupStatsClassifier, n_rows: int) -> None:
    """Raise OSError if the model that is to be fitted will not fit on the disk.

    Parameters
    ----------
    path : str, Path or None
        File that it is to be saved to; None if that is not known.
    classifier : GroupStatsClassifier
        Not fitted yet.
    n_rows : int
        Rows of the fit.
    """
    if path is None or is_sparse({"prior": classifier.prior}):
        return
    n_weights = _fewest_centers(classifier.centers, n_rows)
    n_draws = FIRST if isinstance(classifier.n_draws, str) else classifier.n_draws  # more, if these are not enough
    require_disk_space(Path(path), fewest_bytes(classifier.n_chains * n_draws, n_weights))


def _fewest_centers(centers: Any, n_rows: int) -> int:
    """Say on how many points kernels will sit; with "auto" these are landmarks where there are many rows."""
    if isinstance(centers, str):
        return n_rows if centers == "all" or n_rows <= ALL_ROWS else LANDMARKS
    return min(int(centers) if isinstance(centers, Integral) else len(centers), n_rows)
