"""The sampler of 2005 as published: sparse Gaussian kernels, random-walk latent step, one chain, nothing tuned."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.exceptions import ConvergenceWarning

from disaggregate import GroupStatsClassifier, published_settings


class PublishedSampler:
    """The paper's priors, moves and numbers of draws; the width of the kernel is scikit-learn's "scale"."""

    name = "published sampler"

    def fit(self, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> PublishedSampler:
        """Fit, whatever the verdict of the diagnostics."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_ = GroupStatsClassifier(**published_settings(), random_state=0).fit(
                X, shares, groups=groups
            )
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Positive for the positive class."""
        return ndtri(np.clip(self.probability(X), 1e-12, 1.0 - 1e-12))

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of the positive class."""
        return self.model_.predict_proba(X)[:, 1]
