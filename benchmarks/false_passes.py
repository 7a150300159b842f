"""Whether answers without a ladder are right where posteriors have several modes.

Data sets are made so that they have: groups of mirror images, few large groups, and reports that contradict each
other. Each is fitted with one kernel and all other defaults; where the fit decided that single chains are enough,
its probabilities are compared with those of a long ladder. A false pass is a difference above 0.05 in any of
them. What two ladders of that length differ by themselves is measured, too. Run

    python -m benchmarks.false_passes [--sets 70] [--case mirror ...]

It goes on where it stopped: there is a line of ``benchmarks/results/false_passes.csv`` per data set. The table is
in ``false_passes.md``.
"""

from __future__ import annotations

import argparse
import math
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.children import SOURCE, code_of
from benchmarks.markdown import markdown_table
from benchmarks.resumable import read_rows, run_left
from disaggregate import GroupStatsClassifier

RESULTS = Path(__file__).parent / "results" / "false_passes.csv"
MOST = 0.05
DEFAULTS = {"kernel": "linear", "n_jobs": 1}
LADDER = {"n_replicas": 8, "n_draws": 3000, "n_burn": 500}

Made = tuple[np.ndarray, dict[int, float], np.ndarray]


def mirror(rng: np.random.Generator) -> Made:
    """Make groups in which nearly everybody has a mirror image: a few others tell which side is positive."""
    n_groups, n_others = int(rng.integers(4, 12)), int(rng.integers(0, 9))
    right = rng.standard_normal((10 * n_groups, 2))
    X = np.concatenate([right, right * [-1.0, 1.0], rng.standard_normal((n_others, 2))])
    groups = np.concatenate([np.tile(np.arange(len(right)) % n_groups, 2), np.arange(n_others) % n_groups])
    return X, shares_of(groups, X[:, 0] > 0.3), groups


def few_large(rng: np.random.Generator) -> Made:
    """Make few groups of many people that hardly differ in make-up."""
    n_groups, size = int(rng.integers(3, 7)), int(rng.integers(30, 80))
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.standard_normal((len(groups), 3)) + 0.3 * rng.standard_normal((n_groups, 3))[groups]
    return X, shares_of(groups, X @ [1.5, -1.0, 0.5] + 0.3 * rng.standard_normal(len(X)) > 0.0), groups


def contradictory(rng: np.random.Generator) -> Made:
    """Make groups whose reports follow one feature in half of them and its opposite in the others."""
    n_groups, size = int(rng.integers(6, 14)), int(rng.integers(8, 25))
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.standard_normal((len(groups), 2)) + rng.standard_normal((n_groups, 2))[groups]
    side = np.where(groups % 2, 1.0, -1.0)
    return X, shares_of(groups, side * X[:, 0] + 0.2 * X[:, 1] > 0.0), groups


CASES = {"mirror": mirror, "few large groups": few_large, "contradictory": contradictory}


def shares_of(groups: np.ndarray, y: np.ndarray) -> dict[int, float]:
    """Share of positives of each group."""
    return {int(group): float(y[groups == group].mean()) for group in np.unique(groups)}


def one(case: str, seed: int) -> dict[str, Any]:
    """Fit one data set both ways."""
    X, shares, groups = CASES[case](np.random.default_rng([seed, list(CASES).index(case)]))
    usual = fit(X, shares, groups, random_state=seed)
    report = usual.diagnostics_.ladder
    found = {"single": report is not None and not report.is_ladder, "rhat": usual.diagnostics_.worst_rhat}
    if not found["single"]:
        return found | {"difference": math.nan, "between_ladders": math.nan, "ladder_rhat": math.nan}
    ladders = [fit(X, shares, groups, random_state=seed + 1000 * k, **LADDER) for k in (1, 2)]
    one_way, first, second = (model.predict_proba(X)[:, 1] for model in (usual, *ladders))
    return found | {
        "difference": float(np.abs(one_way - 0.5 * (first + second)).max()),
        "between_ladders": float(np.abs(first - second).max()),
        "ladder_rhat": max(model.diagnostics_.worst_rhat for model in ladders),
    }


def fit(X: np.ndarray, shares: dict[int, float], groups: np.ndarray, **settings: Any) -> GroupStatsClassifier:
    """Fit without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GroupStatsClassifier(**DEFAULTS, progress=False, **settings).fit(X, shares, groups=groups)


def report(rows: pd.DataFrame) -> str:
    """Write the table."""
    table = []
    for case, found in [*rows.groupby("case"), ("all", rows)]:
        single = found[found["single"].astype(str) == "True"]
        false = int((single["difference"] > MOST).sum())
        warned = int(((single["difference"] > MOST) & (single["rhat"] > 1.05)).sum())
        table.append(
            [
                str(case),
                str(len(found)),
                str(len(single)),
                str(false),
                str(warned),
                *(
                    f"{single[what].max():.3f}" if len(single) else ""
                    for what in ("difference", "between_ladders")
                ),
            ]
        )
    header = ["data", "sets", "single chains", "off by more", "not trusted", "most", "most between ladders"]
    return "\n".join(
        [
            "# Answers without a ladder",
            "",
            "Made by `python -m benchmarks.false_passes`: data sets with several modes, else defaults. "
            f"Of those that were fitted by single chains: in how many somebody's probability differs by more than "
            f"{MOST} from that of two long ladders together, in how many of these the verdict says that chains do "
            "not agree, the largest difference, and the largest between the two ladders.",
            "",
            *markdown_table(header, table),
            "",
        ]
    )


def main() -> None:
    """Fit what is missing, and write the table after each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=70, help="data sets per case (default: 70)")
    parser.add_argument("--case", choices=list(CASES), action="append", help="cases (default: all)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    state = {"code": code_of(SOURCE)}
    for case in arguments.case or CASES:
        run_left(arguments.output, arguments.sets, partial(one, case), case=case, **state)
        text = report(read_rows(arguments.output, **state))
        arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
