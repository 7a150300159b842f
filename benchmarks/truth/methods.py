"""Ours and its rivals on tables: one adapter each, all with ``fit`` and ``predict``."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import disaggregate as dg
from benchmarks.rivals.em_logistic import EMLogistic
from benchmarks.rivals.mean_map import MeanMap
from benchmarks.truth.cells import AREA, KIND
from benchmarks.truth.encoding import Encoder, single_people
from benchmarks.truth.margins import RivalOnMargins
from benchmarks.truth.pyei_rival import PyEIRowsByColumns, PyEITwoByTwo
from benchmarks.truth.r_rivals import Eco, EcoWithContext, EiPack
from benchmarks.truth.scores import Prediction
from benchmarks.truth.task import COUNT, Task, people_per_row

MOST_DRAWS = 1_000
BLOCK = 2_000  # rows that are predicted at once
SHORT = {"n_chains": 2, "n_draws": 500, "n_burn": 250}
SHORTEST = {"n_chains": 2, "n_draws": 120, "n_burn": 60}
MANY_AREAS, MANY_ROWS = 500, 5_000  # a sweep of more takes a tenth of a second or longer


class Ours:
    """`fit_tables` with its defaults, or with other settings."""

    name: ClassVar[str] = "disaggregate"
    settings: ClassVar[dict[str, Any]] = {}

    def fit(self, task: Task) -> Self:
        """Fit to the tables."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            settings = {"random_state": task.seed, **self.settings_for(task)}
            self.analysis_ = dg.fit_tables(task.people, task.results, settings=settings, **task.roles)
        return self

    def settings_for(self, task: Task) -> dict[str, Any]:
        """Return the settings for a task."""
        return self.settings

    def predict(self, judges: pd.DataFrame) -> Prediction:
        """Average and thin the draws; those of cells are given what their area reports."""
        if COUNT in judges:
            return self._of_cells(judges)
        table = self.analysis_.read(judges)
        blocks = [table.iloc[start : start + BLOCK] for start in range(0, len(table), BLOCK)]
        draws = [self.analysis_.predict_draws(block).reshape(-1, len(block)) for block in blocks]
        kept = np.linspace(0, len(draws[0]) - 1, min(len(draws[0]), MOST_DRAWS)).astype(int)
        mean = np.concatenate([block.mean(axis=0) for block in draws])
        return Prediction(mean, np.concatenate([block[kept] for block in draws], axis=1))

    def _of_cells(self, judges: pd.DataFrame) -> Prediction:
        found = self.analysis_.subgroup_draws(judges, [AREA, KIND], outcomes=True)
        where = found.keys.reset_index().set_index([AREA, KIND])["index"]
        drawn = found.draws[:, where.loc[list(zip(judges[AREA], judges[KIND], strict=True))].to_numpy()]
        kept = np.linspace(0, len(drawn) - 1, min(len(drawn), MOST_DRAWS)).astype(int)
        return Prediction(drawn.mean(axis=0), drawn[kept], of_these_people=True)

    @property
    def rhat(self) -> float:
        """How far chains are from agreement."""
        return float(self.analysis_.classifier.diagnostics_.worst_rhat)


class OursLinear(Ours):
    """A linear kernel and shorter chains."""

    name = "disaggregate, linear kernel"
    settings: ClassVar[dict[str, Any]] = {"kernel": "linear", **SHORT}

    def settings_for(self, task: Task) -> dict[str, Any]:
        """Run fewer sweeps where there are many areas or rows."""
        is_large = len(task.results) > MANY_AREAS or len(task.people) > MANY_ROWS
        return {**self.settings, **(SHORTEST if is_large else {})}


class OursCells(OursLinear):
    """The same, where rates of cells lie around what features and place say."""

    name = "disaggregate, linear kernel, cells vary"
    settings: ClassVar[dict[str, Any]] = {
        **OursLinear.settings,
        "prior": dg.GaussianProcess(emphasis=1.0, cells=True),
    }


class OursAveraged(OursLinear):
    """The same, averaged over kernels by how probable each makes the reports."""

    name = "disaggregate, kernels averaged"
    settings: ClassVar[dict[str, Any]] = {**OursLinear.settings, "kernel": "average"}


class OursQuick(Ours):
    """The shortest chains that show whether it runs."""

    settings: ClassVar[dict[str, Any]] = {"kernel": "linear", "n_chains": 2, "n_draws": 50, "n_burn": 50}


class BaseRate:
    """The share of all areas together, for everybody."""

    name: ClassVar[str] = "base rate"

    def fit(self, task: Task) -> Self:
        """Average the shares by the size of the areas."""
        self._rate = task.base_rate
        return self

    def predict(self, judges: pd.DataFrame) -> Prediction:
        """Repeat it."""
        return Prediction(np.full(len(judges), self._rate))


