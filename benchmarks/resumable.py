"""A line of a CSV file per data set, so that a benchmark goes on where it stopped."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rich.progress import track


def read_rows(path: Path, **key: Any) -> pd.DataFrame:
    """Read what was done before.

    Parameters
    ----------
    path : Path
        The CSV file; there may be none yet.
    **key
        Columns and the values that they must have.
    """
    if not path.exists():
        return pd.DataFrame(columns=[*key, "seed"])
    rows = pd.read_csv(path, dtype=dict.fromkeys(key, str))  # else a key of digits loses its zeros
    for name, value in key.items():
        rows = rows[rows[name] == str(value)]
    return rows


def seeds_left(path: Path, n_sets: int, **key: Any) -> list[int]:
    """List the seeds below ``n_sets`` that have no line with this key yet."""
    done = set(read_rows(path, **key)["seed"])
    return [seed for seed in range(n_sets) if seed not in done]


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Add a line to the file; the first one writes the names of the columns."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(row) if is_new else _header(path), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow({name: f"{v:.6g}" if isinstance(v, float) else v for name, v in row.items()})


def _header(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as stream:
        return next(csv.reader(stream))


def run_left(path: Path, n_sets: int, one: Callable[[int], Mapping[str, Any]], **key: Any) -> None:
    """Do what is missing, a line of the file per data set.

    Parameters
    ----------
    path : Path
        The CSV file.
    n_sets : int
        Data sets in all; their seeds are 0, 1 and so on.
    one : callable
        From a seed to what was found.
    **key
        Columns that say what was done, such as ``case="linear"``.
    """
    label = ", ".join(str(value) for value in key.values())
    for seed in track(seeds_left(path, n_sets, **key), description=label[:40]):
        append_row(path, {**key, "seed": seed, **one(seed)})
