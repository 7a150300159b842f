"""PyEI: Bayesian ecological inference, its models for 2 x 2 and for larger tables with its own defaults.

It needs PyMC, JAX and NumPyro, so it lives in an environment of its own, made in minutes by

    python -m benchmarks.truth.pyei_rival FOLDER

``PYEI_ENVIRONMENT=FOLDER`` tells where it is.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchmarks.rivals.environment import OwnEnvironment, python_of
from benchmarks.truth.margins import Margins, RivalOnMargins

ENVIRONMENT = OwnEnvironment(
    rival="PyEI",
    module="benchmarks.truth.pyei_rival",
    variable="PYEI_ENVIRONMENT",
    packages=("pyei==1.1.4",),
)
WORKER = Path(__file__).with_name("pyei_worker.py")


class _PyEI(RivalOnMargins):
    model: ClassVar[str]

    def draw(self, margins: Margins, seed: int) -> np.ndarray:
        """Fit in its own environment."""
        environment = ENVIRONMENT.find()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "margins.npz"
            np.savez(path, people=margins.people, positives=margins.positives, model=self.model, seed=seed)
            subprocess.run([python_of(environment), "-I", str(WORKER), str(path)], check=True)
            return np.load(path.with_suffix(".npy"))


class PyEITwoByTwo(_PyEI):
    """King, Rosen and Tanner's hierarchy with the modified prior that its guide starts from."""

    name, n_kinds, model = "PyEI 2x2", 2, "king99_pareto_modification"


class PyEIRowsByColumns(_PyEI):
    """Multinomial and Dirichlet, the outcome against the rest."""

    name, model = "PyEI RxC", "multinomial-dirichlet"


if __name__ == "__main__":
    ENVIRONMENT.make_by_command(__doc__)