class AreaShare:
    """The share of the area, for everybody in it."""

    name: ClassVar[str] = "share of the area"

    def fit(self, task: Task) -> Self:
        """Look it up."""
        self._group, self._shares, self._rate = task.roles["group"], task.shares, task.base_rate
        return self

    def predict(self, judges: pd.DataFrame) -> Prediction:
        """Repeat it; areas without a report have the base rate."""
        return Prediction(judges[self._group].map(self._shares).fillna(self._rate).to_numpy(dtype=float))


class Goodman:
    """Least squares of area shares on area means, read as probabilities of people (Goodman, 1953).

    Intervals are those of the usual normal law of the coefficients.
    """

    name: ClassVar[str] = "Goodman's regression"
    bounds: ClassVar[tuple[float, float]] = (0.01, 0.99)  # a probability of 0 may have an infinite log loss

    def fit(self, task: Task) -> Self:
        """Regress."""
        self._encode = Encoder(task)
        X, people = self._encode(task.people), people_per_row(task.people)
        sums = pd.DataFrame(X * people[:, None]).groupby(task.groups).sum()
        n = pd.Series(people).groupby(task.groups).sum()
        means = np.column_stack([sums.to_numpy() / n.to_numpy()[:, None], np.ones(len(n))])
        share = task.shares[sums.index].to_numpy()
        self._coefficients, _, rank, _ = np.linalg.lstsq(means, share, rcond=None)
        residual = share - means @ self._coefficients
        variance = residual @ residual / max(len(share) - rank, 1)
        self._covariance = variance * np.linalg.pinv(means.T @ means)
        return self

    def predict(self, judges: pd.DataFrame) -> Prediction:
        """Fitted values, kept between 0 and 1."""
        X = np.column_stack([self._encode(judges), np.ones(len(judges))])
        rng = np.random.default_rng(0)
        drawn = rng.multivariate_normal(self._coefficients, self._covariance, MOST_DRAWS, method="eigh")
        return Prediction((X @ self._coefficients).clip(*self.bounds), (drawn @ X.T).clip(0.0, 1.0))


class _OfSinglePeople:
    """A rival that takes features, shares and groups of single people; cells are given to it as some of each."""

    name: ClassVar[str]
    rival: ClassVar[Any]
    per_area: ClassVar[int] = 40

    def fit(self, task: Task) -> Self:
        """Encode and fit."""
        self._encode = Encoder(task)
        rows = single_people(task, self._encode(task.people), self.per_area)
        self._model = self.rival().fit(rows.X, task.shares, rows.groups)
        return self

    def predict(self, judges: pd.DataFrame) -> Prediction:
        """Predict probabilities."""
        return Prediction(self._model.probability(self._encode(judges)))


class MeanMapOnTables(_OfSinglePeople):
    """Mean map."""

    name, rival = MeanMap.name, MeanMap


class EMOnTables(_OfSinglePeople):
    """EM with logistic regression."""

    name, rival = EMLogistic.name, EMLogistic


class Supervised:
    """The ceiling: logistic regression on the labels of the same rows, which nobody else sees."""

    name: ClassVar[str] = "supervised on the same rows (sees labels)"
    penalties: ClassVar[dict[str, np.ndarray]] = {"C": 10.0 ** np.arange(-4, 2)}

    def fit(self, task: Task) -> Self:
        """Choose the penalty by the log loss of rows left out; a cell counts by its positives and the others."""
        self._encode = Encoder(task)
        X, people = self._encode(task.people), people_per_row(task.people)
        weight = np.concatenate([people * task.labels, people * (1.0 - task.labels)])
        some = weight > 0.0
        X, y = np.tile(X, (2, 1))[some], np.repeat([1, 0], len(X))[some]
        search = GridSearchCV(
            LogisticRegression(max_iter=1000),
            self.penalties,
            scoring="neg_log_loss",
            cv=StratifiedKFold(5, shuffle=True, random_state=0),
        )
        self._model = search.fit(X, y, sample_weight=weight[some] / weight[some].mean())
        return self

    def predict(self, judges: pd.DataFrame) -> Prediction:
        """Predict probabilities."""
        return Prediction(self._model.predict_proba(self._encode(judges))[:, 1])


BUILT_IN = (BaseRate, AreaShare, Goodman, MeanMapOnTables, EMOnTables, Supervised)
PACKAGES = (PyEITwoByTwo, PyEIRowsByColumns, EiPack, Eco, EcoWithContext)  # RivalMissing where not installed
METHODS = {method.name: method for method in (Ours, OursLinear, OursAveraged, OursCells, *BUILT_IN, *PACKAGES)}
QUICK_METHODS = {method.name: method for method in (OursQuick, *BUILT_IN)}


def applies_to(method: type, task: Task) -> bool:
    """Whether a method can take a task at all."""
    if issubclass(method, OursCells):
        return COUNT in task.people
    return not issubclass(method, RivalOnMargins) or method.applies_to(task)
