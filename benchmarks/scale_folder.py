"""What people in Parquet files cost the process that drives a fit, and the Dask workers that read them.

    python -m benchmarks.scale_folder [--rows 500000 2000000]

It writes ``benchmarks/results/scale_folder.md``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pandas as pd

import disaggregate as dg
from benchmarks.scale import cluster_of, peak_memory, people

RESULTS = Path(__file__).parent / "results" / "scale_folder.md"


def folder(n_rows: int) -> dict[str, float]:
    """Fit people in Parquet files on two workers, a few sweeps, and return the peaks of memory in GB."""
    with tempfile.TemporaryDirectory() as place, cluster_of(2) as client:
        client.submit(write_people, place, n_rows).result()
        shares = pd.read_parquet(Path(place) / "shares.parquet")
        people_in = sum(file.stat().st_size for file in Path(place).rglob("part-*.parquet")) / 2**30
        client.restart()
        settings = {"kernel": "rbf", "gamma": "scale", "centers": 100, "n_chains": 2, "n_burn": 5, "n_draws": 10}
        before, began = peak_memory(), time.perf_counter()
        dg.fit_tables(
            Path(place) / "people", shares, group="group", share="share",
            settings={**settings, "context": False, "storage": "float32", "executor": client, "random_state": 0},
        )  # fmt: skip
        seconds = time.perf_counter() - began
        return {
            "rows": n_rows,
            "files": people_in,
            "seconds": seconds,
            "before": before,
            "driver": peak_memory(),
            "workers": sum(client.run(peak_memory).values()),
        }


def write_people(place: str, n_rows: int, rows_of_file: int = 200_000) -> None:
    """Write people file by file, and what their groups report."""
    (Path(place) / "people").mkdir()
    shares = []
    for start in range(0, n_rows, rows_of_file):
        X, groups, y = people(rows_of_file, 100, 20, seed=start)
        groups = groups + start // 100
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(group=groups)
        table.to_parquet(Path(place) / "people" / f"part-{start:012d}.parquet")
        shares.append(pd.DataFrame({"share": y}).groupby(groups).mean())
    reported = pd.concat(shares).rename_axis("group").reset_index()
    reported.to_parquet(Path(place) / "shares.parquet")


def folder_report(all_rows: list[int]) -> str:
    """Run each size in a process of its own."""
    lines = ["# People in files, read by two Dask workers", "", "`python -m benchmarks.scale_folder`", ""]
    lines += [
        "20 features, groups of 100, 100 kernels in single precision, two chains of 15 sweeps",
        "after a pilot.",
    ]
    lines += [""]
    lines += ["| individuals | files, GB | seconds | peak of the driver, GB | of both workers together, GB |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    found = []
    for n_rows in all_rows:
        command = [sys.executable, "-m", "benchmarks.scale_folder", "--one", str(n_rows)]
        finished = subprocess.run(command, check=True, capture_output=True, text=True)
        own = json.loads(finished.stdout.splitlines()[-1])
        found.append(own)
        numbers = f"{own['files']:.2f} | {own['seconds']:.0f} | {own['driver']:.2f} | {own['workers']:.2f}"
        lines.append(f"| {n_rows:,} | {numbers} |")
        print(lines[-1], flush=True)
    more = 2**30 * (found[-1]["driver"] - found[0]["driver"]) / (all_rows[-1] - all_rows[0])
    return "\n".join([*lines, "", f"The driver takes {more:.0f} bytes for one individual more.", ""])


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[500_000, 2_000_000])
    parser.add_argument("--one", type=int, help="one size in this process, as JSON")
    options = parser.parse_args()
    if options.one:
        warnings.simplefilter("ignore")
        print(json.dumps(folder(options.one)))
    else:
        RESULTS.write_text(folder_report(options.rows), encoding="utf-8")


if __name__ == "__main__":
    main()
