"""Fitting many models in a row: timed, with progress over them all."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from disaggregate.estimator import GroupStatsClassifier

Item = TypeVar("Item")


def fit_timed(settings: dict[str, Any], X: Any, y: Any, groups: Any = None) -> tuple[GroupStatsClassifier, float]:
    """Fit, and return the model with the seconds that it took.

    Convergence warnings are kept back: the tables show R-hat, and the sampler of 2005 seldom converges.

    Parameters
    ----------
    settings : dict
        Arguments of the classifier.
    X, y, groups
        As for :meth:`GroupStatsClassifier.fit`.
    """
    model = GroupStatsClassifier(**settings)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, groups=groups)
    return model, time.perf_counter() - started


def tracked(items: Iterable[Item], total: int, what: str, show: bool) -> Iterator[Item]:
    """Go through items under a progress bar on standard error."""
    from rich.console import Console
    from rich.progress import track

    return iter(track(items, total=total, description=what, console=Console(stderr=True), disable=not show))


def mean_and_spread(values: Any) -> str:
    """Mean and standard deviation, as text."""
    return f"{values.mean():.3f} ± {values.std(ddof=1):.3f}" if len(values) > 1 else f"{values.mean():.3f}"
