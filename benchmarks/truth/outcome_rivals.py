"""eiPack and PyEI on all cells of larger tables: kinds of people by outcomes, from the margins of areas."""

from __future__ import annotations

import subprocess
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from benchmarks.rivals.environment import python_of
from benchmarks.truth.cells import AREA, KIND
from benchmarks.truth.pyei_rival import ENVIRONMENT
from benchmarks.truth.r_rivals import FOLDER, require_package
from benchmarks.truth.task import COUNT


class TableRival(ABC):
    """What these have in common; each has ``draw``. Draws are shares of these very people."""

    name: ClassVar[str]

    @classmethod
    def applies_to(cls, task: Any) -> bool:
        """Whether rows are cells."""
        return COUNT in task.people

    def fit(self, task: Any) -> Self:
        """Draw the shares of all cells."""
        self._people = task.people.pivot_table(index=AREA, columns=KIND, values=COUNT, fill_value=0).astype(int)
        results = task.results.set_index(task.roles["group"]).loc[self._people.index, list(task.outcomes)]
        self._draws = self.draw(self._people.to_numpy(), results.to_numpy().astype(int), task.seed)
        return self

    def shares(self, judges: pd.DataFrame) -> np.ndarray:
        """Look the cells up: draws of shape (n_draws, n_rows, n_outcomes)."""
        area = self._people.index.get_indexer(judges[AREA])
        return self._draws[:, area, self._people.columns.get_indexer(judges[KIND])]

    @abstractmethod
    def draw(self, people: np.ndarray, results: np.ndarray, seed: int) -> np.ndarray:
        """Return the shares of outcomes in each cell, shape (n_draws, n_areas, n_kinds, n_outcomes)."""


class EiPackTable(TableRival):
    """Multinomial and Dirichlet by Metropolis steps (ei.MD.bayes), tuned by its own tuneMD."""

    name = "eiPack"

    def draw(self, people: np.ndarray, results: np.ndarray, seed: int) -> np.ndarray:
        """Run the script."""
        command, script = require_package("eiPack"), str(FOLDER / "eipack_table.R")
        table = pd.concat(
            [pd.DataFrame(people).add_prefix("kind"), pd.DataFrame(results).add_prefix("outcome")], axis=1
        )
        with tempfile.TemporaryDirectory() as folder:
            given, found = Path(folder) / "margins.csv", Path(folder) / "draws.csv"
            table.to_csv(given, index=False)
            subprocess.run([command, script, str(given), str(found), str(seed + 1)], check=True)
            draws = np.loadtxt(found, delimiter=",", ndmin=2)
        shaped = draws.reshape(len(draws), people.shape[1], results.shape[1], len(people))
        return shaped.transpose(0, 3, 1, 2)


class PyEITable(TableRival):
    """Multinomial and Dirichlet, with its own defaults."""

    name = "PyEI"

    def draw(self, people: np.ndarray, results: np.ndarray, seed: int) -> np.ndarray:
        """Fit in its own environment."""
        environment, worker = ENVIRONMENT.find(), FOLDER / "pyei_worker.py"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "margins.npz"
            np.savez(path, people=people, positives=results, model="multinomial-dirichlet", seed=seed)
            subprocess.run([python_of(environment), "-I", str(worker), str(path)], check=True)
            return np.load(path.with_suffix(".npy"))
