"""Outcomes that a report does not distinguish are one category of it."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np


def categories_of(reported: tuple[Hashable, ...], outcomes: tuple[Hashable, ...]) -> tuple[list[int], bool]:
    """Category of each outcome: its number among those reported, or the one after them; and whether that exists.

    Parameters
    ----------
    reported : tuple
        Outcomes that a report names.
    outcomes : tuple
        All outcomes.
    """
    number = {outcome: index for index, outcome in enumerate(reported)}
    return [number.get(outcome, len(reported)) for outcome in outcomes], len(reported) < len(outcomes)


def largest_last(category: np.ndarray, reported: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Put the largest category last, which the normal law leaves out; return categories, and the order of the old.

    Parameters
    ----------
    category : ndarray of int, shape (n_outcomes,)
        Category of each outcome.
    reported : ndarray
        Reported size of each category, the first ``width``.
    width : int
        Number of categories.
    """
    largest = int(np.argmax(reported[:width]))
    order = np.array([*(k for k in range(width) if k != largest), largest])
    return np.argsort(order)[category], order
