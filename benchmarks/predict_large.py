"""Predict 200,000 people in 500 groups from a file, in bounded memory.

A census-like population gets a date of birth, a category of many levels and missing values. A sample of it and the
shares of all groups are fitted on landmarks; `disaggregate predict` then adds probabilities to everybody in a CSV
file. Each command runs in a process of its own, whose largest memory is measured. Run

    python -m benchmarks.predict_large [--people 200000] [--sample 5000] [--centers 200]

It writes ``benchmarks/results/predict_large.md``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from disaggregate.datasets import make_population

RESULTS = Path(__file__).parent / "results" / "predict_large.md"
BOUND = 1.5 * 2**30
CENSUS_DAY = pd.Timestamp("2020-04-01")
N_TRADES = 40
GAPS = {"income": 0.05, "born": 0.02, "education": 0.03, "employed": 0.01}
SMALL = 20  # the same with a twentieth of the people, to see whether memory grows with them


class Usage(NamedTuple):
    """What a command took."""

    seconds: float
    peak: float


def make_tables(n_people: int, n_groups: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """People with mixed columns, results of their groups, and the labels that nobody sees."""
    rng = np.random.default_rng(seed)
    country = make_population(n_people, n_groups=n_groups, random_state=seed)
    days = (country.X["age"].to_numpy() + rng.random(n_people)) * 365.25
    people = country.X.drop(columns="age").assign(
        born=(CENSUS_DAY - pd.to_timedelta(days.round(), unit="D")).strftime("%Y-%m-%d"),
        trade=[f"trade {number:02d}" for number in rng.integers(N_TRADES, size=n_people)],
        district=[f"d{number:03d}" for number in country.groups],
    )
    for name, share in GAPS.items():
        people[name] = people[name].astype(object).mask(rng.random(n_people) < share)
    results = pd.DataFrame(
        {
            "district": [f"d{number:03d}" for number in country.shares.index],
            "share": country.shares.to_numpy(),
            "size": np.bincount(country.groups, minlength=n_groups),
        }
    )
    return people, results, country.y


def measured(arguments: list[str]) -> Usage:
    """Run a command and return its time and its largest memory, in bytes."""
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", "disaggregate.cli.main", *arguments])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"disaggregate {arguments[0]} failed")
    unit = 1 if sys.platform == "darwin" else 1024
    return Usage(time.perf_counter() - started, float(usage.ru_maxrss * unit))


def run(options: argparse.Namespace, work: Path) -> dict[str, Usage | float]:
    """Write tables, fit, predict few people and then everybody."""
    people, results, labels = make_tables(options.people, options.groups, options.seed)
    people.to_csv(work / "people.csv", index=False)
    people.head(len(people) // SMALL).to_csv(work / "few.csv", index=False)
    people.sample(options.sample, random_state=options.seed).to_csv(work / "sample.csv", index=False)
    results.to_csv(work / "results.csv", index=False)
    roles = ["--group", "district", "--share", "share", "--size", "size", "--sampled"]
    model, out = str(work / "model.dgz"), work / "out.csv"
    fit = ["fit", str(work / "sample.csv"), str(work / "results.csv"), *roles, "--centers", str(options.centers)]
    found: dict[str, Usage | float] = {"fit": measured([*fit, "-o", model])}
    found["few"] = measured(["predict", model, str(work / "few.csv"), "-o", str(out)])
    found["all"] = measured(["predict", model, str(work / "people.csv"), "-o", str(out)])
    predicted = pd.read_csv(out, usecols=["probability"])["probability"]
    if len(predicted) != options.people:
        raise SystemExit(f"{len(predicted)} rows were written of {options.people}")
    return found | {"auc": float(roc_auc_score(labels, predicted)), "bytes": (work / "people.csv").stat().st_size}


def report(options: argparse.Namespace, found: dict[str, Usage | float]) -> str:
    """Write the page."""
    fit, few, everybody = found["fit"], found["few"], found["all"]
    assert isinstance(fit, Usage)
    assert isinstance(few, Usage)
    assert isinstance(everybody, Usage)
    n_few = options.people // SMALL
    rows = {
        f"fit, {options.sample:,} people, {options.centers} landmarks": (fit, options.sample),
        f"predict, {n_few:,} people": (few, n_few),
        f"predict, {options.people:,} people": (everybody, options.people),
    }
    return "\n".join(
        [
            "# Many people, bounded memory",
            "",
            f"Made by `python -m benchmarks.predict_large`: {options.people:,} people in {options.groups} groups, "
            f"{found['bytes'] / 2**20:.0f} MiB of CSV with numbers, categories, a date and missing values; the "
            f"fit saw {options.sample:,} of them and the share of each group, and keeps 4,000 draws. Largest "
            "memory is that of the process, Python and its libraries included.",
            "",
            "| command | seconds | people per second | largest memory |",
            "| --- | --- | --- | --- |",
            *(
                f"| {name} | {used.seconds:.0f} | {n / used.seconds:,.0f} | {used.peak / 2**20:,.0f} MiB |"
                for name, (used, n) in rows.items()
            ),
            "",
            f"AUC of the predictions against the labels, which no fit saw: {found['auc']:.3f}. The bound on "
            f"memory is {BOUND / 2**20:,.0f} MiB: {'kept' if everybody.peak < BOUND else 'BROKEN'}. The machine "
            "was shared with other work, so that times are upper bounds.",
            "",
        ]
    )


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=200_000)
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--sample", type=int, default=5_000, help="people that the fit sees")
    parser.add_argument("--centers", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        text = report(options, run(options, Path(work)))
    print(text)
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
