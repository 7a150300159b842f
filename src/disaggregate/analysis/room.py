"""Whether a disk has room for a model, before hours are spent on it."""

from __future__ import annotations

from pathlib import Path

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
    centers = classifier.centers
    given = n_rows if isinstance(centers, str) else centers if isinstance(centers, int) else len(centers)
    n_weights = 0 if isinstance(centers, str) and centers != "all" else min(int(given), n_rows)
    n_draws = FIRST if isinstance(classifier.n_draws, str) else classifier.n_draws  # more, if these are not enough
    require_room(Path(path), fewest_bytes(classifier.n_chains * n_draws, n_weights))
