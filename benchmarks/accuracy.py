"""How well individuals are told apart when only group shares are known: ours and two rivals, on the same splits.

Features are standardised, groups of 32 or 64 are made at random inside the training fold, and nothing but their
shares is seen; accuracy and AUC are those on the fold left out. ``disaggregate`` runs with its defaults. Run

    python -m benchmarks.accuracy --data ../shared/data

It takes about two hours on two cores. Every fold is written to ``benchmarks/results/accuracy.csv`` as soon as it
is done, folds already there are not run again, and the table goes to ``benchmarks/results/accuracy.md``.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.rivals.alternating_ridge import AlternatingRidge
from benchmarks.rivals.mean_map import MeanMap
from disaggregate import GroupStatsClassifier

RESULTS = Path(__file__).parent / "results"
COLUMNS = ["task", "size", "seed", "fold", "method", "accuracy", "auc", "seconds", "rhat", "kernel"]
TASKS = [(name, size) for name in ("vote", "heart_statlog", "australian") for size in (32, 64)] + [("digits", 32)]


class Ours:
    """The classifier with its defaults."""

    name = "disaggregate"

    def fit(self, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Ours:
        """Fit, whatever the verdict; the table shows the worst R-hat."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_ = GroupStatsClassifier(random_state=0).fit(X, shares, groups=groups)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Positive for the positive class."""
        return ndtri(np.clip(self.model_.predict_proba(X)[:, 1], 1e-12, 1.0 - 1e-12))


METHODS = (Ours, MeanMap, AlternatingRidge)


def load(name: str, data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Features and 0/1 labels of a task."""
    if name == "digits":
        X, digit = load_digits(return_X_y=True)
        return X, (digit >= 5).astype(int)
    path = data / "uci" / f"{name}.tsv.gz"
    if not path.exists():
        raise SystemExit(f"{path} is missing: give the folder that holds uci/ with --data.")
    table = pd.read_csv(path, sep="\t")
    y = table.pop("target").to_numpy()
    return table.to_numpy(dtype=float), (y == y.max()).astype(int)


def splits(
    X: np.ndarray, y: np.ndarray, size: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Five folds; in each, training rows with their groups, and the rows left out with their labels."""
    rng = np.random.default_rng(seed)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        scaler = StandardScaler().fit(X[train])
        shuffled = rng.permutation(train)
        groups = np.arange(len(train)) // size
        yield scaler.transform(X[shuffled]), y[shuffled], groups, scaler.transform(X[test]), y[test]


def run_fold(method: type, fold: tuple[np.ndarray, ...]) -> dict[str, object]:
    """Fit one method on one fold and judge it."""
    X, y, groups, X_test, y_test = fold
    shares = pd.Series(y).groupby(groups).mean()
    started = time.perf_counter()
    fitted = method().fit(X, shares, groups)
    seconds = time.perf_counter() - started
    score = fitted.decision_function(X_test)
    model = getattr(fitted, "model_", None)
    return {
        "method": method.name,
        "accuracy": round(accuracy_score(y_test, score > 0.0), 6),
        "auc": round(roc_auc_score(y_test, score), 6),
        "seconds": round(seconds, 1),
        "rhat": round(model.diagnostics_.worst_rhat, 4) if model else "",
        "kernel": _kernels(model) if model else "",
    }


def _kernels(model: GroupStatsClassifier) -> str:
    return " + ".join(
        f"{score.weight:.2f} {score.kernel}" + (f" {score.gamma:.3g}" if score.kernel == "rbf" else "")
        for score in model.diagnostics_.kernels
        if score.weight > 0.0
    )


def run(data: Path, tasks: list[tuple[str, int]], n_seeds: int, path: Path) -> None:
    """Run what is not yet in the file."""
    done = set()
    if path.exists():
        table = pd.read_csv(path)
        done = set(zip(table.task, table["size"], table.seed, table.fold, table.method, strict=True))
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    for seed in range(n_seeds):
        for name, size in tasks:
            X, y = load(name, data)
            for place, fold in enumerate(splits(X, y, size, seed)):
                for method in METHODS:
                    if (name, size, seed, place, method.name) in done:
                        continue
                    row = {"task": name, "size": size, "seed": seed, "fold": place, **run_fold(method, fold)}
                    with path.open("a", encoding="utf-8", newline="") as file:
                        csv.DictWriter(file, COLUMNS).writerow(row)
                    print(*row.values(), flush=True)


def table_of(path: Path) -> str:
    """Means over folds and seeds; spreads are over seeds."""
    results = pd.read_csv(path)
    lines = [
        "# Accuracy",
        "",
        "Made by `python -m benchmarks.accuracy`: five folds, groups made at random inside the training fold, all",
        "methods on the same splits, no labels used for tuning. Means over folds and seeds; ± is the standard",
        "deviation over seeds.",
        "",
        "| task | groups of | seeds | method | accuracy | AUC | seconds a fit, median | worst R-hat, median |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (task, size), cell in results.groupby(["task", "size"], sort=False):
        for method in METHODS:
            rows = cell[cell.method == method.name]
            by_seed = rows.groupby("seed")[["accuracy", "auc"]].mean()
            shown = [f"{by_seed[c].mean():.3f} ± {by_seed[c].std(ddof=1):.3f}" for c in ("accuracy", "auc")]
            rhat = f"{rows.rhat.median():.3f}" if method is Ours else "-"
            lines.append(
                f"| {task} | {size} | {len(by_seed)} | {method.name} | {shown[0]} | {shown[1]} "
                f"| {rows.seconds.median():.1f} | {rhat} |"
            )
    return "\n".join([*lines, ""])


def main() -> None:
    """Run the benchmark and write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds uci/")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--task", action="append", help="run only this task; may be given several times")
    parser.add_argument("--output", type=Path, default=RESULTS / "accuracy.csv")
    arguments = parser.parse_args()
    tasks = [(name, size) for name, size in TASKS if not arguments.task or name in arguments.task]
    run(arguments.data, tasks, arguments.seeds, arguments.output)
    text = table_of(arguments.output)
    print(text)
    arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
