"""What checkpoints cost: fits with and without them, in turns, as ratios within one run.

    python -m benchmarks.checkpoint_cost [--repeats 5]

It takes some minutes and writes ``benchmarks/results/checkpoint_cost.md``. Beside the ratio of whole fits, which a
shared machine disturbs, stands the share of a fit's time that was spent on checkpoints, measured directly.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import disaggregate as dg
from disaggregate.saving import checkpoint as checkpoints
from disaggregate.saving.checkpoint_schedule import CheckpointSchedule

RESULTS = Path(__file__).parent / "results" / "checkpoint_cost.md"
MOST = 0.03
ABOUT = """\
# Cost of checkpoints

Made by `python -m benchmarks.checkpoint_cost --repeats {repeats}`. A fit writes where it is at its start, at its
end, and in between as often as a share of the time allows (`saving/checkpoint_schedule.py`).
Medians over fits with and without checkpoints in turns. The share is measured directly. The ratios of whole fits,
with over without, hold besides what else the machine was doing, and, for draws in a folder, what it costs to write
them there.

| fit | draws | seconds | checkpoint, MB | share of the time | CPU ratio | wall ratio | at most 3 % |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


class Case(NamedTuple):
    """A fit to be measured."""

    name: str
    data: Any
    settings: dict[str, Any]


class Measured(NamedTuple):
    """What a fit took, and of that its checkpoints."""

    seconds: float
    cpu_seconds: float
    on_checkpoints: float
    megabytes: float


def cases() -> list[Case]:
    town = dg.datasets.make_districts(random_state=0)
    cluster = dg.datasets.make_hidden_cluster(random_state=0)
    rbf = {"kernel": "rbf", "gamma": "scale"}
    return [
        Case("55 people, defaults", town, {}),
        Case("55 people, sparse weights, 4,000 draws", town, {**rbf, "prior": "spike_slab", "n_draws": 4000}),
        Case("600 people, one kernel and replica", cluster, {**rbf, "n_replicas": 1}),
    ]


def measure(case: Case, checkpoint: Path | None, draws_to: Path | None = None) -> Measured:
    """Fit once, and record the time of the checkpoints."""
    schedules: list[CheckpointSchedule] = []

    def listened() -> CheckpointSchedule:
        schedules.append(CheckpointSchedule())
        return schedules[-1]

    checkpoints.CheckpointSchedule, real = listened, checkpoints.CheckpointSchedule  # type: ignore[assignment, misc]
    model = dg.GroupStatsClassifier(random_state=0, **case.settings)
    began, cpu_began = time.perf_counter(), time.process_time()
    try:
        model.fit(case.data.X, case.data.shares, groups=case.data.groups, checkpoint=checkpoint, draws_to=draws_to)
    finally:
        checkpoints.CheckpointSchedule = real  # type: ignore[misc]
    return Measured(
        time.perf_counter() - began,
        time.process_time() - cpu_began,
        sum(schedule.spent for schedule in schedules),
        checkpoint.stat().st_size / 2**20 if checkpoint else 0.0,
    )


def compare(case: Case, repeats: int) -> list[str]:
    """Fit with and without in turns; a row of the table for each way to keep draws."""
    rows = {"in memory": [], "in a folder": []}
    measure(case, None)
    for repeat in range(repeats):
        plain = measure(case, None)
        for place, kept in rows.items():
            with tempfile.TemporaryDirectory() as folder:
                draws_to = Path(folder) / "draws" if place == "in a folder" else None
                kept.append((plain, measure(case, Path(folder) / "run.dgc", draws_to)))
        print(f"{case.name}: {repeat + 1} of {repeats}", flush=True)
    lines = [_row(case.name, place, pairs) for place, pairs in rows.items()]
    print("\n".join(lines), flush=True)
    return lines


def _row(name: str, place: str, pairs: list[tuple[Measured, Measured]]) -> str:
    cpu = np.median([marked.cpu_seconds / plain.cpu_seconds for plain, marked in pairs])
    wall = np.median([marked.seconds / plain.seconds for plain, marked in pairs])
    share = np.median([marked.on_checkpoints / marked.seconds for _, marked in pairs])
    seconds, megabytes = np.median([(marked.seconds, marked.megabytes) for _, marked in pairs], axis=0)
    verdict = "yes" if share <= MOST else "no"
    return (
        f"| {name} | {place} | {seconds:.1f} | {megabytes:.1f} | {100 * share:.2f} % | {cpu:.3f} | {wall:.3f} | "
        f"{verdict} |"
    )


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="fits of each kind (default: 5)")
    repeats = parser.parse_args(argv).repeats
    lines = [ABOUT.format(repeats=repeats)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for case in cases():
            lines += compare(case, repeats)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
