"""Precincts of North Carolina: party of registered voters by race, from the two margins of each precinct."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.cells import task_of_cells
from benchmarks.truth.task import Task, half_of_outcome, require_file

TABLE = "precincts"
FILE = "truth/nc_precincts_race_party.csv"
RACES = {
    "white": "wh",
    "black": "bl",
    "natam": "natam",
}  # column of its people, and start of its columns by party
PARTIES = {"dem": "Democrat", "rep": "Republican", "non": "no party"}


def precincts_tasks(data: Path, seed: int, is_quick: bool = False) -> Iterator[Task]:
    """Make a task of each party against the rest; the quick form has one precinct in five."""
    table = pd.read_csv(require_file(data / FILE, data))
    table.index = pd.Index(table["county"] + " " + table["precinct"].astype(str))
    if is_quick:
        table = table.iloc[::5]
    counts = table[list(RACES)]
    for party, name in PARTIES.items():
        of_party = pd.DataFrame({race: table[f"{start}{party}"] for race, start in RACES.items()})
        yield task_of_cells(
            counts=counts,
            rates=of_party / np.maximum(counts, 1),
            positives=of_party.sum(axis=1).to_numpy(),
            halves=half_of_outcome(name, PARTIES.values()),
            table=TABLE,
            outcome=name,
            case="cells",
            seed=seed,
        )
