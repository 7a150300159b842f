"""Counties of the census of 1910: literacy of black and of white people, from the two margins of each county."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.cells import task_of_cells
from benchmarks.truth.task import Task, halves_by_area, require_file

TABLE = "counties of 1910"
FILE = "truth/counties_1910_literacy.csv"


def counties_tasks(data: Path, seed: int, is_quick: bool = False) -> Iterator[Task]:
    """Make the one task; the quick form has one county in twenty."""
    table = pd.read_csv(require_file(data / FILE, data)).set_index("unit")
    if is_quick:
        table = table.iloc[::20]
    people = table["people"].to_numpy(dtype=int)
    black = np.rint(table["black_share"] * people).astype(int)
    yield task_of_cells(
        counts=pd.DataFrame({"black": black, "white": people - black}, index=table.index),
        rates=pd.DataFrame({"black": table["literate_black"], "white": table["literate_white"]}),
        positives=np.rint(table["literate_share"] * people).astype(int).to_numpy(),
        halves=halves_by_area(table.index.to_numpy()),
        table=TABLE,
        outcome="literate",
        case="cells",
        seed=seed,
    )
