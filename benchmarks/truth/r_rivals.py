"""eiPack and eco, packages of R, where R is installed (Debian: r-base-core, r-cran-eipack, r-cran-eco).

Each has a script beside this file. It reads the margins of the areas from a CSV file, a row per area, and writes
a draw of all cells per line: of all areas for the first kind of people, then for the second, and so on.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchmarks.rivals.missing import RivalMissing
from benchmarks.truth.margins import Margins, RivalOnMargins

FOLDER = Path(__file__).parent


class _OfR(RivalOnMargins):
    package: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ()

    def draw(self, margins: Margins, seed: int) -> np.ndarray:
        """Run the script."""
        command = require_package(self.package)
        script = str(FOLDER / f"{self.package.lower()}.R")
        table = margins.people.set_axis([f"kind{k}" for k in range(margins.people.shape[1])], axis=1)
        with tempfile.TemporaryDirectory() as folder:
            given, found = Path(folder) / "margins.csv", Path(folder) / "draws.csv"
            table.assign(positives=margins.positives).to_csv(given, index=False)
            subprocess.run([command, script, str(given), str(found), str(seed + 1), *self.options], check=True)
            draws = np.loadtxt(found, delimiter=",", ndmin=2)
        return draws.reshape(len(draws), table.shape[1], len(table)).transpose(0, 2, 1)


def require_package(package: str) -> str:
    """Return the command that runs scripts of R, or raise RivalMissing if it or a package is not installed."""
    command = shutil.which("Rscript")
    how = f"on Debian, apt-get install r-base-core r-cran-{package.lower()}"
    if command is None:
        raise RivalMissing(f"R is not installed: {how}")
    found = subprocess.run([command, "-e", f"library({package})"], capture_output=True, check=False)
    if found.returncode:
        raise RivalMissing(f"{package} is not installed in R: {how}")
    return command


class EiPack(_OfR):
    """Multinomial and Dirichlet by Metropolis steps (ei.MD.bayes), tuned by its own tuneMD."""

    name, package = "eiPack", "eiPack"


class Eco(_OfR):
    """Imai, Lu and Strauss' normal model of 2 x 2 tables."""

    name, package, n_kinds = "eco", "eco", 2


class EcoWithContext(Eco):
    """The same, with rates that may go with the make-up of the area."""

    name = "eco with context"
    options = ("context",)
