"""The same problem with weaker evidence: the rungs of the ladder between the prior and the posterior."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from disaggregate.sampler.model import Problem

# How fast counts that the evidence excludes come back as its power falls.
_SOFTNESS = 2.0


def ladder_powers(n_replicas: int) -> np.ndarray:
    """Powers of the evidence from 1 down to 0; nearly geometric, closest together near 1 on that scale."""
    if n_replicas == 1:
        return np.ones(1)
    return np.append(2.0 ** -np.linspace(0.0, 0.9 * (n_replicas - 1), n_replicas)[:-1], 0.0)


def tempered(problem: Problem, powers: np.ndarray) -> Problem:
    """Stack the evidence at several powers, one a row of the evidence arrays.

    Counts that the evidence allows have their likelihood raised to the power. Counts that it excludes are
    let in again, the more easily the lower the power and the nearer they are to an allowed one: a power of an
    exact tally would be the same tally.

    Parameters
    ----------
    problem : Problem
        The data, with evidence arrays of one dimension.
    powers : ndarray of shape (n_replicas,)
        From 1, the evidence itself, down to 0, no evidence.
    """
    ends = problem.offsets + np.arange(len(problem.offsets))
    log_likelihood = np.stack(
        [
            np.concatenate([_soften(problem.log_likelihood[i:j], power) for i, j in pairwise(ends)])
            for power in powers
        ]
    )
    largest = np.maximum.reduceat(log_likelihood, ends[:-1], axis=1)
    likelihood = np.exp(log_likelihood - np.repeat(largest, np.diff(ends), axis=1))
    is_whole = (powers == 1.0)[:, None]
    return problem._replace(
        log_likelihood=log_likelihood,
        likelihood=likelihood,
        fewest=np.where(is_whole, problem.fewest, 0),
        most=np.where(is_whole, problem.most, np.diff(problem.offsets)),
    )


def _soften(log_likelihood: np.ndarray, power: float) -> np.ndarray:
    if power == 1.0:
        return log_likelihood
    allowed = np.flatnonzero(np.isfinite(log_likelihood))
    counts = np.arange(len(log_likelihood))
    after = np.clip(np.searchsorted(allowed, counts), 0, len(allowed) - 1)
    before = np.maximum(after - 1, 0)
    is_before = np.abs(allowed[before] - counts) < np.abs(allowed[after] - counts)
    nearest = np.where(is_before, allowed[before], allowed[after])
    penalty = _SOFTNESS * power / (1.0 - power)
    return power * log_likelihood[nearest] - penalty * np.abs(counts - nearest)
