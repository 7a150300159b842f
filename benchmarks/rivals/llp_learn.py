"""llp-learn: its MixBag (Asanomi et al., 2023), a network whose mean probability in mixed groups nears the share.

Of its networks this one served best; the loss of its DLLP averages log probabilities, which makes it a regression
of each individual on the share. The package pins versions of NumPy, scikit-learn and torch that nothing else here
can share, and does not name torchvision, so it lives in an environment of its own, some 5 GB, made in minutes by

    python -m benchmarks.rivals.llp_learn FOLDER

with a Python that those versions know, 3.11 at the latest. ``LLP_LEARN_ENVIRONMENT=FOLDER`` tells where it is.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.rivals.bags import read_bags
from benchmarks.rivals.environment import OwnEnvironment, python_of
from benchmarks.rivals.group_folds import Decide
from benchmarks.rivals.tuned import TunedRival

ENVIRONMENT = OwnEnvironment(
    rival="llp-learn",
    module="benchmarks.rivals.llp_learn",
    variable="LLP_LEARN_ENVIRONMENT",
    packages=("llp-learn==1.6.0", "torchvision==0.15.2"),
    newest_python=(3, 11),
)
WORKER = Path(__file__).with_name("llp_learn_worker.py")
SETTINGS = tuple(product((1e-2, 1e-3), (300, 1200)))
HIDDEN = 100


class Worker:
    """A process in the environment that fits one network after another, because starting torch takes seconds."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process, self._folder = process, folder

    def fit_one(self, setting: tuple[float, int], X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> Decide:
        """Fit with one rate of learning and number of steps."""
        rate, steps = setting
        bags = read_bags(shares, groups)
        epochs = -(-steps // len(bags.sizes))  # a group is a step
        path = self._folder / "job.npz"
        np.savez(path, X=X, place=bags.place, share=bags.share, rate=rate, epochs=epochs, hidden=HIDDEN)
        print(path, file=self._process.stdin, flush=True)
        if self._process.stdout.readline().strip() != "done":
            raise RuntimeError("llp-learn stopped; its own words are above")
        with np.load(f"{path}.out.npz") as layers:
            return _network([layers[name] for name in layers.files])


@contextmanager
def start_worker(environment: Path) -> Iterator[Worker]:
    """Start the process, and end it when done."""
    # Isolated: else this folder's llp_learn.py would be imported in place of the package.
    command = [python_of(environment), "-I", str(WORKER)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):
        yield Worker(process, Path(folder))


def _network(layers: list[np.ndarray]) -> Decide:
    """Rebuild the network: one hidden layer of rectifiers, and the log odds of the second of two outputs."""
    weights, offsets, out_weights, out_offsets = layers
    difference, offset = out_weights[1] - out_weights[0], out_offsets[1] - out_offsets[0]
    return lambda new: np.maximum(0.0, new @ weights.T + offsets) @ difference + offset


class LLPLearn(TunedRival):
    """Rate of learning and number of steps tuned on group error."""

    name = "llp-learn MixBag"
    settings = SETTINGS

    def fit(self, X: np.ndarray, shares: pd.Series, groups: np.ndarray) -> LLPLearn:
        """Choose both and fit, all in one process of its own."""
        with start_worker(ENVIRONMENT.find()) as worker:
            self.fit_one = worker.fit_one
            super().fit(X, shares, groups)
        del self.fit_one  # its process has ended
        return self


if __name__ == "__main__":
    ENVIRONMENT.make_by_command(__doc__)
