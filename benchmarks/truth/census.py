"""Areas of the American Community Survey in North Carolina: a sample of people, and the share of each area."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.task import CHOOSING, Task, half_of_outcome, require_file

TABLE = "census areas"
FILE = "truth/nc_pums_2023.csv.gz"
GROUP = "puma"
FEATURES = ("age", "sex", "nativity", "tenure", "vehicles", "income", "moved", "food_stamps")
ROWS = (10, 30, 100)  # the first is a part of the second, and so on
FULL_COUNT = 30
N_JUDGES = 8_000
AGE_BANDS = (18, 30, 45, 60, 75, 200)
INCOME_BANDS = 5


@dataclass(frozen=True)
class Outcome:
    """A column that becomes the outcome.

    Attributes
    ----------
    column : str
        It is dropped from the features, and no other column tells its value.
    is_positive : callable
        From the column to who is positive.
    """

    column: str
    is_positive: Callable[[pd.Series], pd.Series]


OUTCOMES = {
    "food stamps": Outcome("food_stamps", lambda column: column == "Yes"),
    "renter": Outcome("tenure", lambda column: column == "Rented"),
    "foreign born": Outcome("nativity", lambda column: column == "Foreign born"),
    "age 60 and over": Outcome("age", lambda column: column >= 60),
    "no vehicle": Outcome("vehicles", lambda column: column == "No vehicles"),
    "moved within two years": Outcome(
        "moved", lambda column: column.isin(["12 months or less", "13 to 23 months"])
    ),
}
CASES = (*(f"{n} rows" for n in ROWS), "full count")


def census_tasks(data: Path, seed: int, is_quick: bool = False) -> Iterator[Task]:
    """Make a task of every outcome and number of rows; the quick form has one area in six and 10 rows."""
    return tasks_of_outcomes(data, seed, OUTCOMES, CASES[:1] if is_quick else CASES, 6 if is_quick else 1)


def tasks_of_outcomes(
    data: Path, seed: int, outcomes: Mapping[str, Outcome], cases: Iterable[str], every: int = 1
) -> Iterator[Task]:
    """Make a task of each outcome and case, in one area out of so many.

    Outcomes that are not among the six of this table are for choosing.
    """
    everybody = pd.read_csv(require_file(data / FILE, data), dtype={GROUP: str})
    everybody = everybody[everybody[GROUP].isin(sorted(everybody[GROUP].unique())[::every])]
    everybody = everybody[[GROUP, *FEATURES]].sample(frac=1.0, random_state=seed).reset_index(drop=True)
    rank = everybody.groupby(GROUP).cumcount()
    others = everybody.index[rank >= max(ROWS)]
    judges = np.random.default_rng(seed).permutation(others)[:N_JUDGES]
    for case in cases:
        n_rows = FULL_COUNT if case == "full count" else int(case.split()[0])
        given = everybody.index[rank < n_rows]
        for name, outcome in outcomes.items():
            yield _task(everybody, given, judges, (name, outcome), case, seed)


def _task(
    everybody: pd.DataFrame,
    given: pd.Index,
    judges: np.ndarray,
    named: tuple[str, Outcome],
    case: str,
    seed: int,
) -> Task:
    name, outcome = named
    positive = outcome.is_positive(everybody[outcome.column]).astype(float)
    features = everybody.drop(columns=outcome.column)
    is_sample = case != "full count"
    counted = everybody.index if is_sample else given
    by_group = positive[counted].groupby(everybody.loc[counted, GROUP])
    results = by_group.agg(share="mean", size="size").reset_index()
    by = bands(features.loc[judges].drop(columns=GROUP))
    half = half_of_outcome(name, OUTCOMES) if name in OUTCOMES else CHOOSING
    return Task(
        table=TABLE,
        outcome=name,
        case=case,
        seed=seed,
        people=features.loc[given].reset_index(drop=True),
        results=results,
        roles={"group": GROUP, "share": "share", **({"size": "size", "sampled": True} if is_sample else {})},
        labels=positive[given].to_numpy(),
        judges=features.loc[judges].reset_index(drop=True),
        truth=positive[judges].to_numpy(),
        by=by,
        groupings=[*([column] for column in by), *map(list, combinations(by, 2))],
        halves={half: np.ones(len(judges), dtype=bool)},
    )


def bands(features: pd.DataFrame) -> pd.DataFrame:
    """Cut age and income into bands, so that all columns can make subgroups."""
    cut = features.reset_index(drop=True)
    if "age" in cut:
        cut["age"] = pd.cut(cut["age"], AGE_BANDS, right=False).astype(str)
    if "income" in cut:
        cut["income"] = pd.qcut(cut["income"], INCOME_BANDS, duplicates="drop").astype(str)
    return cut
