"""Members of groups that reported: their probabilities, or labels, given their own group's report too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from disaggregate.groups import GroupedData
from disaggregate.posterior.batches import Probability, batch_size, checked_draws

FloatArray = NDArray[np.float64]

VALUES_AT_ONCE = 2**22

# Terms lost to underflow are below 1e-300, hence without weight in any total above this.
_SAFE_TOTAL = 1e-200

# A probability that rounding took to 0 or 1 could always contradict a report.
_LEAST = 1e-300
_MOST = 1.0 - 2.0**-53


def given_reports(
    probability: Probability, members: GroupedData, rng: np.random.Generator | None = None
) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
    """Go through all members, whole groups at a time, with what their group's report says of them.

    In each draw this is Pr(y_i = 1 given f, evidence), with the other members' labels summed out; its average
    over the draws is ``label_proba_``. The cost grows with the square of a group's size.

    Parameters
    ----------
    probability : callable
        From rows to their probabilities in each draw, before their own group's report is looked at.
    members : GroupedData
        Groups and evidence of all rows.
    rng : numpy.random.Generator, optional
        With it, labels (0 or 1) are drawn together for each group instead.

    Yields
    ------
    rows : ndarray of int
        Members of one or several groups.
    draws : ndarray of shape (n_draws, n_rows)
        Their probabilities, or labels.
    """
    group, n_draws = 0, None
    while group < len(members.names):
        last = _end_of_run(members.offsets, group, batch_size(n_draws))
        rows = members.order[members.offsets[group] : members.offsets[last]]
        before = checked_draws(probability, rows, len(rows), n_draws)
        n_draws, after = len(before), np.empty_like(before)
        for index in range(group, last):
            inside = slice(*(members.offsets[index : index + 2] - members.offsets[group]))
            units = members.units[slice(*members.offsets[index : index + 2])]
            after[:, inside] = _given_report(before[:, inside], units, _report_of(members, index), rng)
        yield rows, after
        group = last


def _end_of_run(offsets: NDArray, first: int, most_rows: int) -> int:
    """Take as many groups as fit, but one at least."""
    return max(first + 1, int(np.searchsorted(offsets, offsets[first] + most_rows, side="right")) - 1)


def _report_of(members: GroupedData, group: int) -> FloatArray:
    start, stop = members.starts[group : group + 2]
    report = members.log_likelihood[start:stop]
    return report - report.max()


def _given_report(
    draws: FloatArray, units: NDArray[np.int64], report: FloatArray, rng: np.random.Generator | None
) -> FloatArray:
    result = np.empty_like(draws)
    step = max(1, VALUES_AT_ONCE // ((len(units) + 1) * len(report)))
    for start in range(0, len(draws), step):
        part = slice(start, start + step)
        chances = _chances(draws[part].T.clip(_LEAST, _MOST), units, report)
        result[part] = (_expected(chances, units) if rng is None else _drawn(chances, units, rng)).T
    return result


def _chances(p: FloatArray, units: NDArray[np.int64], report: FloatArray) -> list[FloatArray]:
    """Pr(y_i = 1 given a count of c among those before i, and the report), an array (c, draw) for each member i.

    Backwards from the report: ahead_i[c] = q_i ahead_{i+1}[c] + p_i ahead_{i+1}[c + units_i] is how probable
    the report is when those before i have a count of c.
    """
    n = len(p)
    ahead = np.repeat(np.exp(report)[:, None], p.shape[1], axis=1)
    chances: list[FloatArray] = [np.empty(0)] * n
    for i in range(n - 1, -1, -1):
        positive = p[i] * ahead[units[i] :]
        ahead = (1.0 - p[i]) * ahead[: -units[i]] + positive
        chances[i] = np.divide(positive, ahead, out=np.zeros_like(ahead), where=ahead > 0.0)
    unsafe = ahead[0] < _SAFE_TOTAL
    if unsafe.any():
        for safe, exact in zip(chances, _chances_by_logarithms(p[:, unsafe], units, report), strict=True):
            safe[:, unsafe] = exact
    return chances


def _chances_by_logarithms(p: FloatArray, units: NDArray[np.int64], report: FloatArray) -> list[FloatArray]:
    n = len(p)
    log_p, log_q = np.log(p), np.log1p(-p)
    ahead = np.repeat(report[:, None], p.shape[1], axis=1)
    chances: list[FloatArray] = [np.empty(0)] * n
    for i in range(n - 1, -1, -1):
        positive = log_p[i] + ahead[units[i] :]
        ahead = np.logaddexp(log_q[i] + ahead[: -units[i]], positive)
        reachable = np.isfinite(ahead)
        chances[i] = np.exp(np.subtract(positive, ahead, out=np.full_like(ahead, -np.inf), where=reachable))
    return chances


def _expected(chances: list[FloatArray], units: NDArray[np.int64]) -> FloatArray:
    """Average over the count so far, whose law is carried along."""
    law = np.ones((1, chances[0].shape[1]))
    expected = np.empty((len(chances), law.shape[1]))
    for i, chance in enumerate(chances):
        positive = law * chance
        expected[i] = positive.sum(axis=0)
        law = np.pad(law - positive, ((0, units[i]), (0, 0)))
        law[units[i] :] += positive
    return expected.clip(0.0, 1.0)


def _drawn(chances: list[FloatArray], units: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
    """Draw labels one after the other, each given the count so far."""
    n_draws = chances[0].shape[1]
    count, every = np.zeros(n_draws, dtype=np.intp), np.arange(n_draws)
    labels = np.empty((len(chances), n_draws))
    for i, chance in enumerate(chances):
        labels[i] = rng.random(n_draws) < chance[count, every]
        count += units[i] * labels[i].astype(np.intp)
    return labels
