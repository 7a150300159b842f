"""Which kernels, and with what weight: each counts by how probable it makes the groups' reports."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from disaggregate.basis import Basis, Directions, choose_centers, principal_directions
from disaggregate.groups import GroupedData
from disaggregate.posterior.kernel_score import KernelScore
from disaggregate.posterior.log_evidence import LogEvidence, log_evidence
from disaggregate.sampler.blocks.data import BlockData
from disaggregate.sampler.dense.run import PilotTask, run_pilots
from disaggregate.sampler.dense.tuning import ENOUGH_TO_COMPARE, ENOUGH_TO_TUNE, Tuning
from disaggregate.sampler.evidence import log_peaks, make_evidence
from disaggregate.sampler.model import Prior
from disaggregate.sampler.streams import Streams

# A kernel that is less probable than this is left out: it could hardly change an answer, and costs a run. Many
# that are as good as each other must not all be left out.
_LEAST_WEIGHT = 0.1
_LEAST_SHARE = 0.4

# Kernels are compared on at most this many centres; beyond, finding their directions is dearer than a short run.
_MOST_CENTERS = 1500


@dataclass(frozen=True)
class Pilot:
    """A kernel that is ready to run.

    Attributes
    ----------
    basis : Basis
        The kernel on its centres.
    directions : Directions
        The columns of its Gaussian process.
    tuning : Tuning
        What a short run found.
    place : int
        Its place among the candidates.
    weight : float
        Its share of the draws.
    """

    basis: Basis
    directions: Directions
    tuning: Tuning
    place: int = 0
    weight: float = 1.0


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
    odds : ndarray
        Prior odds of the kernels that are compared, in any unit.
    streams : Streams
        Random streams of the fit.
    n_jobs : int or None
        Threads.
    progress : bool
        Whether to show a progress bar.
    blocks : BlockData, optional
        The same in blocks, where ``X`` is only an even choice of the individuals.
    """

    X: np.ndarray
    data: GroupedData
    prior: Prior
    odds: np.ndarray
    streams: Streams
    n_jobs: int | None
    progress: bool
    blocks: BlockData | None = None

    def directions(self, basis: Basis) -> Directions:
        """Find the columns of a kernel's Gaussian process."""
        return principal_directions(basis, basis.columns(self.X))

    def pilots(self, bases: list[Basis], n_replicas: int | None, n_last: int = ENOUGH_TO_TUNE) -> list[Pilot]:
        """Find the columns of each kernel and make a short run with them."""
        directions = [self.directions(basis) for basis in bases]
        evidence = make_evidence(self.data)
        generators = self.streams.for_pilots(len(bases))
        tasks = [
            PilotTask(one.columns, np.sqrt(one.spread), evidence, self.prior, n_replicas, generator, n_last)
            for one, generator in zip(directions, generators, strict=True)
        ]
        tunings = run_pilots(tasks, n_jobs=self.n_jobs, progress=self.progress)
        return [Pilot(*parts) for parts in zip(bases, directions, tunings, strict=True)]


def weigh_kernels(bases: list[Basis], comparison: Comparison) -> tuple[list[KernelScore], list[Pilot]]:
    """Make a short run with each kernel; return how they did, and the runs.

    Parameters
    ----------
    bases : list of Basis
        The candidates, all on the same centres.
    comparison : Comparison
        Data, hyper-parameters, and where to run.
    """
    centers = choose_centers(bases[0].centers, _MOST_CENTERS, comparison.streams.for_centers())
    pilots = comparison.pilots([replace(basis, centers=centers) for basis in bases], None, ENOUGH_TO_COMPARE)
    peak = float(log_peaks(comparison.data).sum())
    evidence = [log_evidence([pilot.tuning.stones], peak) for pilot in pilots]
    prior = comparison.odds / comparison.odds.sum()
    weights = kernel_weights(np.array([one.value for one in evidence]), prior)
    scores = [
        kernel_score(basis, found, before, after)
        for basis, found, before, after in zip(bases, evidence, prior.tolist(), weights.tolist(), strict=True)
    ]
    return scores, pilots


def pilots_of_mixture(
    bases: list[Basis], comparison: Comparison, n_replicas: int | None
) -> tuple[list[Pilot], list[KernelScore]]:
    """Return the kernels that share the draws, ready to run, and how all of them did.

    Parameters
    ----------
    bases, comparison
        As for :func:`weigh_kernels`; a single kernel needs no comparison.
    n_replicas : int or None
        Number of replicas of a chain; None for just enough.
    """
    if len(bases) == 1:
        return comparison.pilots(bases, n_replicas), []
    scores, pilots = weigh_kernels(bases, comparison)
    kept = [place for place, score in enumerate(scores) if score.weight > 0.0]
    if n_replicas is None and len(bases[0].centers) <= _MOST_CENTERS:
        ready = [pilots[place] for place in kept]
    else:
        ready = comparison.pilots([bases[place] for place in kept], n_replicas)
    weighed = [
        replace(pilot, place=place, weight=scores[place].weight) for pilot, place in zip(ready, kept, strict=True)
    ]
    return weighed, scores


def most_probable(bases: list[Basis], comparison: Comparison) -> tuple[int, list[KernelScore]]:
    """Return the place of the kernel of greatest weight, and how all did; a single one needs no comparison."""
    if len(bases) == 1:
        return 0, []
    scores, _ = weigh_kernels(bases, comparison)
    return int(np.argmax([score.weight for score in scores])), scores


def kernel_weights(log_evidence: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Probability of each kernel after the reports are seen, with the negligible ones left out.

    Parameters
    ----------
    log_evidence : ndarray
        Log marginal likelihood of each.
    prior : ndarray
        Probability of each before.
    """
    weights = softmax(log_evidence + np.log(prior))
    weights[weights < min(_LEAST_WEIGHT, _LEAST_SHARE / len(weights))] = 0.0
    return weights / weights.sum()


def kernel_score(basis: Basis, found: LogEvidence, before: float, after: float) -> KernelScore:
    """Put together what was found of a kernel: its evidence, and its probability before and after."""
    gamma, emphasis = basis.kernel.gamma, basis.emphasis
    return KernelScore(_kernel_name(basis), gamma, found, before, after, basis.context, emphasis)


def _kernel_name(basis: Basis) -> str:
    """Name of a kernel, or of the function that it is."""
    name = basis.kernel.name
    return name if isinstance(name, str) else getattr(name, "__name__", repr(name))
