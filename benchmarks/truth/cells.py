"""What tables of cells have in common: a row per area and kind of people, with their number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.truth.task import COUNT, Task

AREA, KIND = "area", "people"


def task_of_cells(
    counts: pd.DataFrame,
    rates: pd.DataFrame,
    positives: np.ndarray,
    halves: Mapping[str, np.ndarray] | str,
    **names: Any,
) -> Task:
    """Make a task of two-way tables of which the margins are given.

    Parameters
    ----------
    counts : DataFrame
        People of each kind, a row per area and a column per kind.
    rates : DataFrame
        True share of positives among them.
    positives : ndarray
        Positives in each area.
    halves : mapping or str
        Areas that belong to each half, or the half to which all belong.
    **names
        ``table``, ``outcome``, ``case`` and ``seed`` of the task.
    """
    kinds = counts.columns.to_numpy()
    cells = pd.DataFrame(
        {
            AREA: np.repeat([str(area) for area in counts.index], len(kinds)),
            KIND: np.tile(kinds, len(counts)),
            COUNT: counts.to_numpy().ravel(),
        }
    )
    some = cells[COUNT].to_numpy() > 0
    cells, truth = cells[some].reset_index(drop=True), rates[kinds].to_numpy().ravel()[some]
    total = counts.sum(axis=1).to_numpy()
    results = pd.DataFrame({AREA: counts.index.astype(str), "positives": positives, "size": total})
    if isinstance(halves, str):
        halves = {halves: np.ones(len(counts), dtype=bool)}
    return Task(
        people=cells,
        results=results.assign(share=positives / total),
        roles={"group": AREA, "positives": "positives", "total": "size", "count": COUNT},
        labels=truth,
        judges=cells,
        truth=truth,
        by=cells[[AREA, KIND]],
        groupings=[[KIND]],
        by_area=[AREA, KIND],
        halves={name: np.repeat(rows, len(kinds))[some] for name, rows in halves.items()},
        **names,
    )
