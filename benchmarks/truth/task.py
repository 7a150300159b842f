"""One table of people and one of results to learn from, and the people whose outcomes are known to the judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

CHOOSING, REPORTING, BOTH = "choosing", "reporting", "both"
HALVES = (CHOOSING, REPORTING)
COUNT = "n"
KEYS = ("table", "outcome", "case", "seed")


@dataclass(frozen=True)
class Task:
    """What a method sees, and what it is judged on.

    Attributes
    ----------
    table, outcome, case : str
        The data, what is to be predicted, and how much of it is given.
    seed : int
        Which sample of people is given.
    people : DataFrame
        One row per person, or per cell with the column ``n``: the group and the features.
    results : DataFrame
        One row per group: ``share`` of positives and ``size``, the people it speaks of; ``positives`` for cells.
    roles : mapping
        Arguments of ``fit_tables``.
    labels : ndarray
        Share of positives in each row of people, for the supervised ceiling only.
    judges : DataFrame
        Rows to predict, with the same columns as people.
    truth : ndarray
        Share of positives in each row of judges.
    by : DataFrame
        Columns of the judges that make subgroups; numbers in bands.
    groupings : sequence of sequence of str
        Columns of ``by`` that are taken together.
    by_area : sequence of str
        Columns of ``by`` that make a subgroup per area; none where areas have too few judges.
    halves : mapping
        Name of a half to the rows of judges that belong to it.
    fewest : int
        Judges in the smallest subgroup.
    """

    table: str
    outcome: str
    case: str
    seed: int
    people: pd.DataFrame
    results: pd.DataFrame
    roles: Mapping[str, Any]
    labels: np.ndarray
    judges: pd.DataFrame
    truth: np.ndarray
    by: pd.DataFrame
    groupings: Sequence[Sequence[str]]
    halves: Mapping[str, np.ndarray]
    by_area: Sequence[str] = field(default=())
    fewest: int = 100

    @property
    def key(self) -> dict[str, Any]:
        """What tells it from all other tasks."""
        return {name: getattr(self, name) for name in KEYS}

    @property
    def features(self) -> list[str]:
        """Columns of people by which individuals differ."""
        return [name for name in self.people if name not in (self.roles["group"], COUNT)]

    @property
    def groups(self) -> np.ndarray:
        """Group of each row of people."""
        return self.people[self.roles["group"]].to_numpy()

    @property
    def shares(self) -> pd.Series:
        """Reported share of each group."""
        return self.results.set_index(self.roles["group"])["share"]

    @property
    def base_rate(self) -> float:
        """Share of positives in all groups together."""
        return float(np.average(self.results["share"], weights=self.results["size"]))


def people_per_row(table: pd.DataFrame) -> np.ndarray:
    """Return how many people each row stands for."""
    return table[COUNT].to_numpy(dtype=float) if COUNT in table else np.ones(len(table))


def half_of_outcome(outcome: str, outcomes: Iterable[str]) -> str:
    """Deal outcomes out in the order of their names: the first is for choosing, the second for reporting."""
    return HALVES[sorted(outcomes).index(outcome) % 2]


def halves_by_area(areas: np.ndarray) -> dict[str, np.ndarray]:
    """Deal areas out in the order of their names, where there is only one outcome; and keep all together."""
    _, place = np.unique(areas, return_inverse=True)
    return {BOTH: np.ones(len(areas), dtype=bool)} | {half: place % 2 == i for i, half in enumerate(HALVES)}


def require_file(path: Path, data: Path) -> Path:
    """Return the path of a file, or stop with the name of what is missing."""
    if not path.is_file():
        raise SystemExit(f"{path} is missing: give the folder that holds {path.relative_to(data)} with --data.")
    return path
