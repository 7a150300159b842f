"""The chains of one kernel with sparse weights."""

from __future__ import annotations

import numpy as np

from disaggregate.sampler.chain import Schedule, SparseChain
from disaggregate.sampler.ladder import LadderChain
from disaggregate.sampler.model import Prior, Problem

# Births and deaths proposed a sweep: few enough to cost little beside the Hamiltonian path, and measured to gain
# nothing beyond (benchmarks/mixing.py).
_PROPOSALS = 64


def sparse_chains(
    problem: Problem,
    prior: Prior,
    schedule: Schedule,
    powers: np.ndarray,
    generators: list[np.random.Generator],
) -> list[SparseChain] | list[LadderChain]:
    """Set up one chain a generator.

    Parameters
    ----------
    problem, prior, schedule : Problem, Prior, Schedule
        Data, hyper-parameters, length and moves.
    powers : ndarray
        Powers of the evidence, one a replica; with one there is no ladder.
    generators : list of numpy.random.Generator
        One a chain.
    """
    n_proposals = proposals_a_sweep(problem, schedule)
    if len(powers) > 1:
        return [LadderChain(problem, prior, powers, schedule, n_proposals, rng) for rng in generators]
    return [SparseChain(problem, prior, schedule, n_proposals, rng) for rng in generators]


def proposals_a_sweep(problem: Problem, schedule: Schedule) -> int:
    """Births and deaths that a sweep proposes: as many as there are kernels in the paper, else a few."""
    n_selectable = len(problem.gram) - problem.n_fixed
    return n_selectable if schedule.moves == "published" else min(_PROPOSALS, n_selectable)
