"""What the adapters have in common: choose a setting on group error, fit it, link its scores to probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from benchmarks.rivals.group_folds import Fit, best_setting, left_out_scores
from benchmarks.rivals.link import fit_link


class TunedRival:
    """A rival that is a function of one setting.

    Attributes
    ----------
    name : str
        Its row in the tables.
    settings : sequence
        What to choose from.
    fit_one : callable
        Takes a setting and data; returns a decision function.
    """

    name: ClassVar[str]
    settings: ClassVar[Sequence[Any]]
    fit_one: ClassVar[Fit]

    def fit(self, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Self:
        """Choose the setting and fit."""
        self.setting_ = best_setting(self.settings, self.fit_one, X, shares, groups)
        self._decide = self.fit_one(self.setting_, X, shares, groups)
        # Also where a rival has probabilities of its own: its setting was chosen for the signs of its scores, not
        # for their size, and those probabilities are often far too sure or too shy.
        self._link = fit_link(left_out_scores(self.setting_, self.fit_one, X, shares, groups), shares, groups)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Positive for the positive class."""
        return self._decide(X)

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of the positive class."""
        return self._link(self._decide(X))
