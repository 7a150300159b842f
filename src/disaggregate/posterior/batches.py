"""Probabilities of many people in every draw, a bounded number of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disaggregate.tables.people import Rows, take_rows

# Gives the probability of each person, by their rows in a table: ``probability(rows)`` is of shape
# (n_draws, n_rows), or (n_chains, n_draws, n_rows). Rows come as a slice or as an array of row numbers, so that
# both ``X[rows]`` and ``people.iloc[rows]`` work.
Probability = Callable[[Rows], np.ndarray]

# Gives it for any table of people, such as ``model.predict_draws``.
Predict = Callable[[Any], np.ndarray]

VALUES_AT_ONCE = 2**22

# The number of draws is not known before the first batch, so that batch is small.
FIRST_ROWS = 64


def row_predictor(predict: Predict, people: Any) -> Probability:
    """Turn what predicts any table into what predicts some rows of this one."""
    return lambda rows: predict(take_rows(people, rows))


def batches(probability: Probability, n_rows: int) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Go through all rows once; yield the rows of each batch and their probabilities.

    Parameters
    ----------
    probability : callable
        From rows to their probabilities in each draw.
    n_rows : int
        Number of rows.

    Yields
    ------
    rows : slice
        Where the batch lies.
    draws : ndarray of shape (n_draws, n_rows of the batch)
        Probabilities.
    """
    start, step, n_draws = 0, FIRST_ROWS, None
    while start < n_rows:
        rows = slice(start, min(start + step, n_rows))
        draws = checked_draws(probability, rows, rows.stop - rows.start, n_draws)
        yield rows, draws
        n_draws = len(draws)
        start, step = rows.stop, batch_size(n_draws)


def average_draws(predict: Predict, people: Any, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average the probability over people in each draw, shape (n_draws,)."""
    total = np.zeros(1)
    for rows, draws in batches(row_predictor(predict, people), len(people)):
        total = total + draws @ weight[rows]
    return total / weight.sum()


def batch_size(n_draws: int | None) -> int:
    """Return how many rows to request together when each has so many draws; few while that is unknown."""
    return FIRST_ROWS if n_draws is None else max(1, VALUES_AT_ONCE // n_draws)


def checked_draws(probability: Probability, rows: Rows, n_rows: int, n_draws: int | None) -> NDArray[np.float64]:
    """Predict some rows and check the answer; chains are put end to end.

    Parameters
    ----------
    probability : callable
        From rows to their probabilities in each draw.
    rows : slice or ndarray of int
        Rows.
    n_rows : int
        How many these are.
    n_draws : int or None
        Number of draws of earlier answers.
    """
    draws = np.asarray(probability(rows), dtype=np.float64)
    if draws.ndim not in (2, 3) or draws.shape[-1] != n_rows:
        raise ValueError(
            f"the predictor must give probabilities of shape (n_draws, n_rows), with or without a dimension of "
            f"chains before, for {n_rows} rows; it gave shape {draws.shape}. model.predict_draws does."
        )
    draws = draws.reshape(-1, n_rows)
    if n_draws is not None and len(draws) != n_draws:
        raise ValueError(
            f"the predictor gave {len(draws)} draws after {n_draws} draws before; it must give the same draws in "
            "the same order for all people."
        )
    if not (draws.size and draws.min() >= 0.0 and draws.max() <= 1.0):
        raise ValueError(
            "the predictor must give probabilities between 0 and 1 in at least one draw, but gave values from "
            f"{draws.min(initial=np.inf)} to {draws.max(initial=-np.inf)}. Pass probabilities, such as those of "
            "model.predict_draws, and not scores."
        )
    return draws
