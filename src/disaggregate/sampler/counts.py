"""The count of positives in a group is a Poisson-binomial sum: its distribution, and labels given a count."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, logsumexp


def log_count_table(fitted: np.ndarray) -> np.ndarray:
    """Log probability that the first i members have c positives, for every i and c.

    Parameters
    ----------
    fitted : ndarray of shape (n,)
        Scores f; member i is positive with probability Phi(f_i), eq. (3).

    Returns
    -------
    ndarray of shape (n + 1, n + 1)
        Row i, column c; -inf for c > i.
    """
    n = len(fitted)
    log_positive, log_negative = log_ndtr(fitted), log_ndtr(-fitted)
    table = np.full((n + 1, n + 1), -np.inf)
    table[0, 0] = 0.0
    for i in range(n):
        table[i + 1] = table[i] + log_negative[i]
        table[i + 1, 1:] = np.logaddexp(table[i + 1, 1:], table[i, :-1] + log_positive[i])
    return table


def log_evidence_given_fitted(fitted: np.ndarray, log_likelihood: np.ndarray) -> float:
    """Log likelihood of a group's evidence with labels and scores summed out."""
    return float(logsumexp(log_count_table(fitted)[-1] + log_likelihood))


def draw_labels(fitted: np.ndarray, log_likelihood: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the labels of some members given their scores f and the evidence over their count.

    First the count, from its Poisson-binomial law times the evidence; then the labels given the count,
    from the last member to the first.

    Parameters
    ----------
    fitted : ndarray of shape (n,)
        Scores f.
    log_likelihood : ndarray of shape (n + 1,)
        Evidence for each count.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    n = len(fitted)
    table = log_count_table(fitted)
    log_weight = table[n] + log_likelihood
    weight = np.exp(log_weight - log_weight.max())
    count = int(np.searchsorted(np.cumsum(weight), rng.random() * weight.sum(), side="right"))
    labels = np.zeros(n, dtype=bool)
    log_positive = log_ndtr(fitted)
    for i in range(n, 0, -1):
        if count == 0 or count == i:
            labels[:i] = count == i
            break
        chance = np.exp(log_positive[i - 1] + table[i - 1, count - 1] - table[i, count])
        labels[i - 1] = rng.random() < chance
        count -= int(labels[i - 1])
    return labels
