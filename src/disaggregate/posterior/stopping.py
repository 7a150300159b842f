"""When to stop: draws are added in rounds until chains agree and draws suffice, or the budget is spent."""

from __future__ import annotations

from typing import Any

import numpy as np

from disaggregate.posterior.convergence import bulk_ess, rank_rhat, tail_ess
from disaggregate.posterior.mixture import Posterior
from disaggregate.sampler.evenly_spaced import evenly_spaced

# Sweeps discarded first, draws per chain of the first round, and draws per chain at most.
BURN, FIRST, BUDGET = 250, 250, 4000

# Chains agree at this R-hat, and so many effective draws give averages and ends of intervals.
AGREE, ENOUGH = 1.01, 400.0

# Individuals whose scores are checked, an even choice of them.
_MOST_INDIVIDUALS = 200


def are_enough(posterior: Posterior, X: Any) -> bool:
    """Tell whether chains agree on scales and scores, and effective draws are as many as wanted.

    Parameters
    ----------
    posterior : Posterior
        Draws so far.
    X : Individuals or ndarray of shape (n_rows, n_features)
        Training individuals.
    """
    scores = posterior.scores(X[evenly_spaced(len(X), _MOST_INDIVIDUALS)]).reshape(*posterior.shape, -1)
    scales = [draws.reshape(*posterior.shape, -1) for draws in posterior.scales.values()]
    judged = np.concatenate([scores, *scales], axis=2)
    if posterior.shape[0] > 1 and np.nanmax(rank_rhat(judged), initial=1.0) > AGREE:  # NaN where nothing moves
        return False
    return bool(min(np.min(bulk_ess(judged)), np.min(tail_ess(judged))) >= ENOUGH)


def more_draws(n_drawn: int) -> int:
    """Return how many draws per chain the next round adds: as many as there are, within the budget."""
    return max(min(n_drawn, BUDGET - n_drawn), 0)
