"""Rivals for more than two outcomes: a ``name``, ``fit(X, shares, groups, labels)`` and ``probability(X)`` each.

``shares`` is a dataframe of groups by outcomes; only the ceiling looks at ``labels``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from benchmarks.rivals.oracle import Oracle
from disaggregate import GroupStatsClassifier
from disaggregate.evidence import Counts
from disaggregate.groups.outcomes import group_outcomes
from disaggregate.model.outcome_reports import make_outcome_reports
from disaggregate.model.outcomes import UNIT, contrasts, scores_of
from disaggregate.sampler.compiled.outcomes import replica_gradients

N_FOLDS = 3


class OurOutcomes:
    """The classifier, all outcomes at once."""

    name = "disaggregate"

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    def fit(self, X: np.ndarray, shares: pd.DataFrame, groups: np.ndarray, labels: np.ndarray) -> Self:
        """Fit to the shares of all outcomes."""
        self._model = quietly_fitted(self.settings, X, shares, groups)
        self.rhat_ = self._model.diagnostics_.worst_rhat
        return self

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of each outcome."""
        return self._model.predict_proba(X)


class OneAgainstRest:
    """The classifier of two outcomes, once per outcome against all others; probabilities divided by their sum."""

    name = "disaggregate, one against rest"

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    def fit(self, X: np.ndarray, shares: pd.DataFrame, groups: np.ndarray, labels: np.ndarray) -> Self:
        """Fit to the share of each outcome by itself."""
        self._models = [
            quietly_fitted(self.settings, X, shares[outcome].to_dict(), groups) for outcome in shares.columns
        ]
        self.rhat_ = max(model.diagnostics_.worst_rhat for model in self._models)
        return self

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of each outcome."""
        each = np.column_stack([model.predict_proba(X)[:, 1] for model in self._models]).clip(1e-12)
        return each / each.sum(axis=1, keepdims=True)


def quietly_fitted(settings: Mapping[str, Any], X: np.ndarray, y: Any, groups: np.ndarray) -> Any:
    """Fit the classifier without warnings of short chains."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return GroupStatsClassifier(**{"random_state": 0, **settings}).fit(X, y, groups=groups)


class _Tuned:
    """Chooses one setting by the error of the shares of groups that were left out."""

    settings: tuple[float, ...] = ()

    def fit(self, X: np.ndarray, shares: pd.DataFrame, groups: np.ndarray, labels: np.ndarray) -> Self:
        """Choose the setting, and fit."""
        fold = pd.Series(np.arange(len(shares)) % N_FOLDS, shares.index)[groups].to_numpy()
        errors = []
        for setting in self.settings:
            error = 0.0
            for number in range(min(N_FOLDS, len(shares))):
                kept = fold != number
                found = self.fit_one(setting, X[kept], shares, groups[kept])
                reported = pd.DataFrame(self.chances(found, X[~kept])).groupby(groups[~kept]).mean()
                error += float(np.abs(reported.to_numpy() - shares.loc[reported.index].to_numpy()).sum())
            errors.append(error)
        self.setting_ = self.settings[int(np.argmin(errors))]
        self._found = self.fit_one(self.setting_, X, shares, groups)
        return self

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of each outcome."""
        return self.chances(self._found, X)

    def fit_one(self, setting: float, X: np.ndarray, shares: pd.DataFrame, groups: np.ndarray) -> np.ndarray:
        """Fit with one setting; return the parameters."""
        raise NotImplementedError

    def chances(self, parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Probability of each outcome for some parameters."""
        raise NotImplementedError


