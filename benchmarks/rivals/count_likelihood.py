"""The likelihood of the groups' counts when each member is positive on its own with a logistic probability.

Such a count has a Poisson-binomial law. It is summed exactly, from the first member to the last and back, all
groups at once; in logs, because a count that the scores make all but impossible would underflow.
"""

from __future__ import annotations

import numpy as np

from benchmarks.rivals.bags import Bags


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
    rows = bags.ranked(score)
    padded = np.append(score, -np.inf)[rows]  # a member that is not there is never positive
    log_positive, log_negative = -np.logaddexp(0.0, -padded), -np.logaddexp(0.0, padded)
    before, after = _passes(log_positive, log_negative, bags.counts)
    log_law = before[-1, np.arange(len(rows)), bags.counts]
    joint = before[:-1, :, :-1] + after[1:, :, 1:]  # of the members before and those after, the count less one
    log_both = np.logaddexp.reduce(joint, axis=2).T + log_positive
    posterior = np.exp(np.minimum(log_both - log_law[:, None], 0.0))
    given_count = np.empty(len(score) + 1)
    given_count[rows] = posterior
    return float(log_law.sum()), given_count[:-1]


def _passes(
    log_positive: np.ndarray, log_negative: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log probability of c positives before a member, and of reaching the count from c: (member, group, c)."""
    n_groups, size = log_positive.shape
    before = np.full((size + 1, n_groups, counts.max() + 1), -np.inf)  # no more than the largest count is needed
    after = before.copy()
    before[0, :, 0] = 0.0
    after[-1, np.arange(n_groups), counts] = 0.0
    for i in range(size):
        stay, step = log_negative[:, i, None], log_positive[:, i, None]
        before[i + 1] = before[i] + stay
        np.logaddexp(before[i + 1, :, 1:], before[i, :, :-1] + step, out=before[i + 1, :, 1:])
    for i in reversed(range(size)):
        stay, step = log_negative[:, i, None], log_positive[:, i, None]
        after[i] = after[i + 1] + stay
        np.logaddexp(after[i, :, :-1], after[i + 1, :, 1:] + step, out=after[i, :, :-1])
    return before, after
