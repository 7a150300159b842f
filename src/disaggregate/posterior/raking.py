"""Probabilities moved, group by group, until their mean is the share that the group reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtr, ndtri

from disaggregate.groups.forms import is_missing
from disaggregate.groups.reports import row_groups
from disaggregate.posterior.blocks import Probability, ask, rows_at_once
from disaggregate.tables.people import Rows, read_weights

FloatArray = NDArray[np.float64]
Pieces = Callable[[], Iterable[tuple[FloatArray, FloatArray]]]

_NEAR_ENOUGH = 1e-11
_MOST_STEPS = 100
_LEAST = 1e-15


class _Scale(NamedTuple):
    """A scale on which probabilities are moved, up to where they differ from 0 and 1 by rounding alone."""

    to_score: Callable[[FloatArray], FloatArray]
    to_probability: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    farthest: float
    curvature: float


_SCALES = {
    "probit": _Scale(ndtri, ndtr, lambda score: np.exp(-0.5 * score**2) / np.sqrt(2.0 * np.pi), 8.0, 1.0),
    "logit": _Scale(logit, expit, lambda score: expit(score) * expit(-score), 36.0, np.pi / 8.0),
}


def raked(
    probability: Probability,
    groups: ArrayLike,
    shares: Mapping[Any, float] | pd.Series,
    weights: ArrayLike | None = None,
    *,
    scale: Literal["probit", "logit"] = "probit",
) -> Probability:
    """Make probabilities agree with what groups reported: one constant a group and draw is added to the scores.

    This is the calibration that pollsters know as the logit shift, by default on the probit scale, where a
    constant is what an unseen common influence on the whole group would add to f. On the logit scale it comes
    close to conditioning on the count of positives, as if the model were right and the group merely lucky. It
    works for anybody whose group has a known share, members of the training groups or not; it takes the share
    as exact, whatever the confidence of the fit was.

    Parameters
    ----------
    probability : callable
        From rows to their probabilities in each draw.
    groups : array-like of shape (n_rows,)
        Group of each row of the table that ``probability`` knows.
    shares : mapping or Series
        From group to its share. Groups that are not in it, or whose share is missing, are left as they are.
    weights : array-like of shape (n_rows,), optional
        Survey weights: the weighted mean is to equal the share.
    scale : "probit" or "logit", default="probit"
        Where the constant is added.

    Returns
    -------
    callable
        As ``probability``: from rows to their probabilities in each draw.
    """
    if scale not in _SCALES:
        raise ValueError(f'scale must be "probit" or "logit", got {scale!r}.')
    ids = row_groups(groups)
    known = _read_shares(shares, set(ids))
    place_of = {group: place for place, group in enumerate(known)}
    codes = np.array([place_of.get(group, -1) for group in ids], dtype=np.intp)
    link = _SCALES[scale]
    moves = _moves(probability, codes, list(known.values()), read_weights(weights, len(ids)), link)

    def moved(rows: Rows) -> FloatArray:
        chosen = codes[rows]
        draws = ask(probability, rows, len(chosen), len(moves)).copy()
        if (chosen >= 0).any():
            scores = _scores(draws[:, chosen >= 0], link)
            draws[:, chosen >= 0] = link.to_probability(scores + moves[:, chosen[chosen >= 0]])
        return draws

    return moved


def _read_shares(shares: Mapping[Any, float] | pd.Series, ids: set) -> dict[Any, float]:
    known = {group: share for group, share in shares.items() if group in ids and not is_missing(share)}
    if not known:
        raise ValueError(
            f"shares must name the groups that people are in, such as {sorted(ids, key=str)[:3]}, but got "
            f"{list(shares.keys())[:3]}. Use the same ids, of the same type, in groups and in shares."
        )
    for group, share in known.items():
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"the share of group {group!r} must lie between 0 and 1, got {share!r}.")
    return {group: float(share) for group, share in known.items()}


def _moves(
    probability: Probability, codes: NDArray[np.intp], shares: list[float], weights: FloatArray, link: _Scale
) -> FloatArray:
    """Find the constant of each draw and group, shape (n_draws, n_groups)."""
    n_draws: int | None = None
    by_group = []
    members = np.split(np.argsort(codes, kind="stable"), np.searchsorted(np.sort(codes), np.arange(len(shares))))
    for rows, share in zip(members[1:], shares, strict=True):
        if not weights[rows].sum() > 0.0:
            raise ValueError("a group with a share must have a member with a weight above 0; leave its share out.")
        n_draws = len(ask(probability, rows[:1], 1, None)) if n_draws is None else n_draws
        by_group.append(_solve(_pieces(probability, rows, weights, n_draws, link), share, n_draws, link))
    return np.column_stack(by_group)


def _pieces(
    probability: Probability, rows: NDArray[np.intp], weights: FloatArray, n_draws: int, link: _Scale
) -> Pieces:
    """Return a way to go through scores and weights of a group; a large one is asked for anew each time."""
    step = rows_at_once(n_draws)
    parts = [rows[start : start + step] for start in range(0, len(rows), step)]
    shares = weights / weights[rows].sum()

    def go_through() -> Iterable[tuple[FloatArray, FloatArray]]:
        return ((_scores(ask(probability, part, len(part), n_draws), link), shares[part]) for part in parts)

    if len(parts) > 1:
        return go_through
    held = list(go_through())
    return lambda: held


def _scores(draws: FloatArray, link: _Scale) -> FloatArray:
    return link.to_score(draws).clip(-link.farthest, link.farthest)


def _solve(pieces: Pieces, share: float, n_draws: int, link: _Scale) -> FloatArray:
    """Solve mean(probability(score + move)) = share in each draw.

    Newton's steps on the scale of scores, where the mean is almost a straight line in the move; halving where a
    step leaves what is known to hold the solution.
    """
    goal = float(link.to_score(np.array(share)))
    if not np.isfinite(goal):
        return np.full(n_draws, goal)
    move, low, high = _start(pieces, goal, n_draws, link)
    for _ in range(_MOST_STEPS):
        mean, slope = np.zeros(n_draws), np.zeros(n_draws)
        for scores, weight in pieces():
            moved = scores + move[:, None]
            mean += link.to_probability(moved) @ weight
            slope += link.slope(moved) @ weight
        solved = np.abs(mean - share) < _NEAR_ENOUGH
        if solved.all():
            break
        low, high = np.where(mean < share, move, low), np.where(mean < share, high, move)
        reached = link.to_score(mean.clip(_LEAST, 1.0 - _LEAST))
        step = np.divide(reached - goal, slope, out=np.full(n_draws, np.inf), where=slope > 0.0)
        moved_to = move - step * link.slope(reached)
        moved_to = np.where((moved_to > low) & (moved_to < high), moved_to, 0.5 * (low + high))
        # What is solved stays: rounding would send it to the middle of what is known.
        move = np.where(solved, move, moved_to)
    return move


def _start(pieces: Pieces, goal: float, n_draws: int, link: _Scale) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the solution for normal scores, and moves that are surely too low and too high."""
    lowest, highest = np.full(n_draws, np.inf), np.full(n_draws, -np.inf)
    mean, square = np.zeros(n_draws), np.zeros(n_draws)
    for scores, weight in pieces():
        lowest, highest = np.minimum(lowest, scores.min(axis=1)), np.maximum(highest, scores.max(axis=1))
        mean += scores @ weight
        square += scores**2 @ weight
    # Averaged over scores N(m, v), Phi(score) is Phi(m / sqrt(1 + v)); the logistic curve is nearly such a one.
    variance = (square - mean**2).clip(min=0.0)
    guess = goal * np.sqrt(1.0 + variance * link.curvature) - mean
    # With the highest score at the goal the mean is too low, with the lowest there too high.
    low, high = goal - highest, goal - lowest
    return guess.clip(low, high), low, high
