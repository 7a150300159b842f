"""What a fit with all defaults costs, beside an earlier version where it can do it, and for large or odd shapes.

Each fit is in a process of its own that has compiled everything before. Processor seconds, as machines are shared;
the seconds that somebody waits on two cores are about half of them. Run

    python -m benchmarks.default_fits [--baseline c31a7ba] [--shape NAME ...] [--repeats 1] [--data FOLDER]

Tables of real places need ``--data``, a folder with ``cces_ny`` and ``truth``; they are read from files, as on the
command line. It goes on where it stopped as long as the code is the same, and writes
``benchmarks/results/default_fits.csv`` and ``.md``.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.children import SOURCE, answer_of, code_of, in_turns, main_or_child, peak_memory
from benchmarks.engine_speed import BASELINE, VERSIONS, checked_out
from benchmarks.markdown import markdown_table
from benchmarks.people import people, shares_of
from benchmarks.resumable import read_rows, run_left
from benchmarks.truth.task import Task

RESULTS = Path(__file__).parent / "results" / "default_fits.csv"

# Rows, members per group and features; the earlier version needs minutes for more rows, or refuses them.
COMPARED = {"300 in 10 groups": (300, 30, 5), "2,000 in 200 groups": (2_000, 10, 5)}
LARGE = {
    "5,000 in 50 groups": (5_000, 100, 8),
    "20,000 in 200 groups": (20_000, 100, 8),
    "60,000 in 300 groups": (60_000, 200, 8),
    "10,000 groups of one": (10_000, 1, 5),
}
SHAPES = COMPARED | LARGE
WARM_UP = {"n_chains": 2, "n_draws": 20, "n_burn": 10}


def new_york(data: Path) -> Task:
    """Respondents of a survey, and the results of their districts."""
    from benchmarks.truth.new_york import new_york_tasks  # not in a child, which may have another version

    return next(iter(new_york_tasks(data, 0)))


def census(data: Path) -> Task:
    """Thirty people of each area, and the share of each area."""
    from benchmarks.truth.census import OUTCOMES, tasks_of_outcomes

    outcome = "food stamps"
    return next(iter(tasks_of_outcomes(data, 0, {outcome: OUTCOMES[outcome]}, ["30 rows"])))


TABLES = {"2,328 people in 27 districts, sampled": new_york, "2,280 people in 76 areas, sampled": census}


def child(setting: dict[str, Any]) -> dict[str, Any]:
    """Fit once, after a short fit of few people and one of as many."""
    from disaggregate import GroupStatsClassifier

    if "people" in setting:
        return child_of_tables(setting)
    shape = setting["shape"]
    quiet_fit(GroupStatsClassifier(**WARM_UP), (60, 10, shape[2]), 0)
    if shape[0] > 2_000:  # there may be other code for many rows
        quiet_fit(GroupStatsClassifier(**WARM_UP, kernel="linear", centers=20), shape, 0)
    model = GroupStatsClassifier(random_state=setting["seed"])
    began, clock = time.perf_counter(), processor_seconds()
    quiet_fit(model, shape, setting["seed"])
    return _measured(model, processor_seconds() - clock, time.perf_counter() - began)


def child_of_tables(setting: dict[str, Any]) -> dict[str, Any]:
    """Fit once to two tables, after a fit that is too short to be of use."""
    import disaggregate as dg

    def fit(**settings: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            settings["random_state"] = setting["seed"]
            return dg.fit_tables(setting["people"], setting["results"], settings=settings, **setting["roles"])

    fit(**WARM_UP, kernel="linear")
    began, clock = time.perf_counter(), processor_seconds()
    model = fit().classifier
    return _measured(model, processor_seconds() - clock, time.perf_counter() - began)


def _measured(model: Any, seconds: float, waited: float) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "waited": waited,
        "rhat": model.diagnostics_.worst_rhat,
        "effective": float(np.min(model.diagnostics_.ess_bulk["f"])),
        "memory": peak_memory(),
    }


def processor_seconds() -> float:
    """Seconds of all cores that this process and its children have used."""
    return sum(os.times()[:4])


def quiet_fit(model: Any, shape: tuple[int, int, int], seed: int) -> None:
    """Fit made-up people."""
    X, groups, y = people(*shape, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, shares_of(groups, y), groups=groups)


def measure(
    sources: dict[str, Path], work: Path, name: str, repeat: int, data: Path | None = None
) -> dict[str, Any]:
    """Fit one shape or table with both versions, or with this one alone where the other cannot."""

    def one(version: str) -> dict[str, Any]:
        given = written(TABLES[name](data), work) if name in TABLES and data else {"shape": SHAPES[name]}
        setting = {**given, "seed": repeat}
        return answer_of("benchmarks.default_fits", setting, work / f"compiled_{version}", sources[version])

    if name in COMPARED or name in TABLES:
        return in_turns(one, VERSIONS, repeat)
    found = one("present")
    return {f"{v}_{what}": found[what] if v == "present" else math.nan for v in VERSIONS for what in found}


def written(task: Task, work: Path) -> dict[str, Any]:
    """Write the tables of a task to files, as a user has them."""
    paths = {name: work / f"{name}.csv" for name in ("people", "results")}
    task.people.to_csv(paths["people"], index=False)
    task.results.to_csv(paths["results"], index=False)
    return {**{name: str(path) for name, path in paths.items()}, "roles": dict(task.roles)}


def report(rows: pd.DataFrame, baseline: str) -> str:
    """Write the table: medians over repeats, of the last state of the code that each shape was fitted with."""
    rows, table = rows[rows["code"] == rows.groupby("shape")["code"].transform("last")], []
    for name in [*SHAPES, *TABLES]:
        found = rows[rows["shape"] == name].median(numeric_only=True)
        if found.isna().all():
            continue
        before = found.get("baseline_seconds", np.nan)
        table.append(
            [
                name,
                f"{found['present_seconds']:.3g}",
                "" if np.isnan(before) else f"{before:.3g}",
                "" if np.isnan(before) else f"{before / found['present_seconds']:.1f}",
                f"{found['present_rhat']:.3f}",
                f"{found['present_effective']:.0f}",
                f"{found['present_memory']:.2f}",
            ]
        )
    header = ["people", "processor seconds", f"at {baseline}", "ratio", "R-hat", "effective draws", "peak GB"]
    return "\n".join(
        [
            "# Fits with all defaults",
            "",
            f"Made by `python -m benchmarks.default_fits --baseline {baseline} --data FOLDER`: made-up "
            "people, then tables of New York 2016 and of census areas, read from files. Each fit in a process of "
            "its own, compilation not counted. Medians over repeats. R-hat is the worst, effective draws are "
            "those of the individual that has fewest. Each line has the last state of the code that it was "
            "measured with.",
            "",
            *markdown_table(header, table),
            "",
        ]
    )


def run(arguments: argparse.Namespace, work: Path) -> None:
    """Measure what is missing, and write the table after each shape."""
    state = {"code": code_of(SOURCE), "baseline": arguments.baseline}
    with checked_out(arguments.baseline, work / "baseline") as baseline:
        sources = {"baseline": baseline, "present": SOURCE}
        for name in arguments.shape or [*SHAPES, *(TABLES if arguments.data else ())]:
            one = partial(measure, sources, work, name, data=arguments.data)
            run_left(arguments.output, arguments.repeats, one, shape=name, **state)
            text = report(read_rows(arguments.output, baseline=arguments.baseline), arguments.baseline)
            arguments.output.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", default=BASELINE, help=f"commit to compare with (default: {BASELINE})")
    parser.add_argument("--shape", choices=[*SHAPES, *TABLES], action="append", help="shapes (default: all)")
    parser.add_argument("--repeats", type=int, default=1, help="fits of each shape (default: 1)")
    parser.add_argument("--data", type=Path, help="folder with tables of real places")
    parser.add_argument("--output", type=Path, default=RESULTS)
    with tempfile.TemporaryDirectory() as work:
        run(parser.parse_args(), Path(work))


if __name__ == "__main__":
    main_or_child(main, child)
