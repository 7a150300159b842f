"""The rungs of a ladder: powers of the evidence, spaced so that all neighbours swap equally often."""

from __future__ import annotations

import math

import numpy as np

# Swaps are healthy when about this share of the proposals between neighbours is turned down.
_REJECTED = 0.7
FEWEST, MOST = 4, 24
_LOWEST = 1e-3


def first_powers(n_rungs: int | None) -> np.ndarray:
    """Powers to begin with, before anything is known: halves, or as many as are requested."""
    if n_rungs == 1:
        return np.ones(1)
    n_positive = 11 if n_rungs is None else n_rungs - 1
    return np.append(np.geomspace(1.0, _LOWEST, n_positive), 0.0)


def log_powers(powers: np.ndarray) -> np.ndarray:
    """Powers on a logarithmic scale on which rungs are roughly even, and 0 is not at infinity."""
    return np.log(powers + _LOWEST)


def respaced(powers: np.ndarray, rejected: np.ndarray, n_rungs: int | None) -> np.ndarray:
    """Space the rungs so that every pair of neighbours rejects equally often (Syed et al., 2022).

    Parameters
    ----------
    powers : ndarray
        Present powers, from 1 down to 0.
    rejected : ndarray
        How often each pair of neighbours refuses to swap.
    n_rungs : int or None
        How many rungs to have; None for as many as are healthy.
    """
    barrier = np.concatenate([[0.0], np.cumsum(np.maximum(rejected, 1e-3))])
    if n_rungs is None:
        n_rungs = int(np.clip(1 + math.ceil(barrier[-1] / _REJECTED), FEWEST, MOST))
    spaced = np.exp(np.interp(np.linspace(0.0, barrier[-1], n_rungs), barrier, log_powers(powers))) - _LOWEST
    spaced[0], spaced[-1] = 1.0, 0.0
    return spaced
