"""Rivals that take the two margins of a table per area and give the share of positives in each of its cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pandas as pd

from benchmarks.truth.cells import AREA, KIND
from benchmarks.truth.scores import Prediction
from benchmarks.truth.task import COUNT, Task


@dataclass(frozen=True)
class Margins:
    """Both margins of each area.

    Attributes
    ----------
    people : DataFrame
        People of each kind, a row per area and a column per kind.
    positives : Series
        Positives in each area.
    """

    people: pd.DataFrame
    positives: pd.Series

    @property
    def size(self) -> pd.Series:
        """People in each area."""
        return self.people.sum(axis=1)


def margins_of(task: Task) -> Margins:
    """Put the cells of a task into tables."""
    people = task.people.pivot_table(index=AREA, columns=KIND, values=COUNT, fill_value=0)
    positives = task.results.set_index(AREA)["positives"]
    return Margins(people.astype(int), positives[people.index].astype(int))


class RivalOnMargins(ABC):
    """What these have in common; each has ``draw``."""

    name: ClassVar[str]
    n_kinds: ClassVar[int | None] = None  # how many kinds of people it takes; None for any number

    @classmethod
    def applies_to(cls, task: Task) -> bool:
        """Whether rows are cells of as many kinds as it can take."""
        return COUNT in task.people and cls.n_kinds in (None, task.people[KIND].nunique())

    def fit(self, task: Task) -> Self:
        """Draw the shares of all cells."""
        self._margins = margins_of(task)
        self._draws = self.draw(self._margins, task.seed)
        return self

    def predict(self, judges: pd.DataFrame) -> Prediction:
        """Look the cells up. The draws are shares of these very people."""
        area = self._margins.people.index.get_indexer(judges[AREA])
        kind = self._margins.people.columns.get_indexer(judges[KIND])
        draws = self._draws[:, area, kind]
        return Prediction(draws.mean(axis=0), draws, of_these_people=True)

    @abstractmethod
    def draw(self, margins: Margins, seed: int) -> np.ndarray:
        """Return the share of positives in each cell, shape (n_draws, n_areas, n_kinds)."""
