"""What the emphasis on the main directions in which individuals differ is worth.

The classifier with kernels averaged as by default, and with an emphasis of 1 (Gaussian processes with these
kernels), of 2, and "auto"; short chains, five folds, groups made inside the training fold. Run

    python -m benchmarks.emphasis --data FOLDER [--seeds 1]

It takes about half an hour, prints its table and writes it to ``benchmarks/results/emphasis.md``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd
from rich.progress import track
from threadpoolctl import threadpool_limits

from benchmarks.judge import judge
from benchmarks.ours import Ours
from benchmarks.tasks import Split
from benchmarks.tasks.random_groups import random_groups
from disaggregate import GaussianProcess

RESULTS = Path(__file__).parent / "results" / "emphasis.md"
TASKS = [
    *(("vote", 32), ("vote", 64), ("heart_statlog", 32), ("heart_statlog", 64), ("australian", 64)),
    *(("ionosphere", 16), ("sonar", 16), ("colic", 32), ("pima", 32), ("breast_w", 16)),
]
EMPHASES: tuple[Any, ...] = (1.0, 2.0, "auto")
SHORT = {"n_chains": 2, "n_draws": 400, "n_burn": 300}
MEASURES = ("accuracy", "auc", "log_loss")


def measure(split: Split, emphasis: Any) -> dict[str, Any]:
    """Fit one split, and judge it."""
    Ours.settings = {**SHORT, "prior": GaussianProcess(emphasis=emphasis)}
    model = Ours().fit(split.X, split.shares, split.groups)
    probability = model.probability(split.X_test)
    return {
        "task": f"{split.task}, {split.size}",
        "emphasis": str(emphasis),
        "log evidence": model.model_.log_evidence_.value,
        **judge(split.y_test, model.decision_function(split.X_test), probability),
    }


def table(rows: pd.DataFrame) -> str:
    """Write the means of each task, and of all."""
    names = [str(emphasis) for emphasis in EMPHASES]
    lines = [
        "# Emphasis",
        "",
        "Made by `python -m benchmarks.emphasis`: means over five folds of data in random groups of the given "
        "size; accuracy, AUC and log loss on the fold left out, and the log evidence of the training fold's "
        "reports less that of an emphasis of 1.",
        "",
        "| data, groups of | " + " | ".join(f"{measure}, {name}" for measure in MEASURES for name in names)
        + " | " + " | ".join(f"log evidence, {name}" for name in names[1:]) + " |",
    ]  # fmt: skip
    lines.append("| --- " * (1 + len(MEASURES) * len(names) + len(names) - 1) + "|")
    means = rows.groupby(["task", "emphasis"], sort=False)[[*MEASURES, "log evidence"]].mean()
    everything = pd.concat([means, pd.concat({"mean of all": means.groupby("emphasis").mean()}, names=["task"])])
    for task in everything.index.unique("task"):
        part = everything.loc[task].loc[names]
        cells = [f"{part[measure][name]:.3f}" for measure in MEASURES for name in names]
        gains = part["log evidence"] - part["log evidence"][names[0]]
        lines.append(f"| {' | '.join([str(task), *cells, *(f'{gains[name]:+.2f}' for name in names[1:])])} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Run everything and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds uci/")
    parser.add_argument("--seeds", type=int, default=1, help="ways of cutting folds and groups")
    arguments = parser.parse_args()
    splits = [
        split
        for seed in range(arguments.seeds)
        for name, size in TASKS
        for split in random_groups(name, size, seed, arguments.data)
    ]
    with threadpool_limits(1):
        rows = [measure(split, emphasis) for split in track(splits) for emphasis in EMPHASES]
    text = table(pd.DataFrame(rows))
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
