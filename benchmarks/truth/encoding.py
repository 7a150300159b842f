"""Tables as arrays, for methods that know no tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from benchmarks.truth.task import Task, people_per_row

RAREST = 0.01  # levels that fewer have tell nothing


class Encoder:
    """Numbers as they are and a column per level of a category, all of unit spread among the people given."""

    def __init__(self, task: Task) -> None:
        self._features = task.features
        columns = self._columns(task.people)
        weight = people_per_row(task.people)
        often = np.average(columns != 0.0, axis=0, weights=weight) > RAREST
        self._names = columns.columns[often]
        self._scaler = StandardScaler().fit(columns[self._names].to_numpy(), sample_weight=weight)

    def __call__(self, table: pd.DataFrame) -> np.ndarray:
        """Encode a table with the same features."""
        columns = self._columns(table).reindex(columns=self._names, fill_value=0.0)
        return self._scaler.transform(columns.to_numpy())

    def _columns(self, table: pd.DataFrame) -> pd.DataFrame:
        features = table[self._features]
        numbers = features.select_dtypes("number").astype(float)
        levels = features.drop(columns=numbers.columns).astype(str)
        return pd.concat([numbers, pd.get_dummies(levels, dtype=float)], axis=1)


class Rows(NamedTuple):
    """Features and group of single people."""

    X: np.ndarray
    groups: np.ndarray


def single_people(task: Task, X: np.ndarray, per_area: int) -> Rows:
    """Let so many people stand for each area where rows are cells, in about the right proportions."""
    people = people_per_row(task.people)
    if (people == 1.0).all():
        return Rows(X, task.groups)
    total = pd.Series(people).groupby(task.groups).transform("sum").to_numpy()
    times = np.maximum(np.rint(per_area * people / total), 1.0).astype(int)
    return Rows(np.repeat(X, times, axis=0), np.repeat(task.groups, times))
