"""What computes sweeps: a compiled back end that holds everything, or a partitioned one for large data."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from disaggregate.sampler.dense.state import Sweeps
from disaggregate.sampler.dense.target import Target


class Backend(Protocol):
    """Data, and sweeps over them; both kinds draw from the same density."""

    target: Target
    sweeps_per_batch: int
    n_starts: int  # from how many points to search for modes
    n_adapting: int  # sweeps before the burn-in in which a chain adapts its own steps

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_tallies(self) -> int:
        """Length of the tallies of all groups' shares."""

    def with_powers(self, powers: np.ndarray) -> Backend:
        """Return the same data with another ladder."""

    def advance(self, sweeps: Sweeps) -> int:
        """Do some sweeps; return how many draws were recorded."""
