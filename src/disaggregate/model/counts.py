"""The count of positives in a group is a Poisson-binomial sum: how well its evidence agrees, and labels given it.

Where members have survey weights, a positive one adds as many units to the count as it weighs.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr


def log_agreement_table(fitted: np.ndarray, units: np.ndarray, log_likelihood: np.ndarray) -> np.ndarray:
    """Log probability of the evidence when the first i members have a count of c, for every i and c.

    Backwards from the evidence itself, in the last row, to no member, in the first.

    Parameters
    ----------
    fitted : ndarray of shape (n,)
        Scores f; member i is positive with probability Phi(f_i), eq. (3).
    units : ndarray of int, shape (n,)
        What each member adds to the count when positive.
    log_likelihood : ndarray of shape (sum of units + 1,)
        Evidence for each count.

    Returns
    -------
    ndarray of shape (n + 1, sum of units + 1)
        Row i, column c; -inf for counts that the first i members cannot have.
    """
    table = np.full((len(fitted) + 1, len(log_likelihood)), -np.inf)
    table[-1] = log_likelihood
    reach = len(log_likelihood) - 1
    log_positive, log_negative = log_ndtr(fitted), log_ndtr(-fitted)
    for i in range(len(fitted) - 1, -1, -1):
        below, step = table[i + 1], units[i]
        reach -= step
        table[i, : reach + 1] = np.logaddexp(
            below[: reach + 1] + log_negative[i], below[step : reach + step + 1] + log_positive[i]
        )
    return table


def log_evidence_given_fitted(fitted: np.ndarray, units: np.ndarray, log_likelihood: np.ndarray) -> float:
    """Log likelihood of a group's evidence with labels and scores summed out."""
    return float(log_agreement_table(fitted, units, log_likelihood)[0, 0])


def group_gradient(fitted: np.ndarray, units: np.ndarray, log_likelihood: np.ndarray) -> tuple[float, np.ndarray]:
    """Log likelihood of one group's evidence given f, and its gradient, by a backward and a forward pass."""
    log_positive, log_negative = log_ndtr(fitted), log_ndtr(-fitted)
    ahead = log_agreement_table(fitted, units, log_likelihood)
    total = ahead[0, 0]
    log_density = -0.5 * fitted**2 - 0.5 * math.log(2.0 * math.pi)
    gradient = np.empty(len(fitted))
    so_far = np.zeros(1)  # log law of the count of the members before i
    for i, step in enumerate(units):
        reach = len(so_far)
        positive = np.logaddexp.reduce(so_far + ahead[i + 1, step : reach + step]) - total
        negative = np.logaddexp.reduce(so_far + ahead[i + 1, :reach]) - total
        gradient[i] = np.exp(log_density[i] + positive) - np.exp(log_density[i] + negative)
        without, with_it = so_far + log_negative[i], so_far + log_positive[i]
        nothing = np.full(step, -np.inf)
        so_far = np.logaddexp(np.concatenate([without, nothing]), np.concatenate([nothing, with_it]))
    return float(total), gradient


def draw_labels(
    fitted: np.ndarray, units: np.ndarray, log_likelihood: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw the labels of some members given their scores f and the evidence over their count.

    From the first member to the last, each given the count so far and all the evidence.

    Parameters
    ----------
    fitted, units, log_likelihood
        As for :func:`log_agreement_table`.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    table = log_agreement_table(fitted, units, log_likelihood)
    log_positive = log_ndtr(fitted)
    labels = np.empty(len(fitted), dtype=bool)
    count = 0
    for i, step in enumerate(units):
        chance = np.exp(log_positive[i] + table[i + 1, count + step] - table[i, count])
        labels[i] = rng.random() < chance
        count += int(step) * int(labels[i])
    return labels
