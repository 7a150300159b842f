"""Where chains on many blocks start: around the peaks that they find from where the prior puts them."""

from __future__ import annotations

import numpy as np

from disaggregate.sampler.blocks.climb import Peak, climb
from disaggregate.sampler.blocks.model import (
    BlockProblem,
    Crowd,
    all_rungs,
    posterior_curvature,
    question_at,
)
from disaggregate.sampler.blocks.sweep import redraw_labels
from disaggregate.sampler.model import LOG_SCALE_BOUND

# Chains start this many times as far from their peak as the posterior is wide, so that agreeing means something.
_DISPERSION = 2.0

# A peak around which the posterior has less than exp of minus this of its mass is left: with so many people a
# chain would never find its way from there.
_HOPELESS = 12.0

# Labels are drawn this many times before the first sweep: the first ones are the likeliest, not draws.
_FIRST_LABELS = 3


def start_crowd(problem: BlockProblem, rngs: list[np.random.Generator]) -> tuple[Crowd, np.ndarray]:
    """Let every replica climb from a point that the prior gave it, the first chain's from zero, and step aside.

    Where there are several peaks of about the same mass, chains may find different ones, and their disagreement
    shows; chains that end on a hopeless peak go to the best one that was found.

    Parameters
    ----------
    problem : BlockProblem
        Data and hyper-parameters.
    rngs : list of numpy.random.Generator
        Each chain's own.

    Returns
    -------
    crowd : Crowd
        Where replicas stand.
    curvature : ndarray of shape (n_rungs, n_columns + 1, n_columns + 1)
        Of minus the log density that Hamiltonian paths see, at each rung.
    """
    n_chains, n_rungs = len(rngs), problem.n_rungs
    n_coordinates = len(problem.deviation) + 1
    center = np.log(problem.prior.nu / problem.prior.mu)
    first = np.concatenate([rng.standard_normal((n_rungs, n_coordinates)) for rng in rngs])
    first[:n_rungs] = 0.0
    first[:, -1] = np.clip(center + 0.5 * first[:, -1], 1.0 - LOG_SCALE_BOUND, LOG_SCALE_BOUND - 1.0)
    rungs = all_rungs(n_chains, n_rungs)
    peak = _with_hope(climb(problem, first, rungs), n_rungs)
    aside = np.concatenate([rng.standard_normal((n_rungs, n_coordinates)) for rng in rngs])
    factor = np.linalg.cholesky(peak.curvature)
    step = np.linalg.solve(factor.transpose(0, 2, 1), aside[:, :, None])[:, :, 0]
    position = (peak.position + _DISPERSION * step).reshape(n_chains, n_rungs, n_coordinates)
    crowd = Crowd(position, problem.sums.likely_labels(question_at(problem, peak.position, rungs)), None, 0)
    for turn in range(_FIRST_LABELS):
        redraw_labels(problem, crowd, 2 + turn, problem.in_one_piece)
    return crowd, measured_curvature(problem, peak.position.reshape(position.shape))


def _with_hope(peak: Peak, n_rungs: int) -> Peak:
    """Put those of each rung whose peak has next to no mass on the best peak of that rung."""
    evidence = peak.log_evidence.reshape(-1, n_rungs)
    best = evidence.argmax(axis=0) * n_rungs + np.arange(n_rungs)
    own = np.arange(evidence.size)
    chosen = np.where(
        peak.log_evidence < evidence.max(axis=0)[own % n_rungs] - _HOPELESS, best[own % n_rungs], own
    )
    return Peak(peak.position[chosen], peak.curvature[chosen], peak.log_evidence[chosen])


def measured_curvature(problem: BlockProblem, position: np.ndarray) -> np.ndarray:
    """Curvature at each rung, on average over where the chains are."""
    n_chains, n_rungs, n_coordinates = position.shape
    flat = position.reshape(n_chains * n_rungs, n_coordinates)
    question = question_at(problem, flat, all_rungs(n_chains, n_rungs))
    curvature = posterior_curvature(problem, flat, problem.sums.information(question, hold=True))
    return curvature.reshape(n_chains, n_rungs, n_coordinates, n_coordinates).mean(axis=0)
