"""New York 2016: respondents of a survey, and the official result of each congressional district."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.cces import CANDIDATES, FEATURES
from benchmarks.cces_subgroups import FEWEST
from benchmarks.truth.task import Task, halves_by_area, require_file

TABLE = "New York 2016"
GROUP = "cd"


def new_york_tasks(data: Path, seed: int, is_quick: bool = False) -> Iterator[Task]:
    """Make the task of ``benchmarks.cces_subgroups``; the quick form has one district in three."""
    people = pd.read_csv(require_file(data / "cces_ny" / "cces2018_ny_individuals.csv", data))
    people = people[people["voted_pres_16"].isin(CANDIDATES)].reset_index(drop=True)
    if is_quick:
        people = people[people[GROUP].isin(sorted(people[GROUP].unique())[::3])].reset_index(drop=True)
    results = pd.read_csv(require_file(data / "cces_ny" / "ny_cd_results.csv", data))
    results = results.rename(columns={"pct_trump": "share", "presvotes_DR_16": "size"})[[GROUP, "share", "size"]]
    votes = (people["voted_pres_16"] == CANDIDATES[0]).to_numpy(float)
    seen = people[[GROUP, *FEATURES]]
    yield Task(
        table=TABLE,
        outcome="vote for Trump",
        case="respondents",
        seed=seed,
        people=seen,
        results=results[results[GROUP].isin(seen[GROUP])].reset_index(drop=True),
        roles={"group": GROUP, "share": "share", "size": "size", "sampled": True},
        labels=votes,
        judges=seen,
        truth=votes,
        by=seen[FEATURES].astype(object).where(seen[FEATURES].notna(), "missing").astype(str),
        groupings=[*([column] for column in FEATURES), *map(list, combinations(FEATURES, 2))],
        halves=halves_by_area(np.asarray(seen[GROUP])),
        fewest=FEWEST,
    )
