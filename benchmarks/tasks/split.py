"""One thing to learn and to be judged on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Split:
    """Training individuals in groups, and individuals to judge by.

    Attributes
    ----------
    task : str
        Name of the data.
    size : int
        Size of the groups; 0 where they are what they are.
    seed, fold : int
        Which split of the data.
    X, groups : ndarray
        Standardised features and group of each training individual.
    shares : Series
        Reported share of each group.
    labels : ndarray of 0 and 1
        For the supervised ceiling only.
    X_test, y_test : ndarray
        Individuals left out, and their labels.
    evidence : dict, optional
        What is known of each group, for methods that take more than shares.
    settings : dict, optional
        Defaults of ours for data of this kind, where they are not those of the classifier.
    """

    task: str
    size: int
    seed: int
    fold: int
    X: np.ndarray
    groups: np.ndarray
    shares: pd.Series
    labels: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    evidence: dict[Any, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int, int, int]:
        """What tells it from all other splits."""
        return self.task, self.size, self.seed, self.fold
