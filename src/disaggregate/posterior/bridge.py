"""The evidence from draws of the posterior alone, by bridge sampling with a normal density."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.posterior.log_evidence import LogEvidence, log_evidence
from disaggregate.sampler.dense.metric import Metric, factored
from disaggregate.sampler.dense.target import Target
from disaggregate.sampler.dense.tuning import typical_curvature
from disaggregate.sampler.evenly_spaced import evenly_spaced

# Draws at which the curvature is measured.
_N_CURVATURES = 12


def bridge_evidence(
    target: Target, draws: np.ndarray, log_maximum: float, rng: np.random.Generator
) -> LogEvidence:
    """Estimate the log evidence by Bennett's acceptance ratio between a normal density and the posterior.

    The first half of the draws makes the normal density, the second half and as many draws of it the estimate:
    a draw must not judge a density that was made of it.

    Parameters
    ----------
    target : Target
        The posterior, on its first rung.
    draws : ndarray of shape (n_chains, n_draws, n_coordinates)
        Draws of it.
    log_maximum : float
        Log likelihood that was taken out of the reports to scale them.
    rng : numpy.random.Generator
        Draws from the normal density.
    """
    half = draws.shape[1] // 2
    reference = _normal_like(target, draws[:, :half].reshape(-1, draws.shape[2]))
    ratios = [_log_ratios(target, reference, late, rng) for late in draws[:, half:]]
    return log_evidence([ratio[:, None, :] for ratio in ratios], log_maximum)


class _Normal(NamedTuple):
    mean: np.ndarray
    metric: Metric


def _normal_like(target: Target, draws: np.ndarray) -> _Normal:
    """Make a normal density like the posterior.

    Its precision is the expected curvature, averaged over draws. Its mean is that of the draws, each of them moved
    by a Newton step: steps add up to nothing on average, and take most of the noise of the draws away.
    """
    some = draws[evenly_spaced(len(draws), _N_CURVATURES)]
    curvature = target.curvature(some, _first(some))
    metric = factored(np.ones(1), typical_curvature(curvature)[None])
    force = target.evaluate(draws, _first(draws))[1]
    return _Normal((draws + force @ metric.inverse[0]).mean(axis=0), metric)


def _log_ratios(target: Target, normal: _Normal, draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Log of posterior (without its normaliser) over normal density: at draws of the latter, and of the former."""
    noise = rng.standard_normal(draws.shape)
    proposed = normal.mean + np.linalg.solve(normal.metric.factor[0].T, noise.T).T
    return np.column_stack([_log_ratio(target, normal, proposed), _log_ratio(target, normal, draws)])


def _log_ratio(target: Target, normal: _Normal, position: np.ndarray) -> np.ndarray:
    """Densities in units in which 2 pi drops out but for the scales, whose priors are normalised."""
    factor = normal.metric.factor[0]
    with np.errstate(over="ignore", invalid="ignore"):
        energy = target.evaluate(position, _first(position))[0]
    own = np.log(np.diagonal(factor)).sum() - 0.5 * np.sum(((position - normal.mean) @ factor) ** 2, axis=1)
    ratio = 0.5 * np.log(2.0 * np.pi) * len(target.components.priors) - energy - own
    return np.where(np.isfinite(ratio), ratio, -np.inf)


def _first(position: np.ndarray) -> np.ndarray:
    return np.zeros(len(position), dtype=np.int64)
