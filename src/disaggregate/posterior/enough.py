"""Whether there are enough draws to stop."""

from __future__ import annotations

from typing import Any

import numpy as np

from disaggregate.even_choice import even_choice
from disaggregate.posterior.convergence import bulk_ess, rank_rhat, tail_ess
from disaggregate.posterior.mixture import Posterior

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
    scores = posterior.scores(X[even_choice(len(X), _MOST_INDIVIDUALS)]).reshape(*posterior.shape, -1)
    scales = [draws.reshape(*posterior.shape, -1) for draws in posterior.scales.values()]
    judged = np.concatenate([scores, *scales], axis=2)
    if posterior.shape[0] > 1 and np.nanmax(rank_rhat(judged), initial=1.0) > AGREE:  # NaN where nothing moves
        return False
    return bool(min(np.min(bulk_ess(judged)), np.min(tail_ess(judged))) >= ENOUGH)
