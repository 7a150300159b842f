"""Which kernel, and how wide: the simplest one under which the groups' reports are about as probable as can be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from disaggregate.basis import Basis, Directions, choose_centers, principal_directions
from disaggregate.groups import GroupedData
from disaggregate.posterior.log_evidence import LogEvidence, log_evidence
from disaggregate.sampler.dense.run import PilotTask, run_pilots
from disaggregate.sampler.dense.tuning import Tuning
from disaggregate.sampler.evidence import log_peaks, make_evidence
from disaggregate.sampler.model import Prior
from disaggregate.sampler.streams import Streams

# A kernel gives way to a simpler one unless the evidence for it is 3 to 1: with few groups, less is chance.
_LOG_ODDS = np.log(3.0)

# Kernels are compared on at most this many centres: the choice needs less detail than the fit.
_MOST_CENTERS = 500


@dataclass(frozen=True)
class KernelScore:
    """A kernel that was tried.

    Attributes
    ----------
    kernel : str
        Its name.
    gamma : float
        Its width; a linear kernel does not use it.
    log_evidence : LogEvidence
        How probable it makes the reports, from a short run.
    """

    kernel: str
    gamma: float
    log_evidence: LogEvidence

    def __str__(self) -> str:
        width = "" if self.kernel == "linear" else f" gamma {self.gamma:.3g}"
        return f"{self.kernel}{width} {self.log_evidence}"


@dataclass(frozen=True)
class Comparison:
    """What a choice among kernels rests on: data, hyper-parameters, and where to run.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Individuals sorted by group.
    data : GroupedData
        What the groups report.
    prior : Prior
        Hyper-parameters of dense weights.
    streams : Streams
        Random streams of the fit.
    n_jobs : int or None
        Threads.
    progress : bool
        Whether to show a progress bar.
    """

    X: np.ndarray
    data: GroupedData
    prior: Prior
    streams: Streams
    n_jobs: int | None
    progress: bool

    def directions(self, basis: Basis) -> Directions:
        """Columns of the Gaussian process with this basis."""
        return principal_directions(basis, basis.columns(self.X))

    def tune(self, directions: list[Directions], n_replicas: int | None) -> list[Tuning]:
        """Run a pilot for each set of columns."""
        evidence = make_evidence(self.data)
        generators = self.streams.for_pilots(len(directions))
        tasks = [
            PilotTask(one.columns, np.sqrt(one.spread), evidence, self.prior, n_replicas, generator)
            for one, generator in zip(directions, generators, strict=True)
        ]
        return run_pilots(tasks, n_jobs=self.n_jobs, progress=self.progress)


def choose_basis(bases: list[Basis], comparison: Comparison) -> tuple[Basis, list[KernelScore]]:
    """Return the simplest basis of great evidence, and how all of them did; a single one needs no comparison.

    Parameters
    ----------
    bases : list of Basis
        The candidates, from the simplest kernel to the most flexible.
    comparison : Comparison
        Data, hyper-parameters, and where to run.
    """
    if len(bases) == 1:
        return bases[0], []
    fewer = choose_centers(bases[0].centers, _MOST_CENTERS, comparison.streams.for_centers())
    directions = [comparison.directions(replace(basis, centers=fewer)) for basis in bases]
    peak = float(log_peaks(comparison.data).sum())
    scores = [
        KernelScore(_name(basis), basis.kernel.gamma, log_evidence([tuning.stones], peak))
        for basis, tuning in zip(bases, comparison.tune(directions, None), strict=True)
    ]
    return bases[_simplest_good([score.log_evidence.value for score in scores])], scores


def _simplest_good(values: list[float]) -> int:
    """Find the first, hence simplest, candidate against which the evidence is not stronger than the odds."""
    return int(np.flatnonzero(np.asarray(values) >= np.max(values) - _LOG_ODDS)[0])


def _name(basis: Basis) -> str:
    name = basis.kernel.name
    return name if isinstance(name, str) else getattr(name, "__name__", repr(name))
