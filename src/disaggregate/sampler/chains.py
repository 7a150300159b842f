"""The chains of one kernel with sparse weights."""

from __future__ import annotations

import numpy as np

from disaggregate.sampler.chain import Schedule, SparseChain
from disaggregate.sampler.ladder import LadderChain
from disaggregate.sampler.model import Prior, SparseData

# Births and deaths proposed per sweep: few enough to cost little beside the Hamiltonian path, and measured to gain
# nothing beyond (benchmarks/mixing.py).
_PROPOSALS = 64


def sparse_chains(
    data: SparseData,
    prior: Prior,
    schedule: Schedule,
    powers: np.ndarray,
    generators: list[np.random.Generator],
) -> list[SparseChain] | list[LadderChain]:
    """Set up one chain per generator.

    Parameters
    ----------
    data, prior, schedule : SparseData, Prior, Schedule
        Data, hyper-parameters, length and moves.
    powers : ndarray
        Powers of the evidence, one per replica; with one there is no ladder.
    generators : list of numpy.random.Generator
        One a chain.
    """
    n_proposals = proposals_per_sweep(data, schedule)
    if len(powers) > 1:
        return [LadderChain(data, prior, powers, schedule, n_proposals, rng) for rng in generators]
    return [SparseChain(data, prior, schedule, n_proposals, rng) for rng in generators]


def proposals_per_sweep(data: SparseData, schedule: Schedule) -> int:
    """Births and deaths that a sweep proposes: as many as there are kernels in the paper, else a few."""
    n_selectable = len(data.gram) - data.n_fixed
    return n_selectable if schedule.moves == "published" else min(_PROPOSALS, n_selectable)
