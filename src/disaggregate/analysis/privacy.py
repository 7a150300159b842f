"""What results reveal about single people, and how to prevent that."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from disaggregate.groups.grouped import GroupedData
from disaggregate.groups.outcome_evidence import OutcomeEvidence
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.tables.dataframes import dataframe_of
from disaggregate.tables.suppression import hidden, members_of_groups

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["disclosure", "hidden", "label_proba", "landmarks"]

_SURE = 0.99


def disclosure(model: Any, sure: float = _SURE) -> DataFrame:
    """Tabulate what the reports and the fit reveal about the members of each group.

    Parameters
    ----------
    model : GroupStatsClassifier or Analysis
        Fitted.
    sure : float, default=0.99
        Probability of a label, positive or negative, from which on it counts as almost certain.

    Returns
    -------
    DataFrame
        One row per group: ``group``; ``n``, its people; ``settled``, how many of their labels follow from the
        report alone; ``sure``, how many labels are almost certain given the model; ``surest``, the
        highest probability of a label among them; ``says``, the same in words.
    """
    classifier = getattr(model, "classifier", model)
    data, probability = classifier._data, _of_members(classifier)
    likeliest = np.maximum(probability, 1.0 - probability) if probability.ndim == 1 else probability.max(axis=1)
    certainty = likeliest[data.order]
    starts = data.offsets[:-1]
    settled = np.where(_is_settled(data), data.people, 0)
    of_row = 1 if data.counts is None else data.counts
    n_sure = np.add.reduceat((certainty >= sure) * of_row, starts)
    return dataframe_of(
        {
            "group": data.names,
            "n": data.people,
            "settled": settled,
            "sure": n_sure,
            "surest": np.maximum.reduceat(certainty, starts),
            "says": [_words(*row) for row in zip(data.people, settled, n_sure, strict=True)],
        }
    )


def label_proba(model: Any, min_group_size: int) -> NDArray[np.float64]:
    """Return ``label_proba_`` for publication: NaN for members of groups that are too small.

    Members of a group whose report determines all labels, such as a share of 0 or 1, or a count of all with
    hardly any noise, are withheld too, however large it is.

    Parameters
    ----------
    model : GroupStatsClassifier or Analysis
        Fitted.
    min_group_size : int
        Smallest group whose members may be distinguished.
    """
    classifier = getattr(model, "classifier", model)
    data = classifier._data
    withheld = hidden(members_of_groups(data), min_group_size) | _is_settled(data)
    probability = _of_members(classifier).copy()
    probability[data.in_caller_order(np.repeat(withheld, data.sizes))] = np.nan
    return probability


def landmarks(X: ArrayLike, n_centers: int, min_group_size: int = 5) -> NDArray[np.float64]:
    """Compute centres for kernels that are not individuals: averages of ``min_group_size`` or more of them.

    Pass them as ``centers`` of :class:`disaggregate.GroupStatsClassifier`, whose file can then be anonymised. The
    landmarks of ``centers=200``, in contrast, are 200 of the individuals themselves. The largest and smallest
    values of each feature are replaced by the nearest that ``min_group_size`` individuals reach, because an
    average of five with one high income nearly reveals that income; levels that fewer individuals have are in no
    average.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Individuals.
    n_centers : int
        Number of landmarks; fewer are returned if there are too few individuals.
    min_group_size : int, default=5
        Fewest individuals in an average.
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"X must be a matrix of finite numbers, a row per individual; got shape {rows.shape}.")
    if isinstance(n_centers, bool) or not isinstance(n_centers, Integral) or n_centers < 1:
        raise ValueError(f"n_centers must be a whole number of 1 or more, got {n_centers!r}.")
    hidden([], min_group_size)  # checks the number
    if len(rows) < min_group_size:
        raise ValueError(f"{len(rows)} individuals are too few for averages of {min_group_size}; give more.")
    size = max(int(min_group_size), -(-len(rows) // int(n_centers)))
    rows = without_extremes(rows, int(min_group_size))
    spread = rows.std(axis=0)
    scaled = (rows - rows.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return np.array([rows[members].mean(axis=0) for members in _clusters(scaled, size)])


def without_extremes(rows: np.ndarray, size: int) -> np.ndarray:
    """Clip values to those that ``size`` people reach at either end, so that no average reveals an extreme."""
    middle = np.median(rows, axis=0)
    ordered = np.sort(rows, axis=0)
    clipped: np.ndarray = np.clip(rows, np.minimum(ordered[size - 1], middle), np.maximum(ordered[-size], middle))
    return clipped


def _clusters(rows: np.ndarray, size: int) -> list[NDArray[np.intp]]:
    """Take the individual farthest from the middle with the nearest ones, again and again; the rest come last."""
    left = np.arange(len(rows))
    clusters = []
    while len(left) >= 2 * size:
        farthest = np.argmax(np.square(rows[left] - rows[left].mean(axis=0)).sum(axis=1))
        distance = np.square(rows[left] - rows[left[farthest]]).sum(axis=1)
        taken = np.argsort(distance, kind="stable")[:size]
        clusters.append(left[taken])
        left = np.delete(left, taken)
    return [*clusters, left]


def _of_members(classifier: Any) -> NDArray[np.float64]:
    known: NDArray[np.float64] | None = getattr(classifier, "label_proba_", None)
    if known is None:
        raise ValueError("this model has no members: it is not fitted, or it was saved with anonymise=True.")
    return known


def _is_settled(data: GroupedData) -> NDArray[np.bool_]:
    """Find which reports leave one count only, none or all, or make every other almost impossible."""
    if isinstance(data, GroupedOutcomes):
        by_group = zip(data.evidence, data.people.tolist(), strict=True)
        return np.array([_leaves_one_outcome(known, n, len(data.outcomes)) for known, n in by_group], dtype=bool)
    settled = []
    for start, stop in pairwise(data.starts):
        log_likelihood = data.log_likelihood[start:stop]
        likelihood = np.exp(log_likelihood - log_likelihood.max())
        settled.append(max(likelihood[0], likelihood[-1]) >= _SURE * likelihood.sum())
    return np.array(settled, dtype=bool)


def _leaves_one_outcome(report: Any, n: int, n_outcomes: int) -> bool:
    """Return whether a report leaves everybody the same outcome, or makes any other counts almost impossible."""
    if not isinstance(report, OutcomeEvidence) or report.population is not None:
        return False
    n_told = len(report.named_outcomes)
    counts = report.likely(n, n_told < n_outcomes)
    most = int(counts.argmax())
    is_one = most < n_told or n_told == n_outcomes - 1  # not several that the report does not tell apart
    if counts[most] < n or not is_one:
        return False
    moved = np.delete(np.eye(len(counts), dtype=np.int64), most, axis=0)
    moved[:, most] = -1
    log_likelihood = report.log_likelihood(counts + np.vstack([np.zeros_like(counts), moved]))
    return bool(np.exp(log_likelihood - log_likelihood[0]).sum() * _SURE <= 1.0)


def _words(n: int, settled: int, n_sure: int) -> str:
    if settled and n == 1:
        return "a group of one: its report is that person's own label"
    if settled:
        return "the report determines the label of every member"
    if n == 1:
        return "a group of one: its report is about that person alone"
    if n_sure:
        return f"the labels of {n_sure} of {n} members are almost certain"
    return "no member's label is almost certain"
