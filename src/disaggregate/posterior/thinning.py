"""Thinning of draws to a requested precision, and the Monte Carlo error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from disaggregate.posterior.convergence import bulk_ess
from disaggregate.posterior.draws import KernelDraws
from disaggregate.posterior.mixture import Posterior
from disaggregate.sampler.evenly_spaced import evenly_spaced

# Rows on which the error is measured: evenly spaced ones.
_ROWS = 200

# Fewer draws than this in a chain do not show how far they depend on each other.
_FEWEST = 20


def monte_carlo_error(posterior: Posterior, X: Any) -> float:
    """Largest Monte Carlo standard error of a probability, over evenly spaced rows.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    X : ndarray of shape (n_rows, n_features)
        Rows whose probabilities are wanted.
    """
    probability = posterior.probabilities(X[evenly_spaced(len(X), _ROWS)]).reshape(*posterior.shape, -1)
    spread = probability.std(axis=(0, 1))
    # A probability that is the same in all draws has no error, and no number of effective draws either.
    effective = np.where(spread > 0.0, np.maximum(np.nan_to_num(bulk_ess(probability), nan=1.0), 1.0), 1.0)
    return float((spread / np.sqrt(effective)).max())


def thin_to(posterior: Posterior, X: Any, precision: float) -> Posterior:
    """Keep every second, fourth, eighth … draw, as long as the error at these rows stays below the precision.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    X : ndarray of shape (n_rows, n_features)
        Rows whose probabilities are wanted.
    precision : float
        Largest Monte Carlo standard error of a probability.
    """
    if not precision > 0.0:
        raise ValueError(f"precision must be a positive number, such as 0.005; got {precision!r}.")
    thinned = posterior
    while thinned.shape[1] >= 2 * _FEWEST:
        fewer = every(thinned, 2)
        if monte_carlo_error(fewer, X) > precision:
            break
        thinned = fewer
    return thinned


def thinned_to(posterior: Posterior, n_draws: int) -> Posterior:
    """Keep so many draws of all chains together at most, if at least one of each is left."""
    n_chains, n_each = posterior.shape
    step = -(-n_chains * n_each // max(n_draws, n_chains))
    return every(posterior, min(step, n_each)) if step > 1 else posterior


def every(posterior: Posterior, step: int) -> Posterior:
    """Keep one draw in so many."""
    is_kept = np.arange(posterior.shape[1]) % step == step - 1
    parts: list[KernelDraws] = []
    numbers: list[int] = []
    for index, part in enumerate(posterior.parts):
        own = np.flatnonzero(is_kept[posterior.part_of_draw == index])
        if not len(own):
            continue
        n_chains, n_draws = part.shape
        rows = (np.arange(n_chains)[:, None] * n_draws + own).ravel()
        by_draw = {
            name: values[:, own]
            for name in ("delta2", "n_active", "context_delta2", "place_delta2", "report_delta2", "cell_delta2")
            if (values := getattr(part, name)) is not None
        }
        places = None if part.places is None else part.places[rows]
        parts.append(replace(part, **by_draw, weights=part.weights[rows], places=places))
        numbers.append(index)
    return Posterior(tuple(parts), np.searchsorted(numbers, posterior.part_of_draw[is_kept]))
