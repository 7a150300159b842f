"""Supervised learning: the system of 2002, groups of one, beside two classifiers of scikit-learn."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_wine, make_moons
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from disaggregate.experiments.fits import fit_timed, mean_and_spread, tracked
from disaggregate.experiments.outcome import Outcome, Scope
from disaggregate.plots.canvas import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_FOLDS = 5
LEAST_PROBABILITY = 1e-6
SVC_GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": ["scale", 0.01, 0.1, 1.0]}

TEXT = """\
Every individual is a group of one whose label is known: the kernel probit machine with sparse weights of
Tham, Doucet & Ramamohanarao (ICML 2002), and our default with dense weights, beside scikit-learn's `SVC`
(Gaussian kernel, cost and width by cross-validation, probabilities by Platt's method) and
`GaussianProcessClassifier` (width by its marginal likelihood). Standardised features, five folds, all
methods on the same folds; ± is the standard deviation over folds."""


def run(scope: Scope) -> Outcome:
    """Cross-validate every method on every task."""
    methods = _methods(scope)
    cells = [(task, name) for task in TASKS for name in methods]
    rows = []
    for task, name in tracked(cells, len(cells), "supervised", scope.progress):
        X, y = TASKS[task]()
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=scope.seed)
        for fold, (train, test) in enumerate(folds.split(X, y)):
            scaler = StandardScaler().fit(X[train])
            started = time.perf_counter()
            model = methods[name](scaler.transform(X[train]), y[train])
            seconds = time.perf_counter() - started
            probability = model.predict_proba(scaler.transform(X[test]))[:, 1]
            rows.append(
                {"task": task, "method": name, "fold": fold, **_judge(y[test], probability), "seconds": seconds}
            )
    raw = pd.DataFrame(rows)
    return Outcome("supervised", "Supervised learning", TEXT, _table(raw), raw, _draw(raw))


def _moons() -> tuple[np.ndarray, np.ndarray]:
    return make_moons(300, noise=0.3, random_state=0)


def _breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    return load_breast_cancer(return_X_y=True)


def _wine() -> tuple[np.ndarray, np.ndarray]:
    X, kind = load_wine(return_X_y=True)
    return X[:, :4], (kind == 1).astype(int)  # four of its features: with all of them no method errs


TASKS = {"moons": _moons, "breast cancer": _breast_cancer, "wine": _wine}


def _methods(scope: Scope) -> dict[str, Callable[[np.ndarray, np.ndarray], Any]]:
    length = {"n_draws": scope.n_draws, "n_burn": scope.n_burn, "random_state": scope.seed}
    sparse = {"prior": "spike_slab", "kernel": "rbf", "gamma": "scale", **length}
    return {
        "disaggregate, sparse (2002)": lambda X, y: fit_timed(sparse, X, y)[0],
        "disaggregate, default": lambda X, y: fit_timed(length, X, y)[0],
        "SVC": lambda X, y: CalibratedClassifierCV(GridSearchCV(SVC(), SVC_GRID, cv=5), ensemble=False).fit(X, y),
        "GaussianProcessClassifier": lambda X, y: GaussianProcessClassifier(
            ConstantKernel(1.0) * RBF(np.sqrt(X.shape[1])), random_state=0
        ).fit(X, y),
    }


def _judge(y: np.ndarray, probability: np.ndarray) -> dict[str, float]:
    probability = probability.clip(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    return {
        "accuracy": accuracy_score(y, probability > 0.5),
        "AUC": roc_auc_score(y, probability),
        "log loss": log_loss(y, probability),
    }


def _table(raw: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {
            "task": task,
            "method": method,
            **{score: mean_and_spread(cell[score]) for score in ("accuracy", "AUC", "log loss")},
            "seconds per fit": f"{cell['seconds'].mean():.1f}",
        }
        for (task, method), cell in raw.groupby(["task", "method"], sort=False)
    ]
    return pd.DataFrame(rows)


def _draw(raw: pd.DataFrame) -> Figure:
    figure = new_figure(12.0, 4.2)
    panels = figure.subplots(1, 3)
    for ax, score in zip(panels, ("accuracy", "AUC", "log loss"), strict=True):
        wide = raw.groupby(["task", "method"], sort=False)[score].agg(["mean", "std"]).reset_index()
        names = list(wide["method"].unique())
        for index, name in enumerate(names):
            mine = wide[wide["method"] == name]
            at = np.arange(len(mine)) + (index - 0.5 * (len(names) - 1)) * 0.18
            ax.errorbar(at, mine["mean"], yerr=mine["std"], fmt="os^D"[index % 4], capsize=3, label=name)
        ax.set_xticks(range(wide["task"].nunique()), wide["task"].unique())
        ax.set_title(score + (" (lower is better)" if score == "log loss" else ""))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
