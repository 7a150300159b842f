"""The likelihood of the groups' counts when each member is positive on its own with a logistic probability.

Such a count has a Poisson-binomial law. Shifting all log odds of a group by one number changes neither the law of
its labels given their count nor, but for a known factor, the probability of that count. So each group is shifted
until its count is the expected one; its probability then cannot underflow, and the sums over labels, from the
first member to the last and back, are plain sums.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from benchmarks.rivals.bags import Bags

_HALVINGS = 200  # enough to close in on any root of doubles
_CLOSE = 1e-3  # the expected count need not be exact


def count_likelihood(score: np.ndarray, bags: Bags) -> tuple[float, np.ndarray]:
    """Log likelihood of all counts, and the probability of each label given the count of its group.

    The gradient of the log likelihood in the scores is that probability less ``expit(score)``.

    Parameters
    ----------
    score : ndarray of shape (n_rows,)
        Log odds of each row.
    bags : Bags
        Groups with their counts.
    """
    order = np.argsort(bags.place, kind="stable")
    given_count = np.empty(len(score))
    log_likelihood = _all_groups(score[order], np.cumsum(bags.sizes), bags.counts, given_count)
    in_rows = np.empty(len(score))
    in_rows[order] = given_count
    return log_likelihood, in_rows


@njit(cache=True)
def _all_groups(score, ends, counts, given_count):
    total = 0.0
    start = 0
    for group in range(ends.size):
        stop = ends[group]
        total += _one_group(score[start:stop], counts[group], given_count[start:stop])
        start = stop
    return total


@njit(cache=True)
def _one_group(score, count, given_count):
    """Fill the probability of each label given the count; return the log probability of the count."""
    if count == 0 or count == score.size:
        given_count[:] = 1.0 if count else 0.0
        side = -1.0 if count else 1.0
        total = 0.0
        for s in score:
            total -= _softplus(side * s)
        return total
    shift = _shift_to(score, count)
    odds = score + shift
    log_probability = -count * shift
    for i in range(score.size):
        log_probability += _softplus(odds[i]) - _softplus(score[i])
    return log_probability + math.log(_passes(_expit(odds), _expit(-odds), count, given_count))


@njit(cache=True)
def _passes(positive, negative, count, given_count):
    """Probability of c positives after each member, and of reaching the count from there: multiply and add."""
    size = positive.size
    before = np.zeros((size + 1, count + 1))
    before[0, 0] = 1.0
    for i in range(size):
        before[i + 1, 0] = before[i, 0] * negative[i]
        for c in range(1, count + 1):
            before[i + 1, c] = before[i, c] * negative[i] + before[i, c - 1] * positive[i]
    after = np.zeros(count + 1)
    after[count] = 1.0
    total = before[size, count]
    for i in range(size - 1, -1, -1):
        both = 0.0
        for c in range(count):
            both += before[i, c] * after[c + 1]
        given_count[i] = min(both * positive[i] / total, 1.0)
        for c in range(count):
            after[c] = after[c] * negative[i] + after[c + 1] * positive[i]
        after[count] *= negative[i]
    return total


@njit(cache=True)
def _shift_to(score, count):
    """Find the shift of all log odds at which the count is expected, by Newton's steps inside a bracket."""
    lowest = -score.max() - math.log(score.size)
    highest = -score.min() + math.log(score.size)
    shift = 0.5 * (lowest + highest)
    for _ in range(_HALVINGS):
        chance = _expit(score + shift)
        error = chance.sum() - count
        if abs(error) < _CLOSE:
            break
        if error > 0.0:
            highest = shift
        else:
            lowest = shift
        slope = (chance * (1.0 - chance)).sum()
        shift = shift - error / slope if slope > 0.0 else lowest
        if not lowest < shift < highest:
            shift = 0.5 * (lowest + highest)
    return shift


@njit(cache=True)
def _expit(x):
    value = np.empty(x.size)
    for i in range(x.size):
        small = math.exp(-abs(x[i]))
        value[i] = (1.0 if x[i] > 0.0 else small) / (1.0 + small)
    return value


@njit(cache=True)
def _softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
