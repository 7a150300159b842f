"""How well individuals are distinguished given only group statistics: ours and rivals, same splits.

Four suites:

- ``marks``: vote, heart and australian in groups of 32 and 64, and digits in groups of 32; ours with its defaults
  beside mean map and alternating kernel ridge
- ``uci``: eight data sets in groups of 2 to 64, beside every rival
- ``bags``: the two bags of Quadrianto et al. (2008), beside the numbers that they published
- ``words``: caption words in Robomedia's photographs

Features are standardised, groups are made inside the training fold, nothing but group statistics is seen in
fitting and tuning, and judgement is on the fold left out. Run

    python -m benchmarks.accuracy --data FOLDER [--suite marks] [--seeds 5] [--method NAME] [--quick]

Everything takes many hours; every fit is written to ``benchmarks/results/accuracy.csv`` as soon as it is done,
what is there is not run again, and the tables of what there is go to ``accuracy.md`` beside it with a chart.
``--again`` also runs what was measured with another version; a cell has the version with most fits, and a table of
its own compares the last version with the one before.
CCES New York, whose districts have respondents for a sample, is in ``benchmarks/cces.py``.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.accuracy_report import write_report
from benchmarks.children import ROOT
from benchmarks.judge import judge
from benchmarks.ours import Ours
from benchmarks.rivals.missing import RivalMissing
from benchmarks.rivals.registry import CEILING, RIVALS
from benchmarks.tasks import Split
from benchmarks.tasks.random_groups import UCI, random_groups
from benchmarks.tasks.two_bags import PUBLISHED_NAME, two_bags
from benchmarks.tasks.words import words
from disaggregate import GroupStatsClassifier

RESULTS = Path(__file__).parent / "results" / "accuracy.csv"
COLUMNS = [
    *("task", "size", "seed", "fold", "method", "accuracy", "auc", "log_loss", "calibration"),
    *("seconds", "rhat", "kernel", "version"),
]
MARKS = [(name, size) for name in UCI[:3] for size in (32, 64)] + [("digits", 32)]
SIZES = (64, 32, 16, 8, 4, 2)
QUICK = {"n_draws": 50, "n_burn": 50, "n_chains": 2}


METHODS = {method.name: method for method in (Ours, *RIVALS)}
FIRST_RIVALS = ("mean map", "alternating kernel ridge")


def suite_splits(suite: str, data: Path, n_seeds: int) -> Iterator[Split]:
    """All splits of a suite, seed after seed, so that an early stop leaves every task with some."""
    for seed in range(n_seeds):
        if suite == "marks":
            yield from chain.from_iterable(random_groups(name, size, seed, data) for name, size in MARKS)
        elif suite == "uci":
            yield from chain.from_iterable(random_groups(name, size, seed, data) for size in SIZES for name in UCI)
        elif suite == "bags":
            yield from chain.from_iterable(two_bags(name, seed, data) for name in PUBLISHED_NAME)
        elif seed == 0:
            yield from words(data)


def methods_of(suite: str, wanted: list[str] | None) -> list[str]:
    """Names of the methods that a suite is run with."""
    names = [Ours.name, *FIRST_RIVALS] if suite == "marks" else list(METHODS)
    return [name for name in names if not wanted or name in wanted]


def present_version() -> str:
    """Return the commit of this clone, which says more than a version number between releases."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def run_split(name: str, split: Split) -> dict[str, object]:
    """Fit one method on one split and judge it."""
    method = Ours(split.settings) if name == Ours.name else METHODS[name]()
    started = time.perf_counter()
    if METHODS[name] is CEILING:
        method.fit(split.X, split.shares, split.groups, labels=split.labels)
    else:
        known = split.evidence if split.evidence and name == Ours.name else split.shares
        method.fit(split.X, known, split.groups)
    seconds = time.perf_counter() - started
    scores = judge(split.y_test, method.decision_function(split.X_test), method.probability(split.X_test))
    model = method.model_ if name == Ours.name else None
    return {
        **{key: round(value, 5) for key, value in scores.items()},
        "seconds": round(seconds, 1),
        "rhat": round(model.diagnostics_.worst_rhat, 4) if model else "",
        "kernel": _kernels(model) if model else "",
    }


def _kernels(model: GroupStatsClassifier) -> str:
    return " + ".join(
        f"{score.weight:.2f} {score.kernel}"
        + (f" {score.gamma:.3g}" if score.kernel == "rbf" else "")
        + (f" emphasis {score.emphasis:.3g}" if score.emphasis != 1.0 else "")
        for score in model.diagnostics_.kernels
        if score.weight > 0.0
    )


def run(splits: Iterator[Split], methods: list[str], path: Path, again: bool = False) -> dict[str, str]:
    """Run what is not yet in the file; return the methods that could not run, and why.

    Parameters
    ----------
    splits, methods
        What is run.
    path : Path
        The results.
    again : bool, default=False
        Whether what was measured with another version counts as not yet run.
    """
    done, version = set(), present_version()
    if path.exists():
        table = pd.read_csv(path, dtype={"version": str})
        table = table[table["version"] == version] if again else table
        done = set(zip(table.task, table["size"], table.seed, table.fold, table.method, strict=True))
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    missing: dict[str, str] = {}
    for split in splits:
        for name in methods:
            if (*split.key, name) in done or name in missing:
                continue
            try:
                result = run_split(name, split)
            except RivalMissing as reason:
                missing[name] = str(reason)
                print(f"skipped: {name}: {reason}", flush=True)
                continue
            row = {**dict(zip(COLUMNS[:5], (*split.key, name), strict=True)), **result, "version": version}
            with path.open("a", encoding="utf-8", newline="") as file:
                csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)
            print(*row.values(), flush=True)
    return missing


def main() -> None:
    """Run suites and write their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds uci/ and robomedia/")
    suites = ("marks", "uci", "bags", "words")
    parser.add_argument("--suite", action="append", choices=suites, help="run only this one; may be repeated")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--task", action="append", help="only this data set; may be repeated")
    parser.add_argument("--size", type=int, action="append", help="only this size of groups; may be repeated")
    parser.add_argument("--method", action="append", choices=list(METHODS), help="only this one; may be repeated")
    parser.add_argument("--again", action="store_true", help="also what was measured with another version")
    parser.add_argument("--quick", action="store_true", help="short chains and one fold of each: does it run?")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--report-only", action="store_true", help="only write the tables of what there is")
    arguments = parser.parse_args()
    missing: dict[str, str] = {}
    if arguments.quick:
        Ours.settings = QUICK
    for suite in [] if arguments.report_only else arguments.suite or suites:
        splits = (
            split
            for split in suite_splits(suite, arguments.data, 1 if arguments.quick else arguments.seeds)
            if (not arguments.task or split.task in arguments.task)
            and (not arguments.size or split.size in arguments.size)
            and (not arguments.quick or split.fold == 0)
        )
        with threadpool_limits(1):  # small products on many threads wait for each other, 10 to 40 times as long
            missing |= run(splits, methods_of(suite, arguments.method), arguments.output, arguments.again)
    write_report(arguments.output, arguments.data, [Ours.name, *(rival.name for rival in RIVALS)], missing)


if __name__ == "__main__":
    main()
