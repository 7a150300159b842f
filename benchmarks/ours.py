"""The classifier as the benchmarks run it: whatever the verdict, which the tables show by its worst R-hat."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import ndtri
from sklearn.exceptions import ConvergenceWarning

from disaggregate import GroupStatsClassifier


class Ours:
    """The classifier with its defaults, or with other settings."""

    name: ClassVar[str] = "disaggregate"
    settings: ClassVar[dict[str, Any]] = {}

    def __init__(self, defaults: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.defaults = defaults

    def fit(self, X: np.ndarray, known: Any, groups: np.ndarray) -> Self:
        """Fit to shares or other evidence on groups."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_ = GroupStatsClassifier(**{"random_state": 0, **self.defaults, **self.settings})
            self.model_.fit(X, known, groups=groups)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Positive for the positive class."""
        return ndtri(np.clip(self.probability(X), 1e-12, 1.0 - 1e-12))

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of the positive class."""
        return self.model_.predict_proba(X)[:, 1]
