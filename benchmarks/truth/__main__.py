"""Real groups whose individual truth is known: ours beside what people use, on the same tables.

Four tables:

- census areas: six outcomes of people in 76 areas of North Carolina; 10, 30 and 100 rows per area as a sample with
  the share of everybody in the area, and 30 rows with their own share as a full count; judged on others
- New York 2016: as in ``benchmarks.cces_subgroups``
- counties of 1910: literacy of black and of white people from the margins of each county
- precincts: party by race from the margins of each precinct, each party against the rest

Scores are log loss and AUC of individuals, mean absolute error of the rates of subgroups, how often their 90 %
intervals hold the truth, how wide these are, and seconds. Outcomes, or areas where there is one outcome, are dealt
out to two halves, one for choosing defaults and one for reporting. Run

    python -m benchmarks.truth --data FOLDER [--table NAME] [--case NAME] [--outcome NAME] [--method NAME]
                               [--seeds 1] [--quick]

Everything takes hours; every fit is written to ``benchmarks/results/truth.csv`` as soon as it is done, with rates
of cells in ``truth_rates.csv``. What is there is not run again, and ``truth.md`` has tables of what there is.
The short form takes few areas and short chains, and only prints.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.resumable import append_row
from benchmarks.rivals.missing import RivalMissing
from benchmarks.truth import census, counties, new_york, precincts
from benchmarks.truth.methods import METHODS, QUICK_METHODS, applies_to
from benchmarks.truth.report import page
from benchmarks.truth.scores import scores
from benchmarks.truth.task import KEYS, Task

RESULTS = Path(__file__).parents[1] / "results" / "truth.csv"
RATES = ["by", "subgroup", "n", "truth", "estimate", "low", "high", "half", *KEYS, "method"]
TABLES = {
    census.TABLE: census.census_tasks,
    new_york.TABLE: new_york.new_york_tasks,
    counties.TABLE: counties.counties_tasks,
    precincts.TABLE: precincts.precincts_tasks,
}


def tasks_of(arguments: argparse.Namespace) -> Iterator[Task]:
    """Make the requested tasks, seed after seed, so that an early stop leaves every table with some."""
    for seed in range(arguments.seeds):
        for table in arguments.table or TABLES:
            for task in TABLES[table](arguments.data, seed, arguments.quick):
                is_wanted = not arguments.case or task.case in arguments.case
                if is_wanted and (not arguments.outcome or task.outcome in arguments.outcome):
                    yield task


def run_task(method: type, task: Task) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """Fit one method and judge it; return a line per half, and the rates of subgroups by one column."""
    started = time.perf_counter()
    fitted = method().fit(task)
    seconds = time.perf_counter() - started
    lines, rates = scores(task, fitted.predict(task.judges))
    key = {**task.key, "method": method.name}
    cost = {"seconds": seconds, "rhat": getattr(fitted, "rhat", "")}
    return [{**key, **line, **cost} for line in lines], rates.assign(**key)


def run(tasks: Iterable[Task], methods: Mapping[str, type], path: Path) -> dict[str, str]:
    """Run what is not yet in the file; return the methods that could not run, and why."""
    done = _done(path)
    missing: dict[str, str] = {}
    for task in tasks:
        for name, method in methods.items():
            if (*map(str, task.key.values()), name) in done or name in missing:
                continue
            if not applies_to(method, task):
                continue
            try:
                lines, rates = run_task(method, task)
            except RivalMissing as reason:
                missing[name] = str(reason)
                print(f"skipped: {name}: {reason}", flush=True)
                continue
            for rate in rates.to_dict("records") if task.by_area else []:
                append_row(rates_path(path), rate)
            for line in lines:
                append_row(path, line)
                print(*(f"{v:.4g}" if isinstance(v, float) else v for v in line.values()), flush=True)
    return missing


def _done(path: Path) -> set[tuple[str, ...]]:
    if not path.exists():
        return set()
    rows = pd.read_csv(path, dtype=str)
    return set(zip(rows["table"], rows["outcome"], rows["case"], rows["seed"], rows["method"], strict=True))


def rates_path(path: Path) -> Path:
    """Return where the rates of cells are."""
    return path.with_name(f"{path.stem}_rates.csv")


def write_page(path: Path, missing: dict[str, str]) -> str:
    """Write the tables of what there is beside it."""
    rates = rates_path(path)  # not there without tables of cells
    known = pd.read_csv(rates) if rates.exists() else pd.DataFrame(columns=RATES)
    text = page(pd.read_csv(path), known, list(METHODS), missing)
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    return text


def main(given: list[str] | None = None) -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder that holds truth/ and cces_ny/")
    parser.add_argument("--table", action="append", choices=list(TABLES), help="only this one; may be repeated")
    parser.add_argument("--case", action="append", choices=[*census.CASES, "respondents", "cells"])
    parser.add_argument("--outcome", action="append", help="only this one; may be repeated")
    parser.add_argument("--method", action="append", choices=list(METHODS), help="only this one; may be repeated")
    parser.add_argument("--seeds", type=int, default=1, help="samples of people (default: 1)")
    parser.add_argument("--quick", action="store_true", help="few areas and short chains: does it run?")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--report-only", action="store_true", help="only write the tables of what there is")
    arguments = parser.parse_args(given)
    if arguments.report_only:
        print(write_page(arguments.output, {}))
        return
    with tempfile.TemporaryDirectory() as temporary, threadpool_limits(1):
        path = Path(temporary) / "truth.csv" if arguments.quick else arguments.output
        known = QUICK_METHODS if arguments.quick else METHODS
        methods = {name: known[name] for name in arguments.method or known}
        missing = run(tasks_of(arguments), methods, path)
        print(write_page(path, missing))


if __name__ == "__main__":
    main()
