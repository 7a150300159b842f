"""When to stop: draws are added in rounds until chains agree and draws suffice, or the budget is spent."""

from __future__ import annotations

import math
from typing import Any

from disaggregate.posterior.diagnostics import agreement
from disaggregate.posterior.mixture import Posterior

# Sweeps discarded first, draws per chain of the first round, and draws per chain at most; and about as many as it
# takes, for a forecast: from 400 to 1,300 on people in groups, from tens to thousands of them.
BURN, FIRST, BUDGET = 250, 250, 4000
EXPECTED = 750

# Chains agree at this R-hat, and so many effective draws give averages and ends of intervals.
AGREE, ENOUGH = 1.01, 400.0

# A round adds this share of the draws that there are at least, and as many at most: what the present draws say of
# how many are missing is not certain.
_LEAST_SHARE = 0.25


def missing_draws(posterior: Posterior, X: Any) -> float:
    """Estimate how many draws per chain are missing, by what the verdict is given by; 0 if none are.

    Effective draws grow with the number of draws, and what R-hat exceeds 1 by falls with it.

    Parameters
    ----------
    posterior : Posterior
        Draws so far.
    X : Individuals or ndarray of shape (n_rows, n_features)
        Training individuals.
    """
    (n_chains, n_draws), (worst, fewest) = posterior.shape, agreement(posterior, X)
    if math.isnan(worst) or math.isnan(fewest):
        return math.inf
    by_number = ENOUGH / max(fewest, 1.0)
    by_agreement = (worst - 1.0) / (AGREE - 1.0) if n_chains > 1 else 0.0
    return n_draws * max(by_number - 1.0, by_agreement - 1.0, 0.0)


def more_draws(n_drawn: int, n_missing: float = math.inf) -> int:
    """Return how many draws per chain the next round adds, within the budget.

    Parameters
    ----------
    n_drawn : int
        Draws per chain so far.
    n_missing : float
        About how many are missing; 0 if none are.
    """
    if n_missing == 0.0:
        return 0
    wanted = min(max(n_missing, _LEAST_SHARE * n_drawn), float(n_drawn))
    return max(min(math.ceil(wanted), BUDGET - n_drawn), 0)
