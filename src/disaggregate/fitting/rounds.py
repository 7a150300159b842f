"""Draws in rounds, until there are enough of them or the budget is spent."""

from __future__ import annotations

# Sweeps thrown away first, draws per chain of the first round, and draws per chain at most.
BURN, FIRST, BUDGET = 250, 250, 4000


def more_draws(n_drawn: int) -> int:
    """Return how many draws per chain the next round adds: as many as there are, within the budget."""
    return max(min(n_drawn, BUDGET - n_drawn), 0)