class OutcomeMeanMap(_Tuned):
    """Mean map (Quadrianto et al., 2008): class means from group means, then softmax regression on them."""

    name = "mean map"
    settings = tuple(10.0 ** np.arange(-4, 2))

    def fit_one(self, setting: float, X: np.ndarray, shares: pd.DataFrame, groups: np.ndarray) -> np.ndarray:
        """Fit with one penalty."""
        features = np.column_stack([X, np.ones(len(X))])
        table = pd.DataFrame(features).groupby(groups)
        means, sizes = table.mean(), table.size().to_numpy()
        mix, root = shares.loc[means.index].to_numpy(), np.sqrt(sizes)[:, None]
        class_means = np.linalg.lstsq(mix * root, means.to_numpy() * root, rcond=None)[0]
        moment = np.average(mix, axis=0, weights=sizes)[:, None] * class_means

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            theta = flat.reshape(moment.shape)
            logits = features @ theta.T
            normaliser = np.mean(logits[:, 0] - log_softmax(logits, axis=1)[:, 0])
            slope = softmax(logits, axis=1).T @ features / len(X) - moment + setting * theta
            return normaliser - np.sum(theta * moment) + 0.5 * setting * np.sum(theta**2), slope.ravel()

        return minimize(loss, np.zeros(moment.size), jac=True, method="L-BFGS-B").x.reshape(moment.shape)

    def chances(self, parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Softmax of linear scores."""
        return softmax(np.column_stack([X, np.ones(len(X))]) @ parameters.T, axis=1)


class CountNetwork(_Tuned):
    """A network of one hidden layer, trained on the exact likelihood of the groups' count vectors."""

    name = "network on the count loss"
    settings = (0.01, 0.1, 1.0)
    n_hidden = 16

    def fit_one(self, setting: float, X: np.ndarray, shares: pd.DataFrame, groups: np.ndarray) -> np.ndarray:
        """Fit with one penalty on the squares of the weights."""
        self._shape = X.shape[1] + 1, shares.shape[1]
        sizes = pd.Series(groups).value_counts()
        evidence = {
            group: Counts({k: round(v) for k, v in enumerate(shares.loc[group] * n)}) for group, n in sizes.items()
        }
        data = group_outcomes(groups.tolist(), evidence, tuple(range(shares.shape[1])))
        reports, contrast = make_outcome_reports(data), contrasts(shares.shape[1])
        features = np.column_stack([X, np.ones(len(X))])[data.order]

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            first, second = self._layers(flat)
            hidden = np.tanh(features @ first)
            padded = np.column_stack([hidden, np.ones(len(hidden))])
            scores = np.ascontiguousarray(scores_of(padded @ second).T[None])
            value, by_score = np.empty((1, len(data.names))), np.empty_like(scores)
            replica_gradients(reports, contrast, scores, value, by_score)
            by_logit = by_score[0].T @ contrast / UNIT
            by_hidden = (by_logit @ second[:-1].T) * (1.0 - hidden**2)
            slope = np.concatenate([(features.T @ by_hidden).ravel(), (padded.T @ by_logit).ravel()])
            return 0.5 * setting * flat @ flat - value.sum(), setting * flat - slope

        size = self._shape[0] * self.n_hidden + (self.n_hidden + 1) * self._shape[1]
        start = 0.3 * np.random.default_rng(0).standard_normal(size)
        return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x

    def chances(self, parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Softmax of the last layer."""
        first, second = self._layers(parameters)
        hidden = np.tanh(np.column_stack([X, np.ones(len(X))]) @ first)
        return softmax(np.column_stack([hidden, np.ones(len(hidden))]) @ second, axis=1)

    def _layers(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_features, n_outcomes = self._shape
        cut = n_features * self.n_hidden
        return flat[:cut].reshape(n_features, -1), flat[cut:].reshape(self.n_hidden + 1, n_outcomes)


class OutcomeCeiling:
    """Supervised learning on the labels that nobody else sees."""

    name = Oracle.name

    def fit(self, X: np.ndarray, shares: pd.DataFrame, groups: np.ndarray, labels: np.ndarray) -> Self:
        """Fit to the labels."""
        self._oracle = Oracle().fit(X, pd.Series(dtype=float), groups, labels=labels)
        return self

    def probability(self, X: np.ndarray) -> np.ndarray:
        """Probability of each outcome."""
        return self._oracle._model.predict_proba(X)
