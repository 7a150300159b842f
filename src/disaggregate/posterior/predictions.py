"""Probabilities of individuals: their mean, their draws and their intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from disaggregate.parallel.one_blas_thread import one_blas_thread
from disaggregate.parallel.threads import Threads
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.summaries import interval_ends

# Values of f in memory at once: rows are worked on in pieces so that memory does not grow with them.
VALUES_AT_ONCE = 2**23


def probability_mean(posterior: Posterior, X: Any) -> np.ndarray:
    """Pr(y = 1 given x, D): the average of Phi(f(x)) over the draws, eq. (10). Shape (n_rows,).

    With more than two outcomes of each of them, shape (n_rows, n_outcomes).
    """
    return _in_pieces(posterior, X, lambda probability: probability.mean(axis=0))


def probability_interval(posterior: Posterior, X: Any, level: float) -> np.ndarray:
    """Central credible interval of each probability, shape (n_rows, 2), or (n_rows, n_outcomes, 2) for several."""
    tails = interval_ends(level)
    return _in_pieces(posterior, X, lambda found: np.moveaxis(np.quantile(found, tails, axis=0), 0, -1))


def probability_summary(posterior: Posterior, X: Any, level: float) -> np.ndarray:
    """Mean and ends of the interval of each probability from one pass over the draws, shape (n_rows, 3).

    With more than two outcomes of shape (n_rows, n_outcomes, 3).
    """
    tails = interval_ends(level)

    def summary(probability: np.ndarray) -> np.ndarray:
        ends = np.quantile(probability, tails, axis=0)
        return np.moveaxis(np.concatenate([probability.mean(axis=0)[None], ends]), 0, -1)

    return _in_pieces(posterior, X, summary)


def probability_draws(posterior: Posterior, X: Any) -> np.ndarray:
    """Phi(f(x)) in each draw, shape (n_chains, n_draws, n_rows); several outcomes are a last dimension."""
    draws = _in_pieces(posterior, X, lambda probability: np.swapaxes(probability, 0, 1))
    return np.ascontiguousarray(np.swapaxes(draws, 0, 1)).reshape(
        *posterior.shape, *draws.shape[:1], *draws.shape[2:]
    )


def _in_pieces(posterior: Posterior, X: Any, summary: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Apply a summary of (draws, rows) probabilities to pieces of the rows, several at a time."""
    values = posterior.n_outcomes if posterior.n_outcomes > 2 else 1
    rows = max(1, VALUES_AT_ONCE // (posterior.delta2.size * values))
    starts = range(0, len(X), rows)

    def piece(start: int) -> np.ndarray:
        return summary(posterior.probabilities(X[start : start + rows]))

    if len(starts) == 1:
        return piece(0)
    with one_blas_thread():  # the pieces fill the cores
        return np.concatenate(Threads(None).map(piece, starts))
