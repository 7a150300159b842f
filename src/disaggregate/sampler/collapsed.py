"""The likelihood of the evidence with labels and scores summed out, and its gradient in f."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, logsumexp

from disaggregate.sampler.counts import log_count_table
from disaggregate.sampler.evidence import BLOCK, WHOLE_GROUP, EvidenceArrays, group_evidence, group_rows_of


def collapsed_gradient(
    evidence: EvidenceArrays, scores: np.ndarray, fitted: np.ndarray
) -> tuple[float, np.ndarray]:
    """Log p(evidence given f) and its gradient (E[y_i given f, evidence] - p_i) phi(f_i) / (p_i (1 - p_i)).

    Groups of more than ``WHOLE_GROUP`` members are cut into blocks whose counts are held at those of the
    present scores: given these counts the likelihood is exact, and it costs no more than the rest.
    """
    total = 0.0
    gradient = np.empty_like(fitted)
    for group in range(len(evidence.offsets) - 1):
        rows = group_rows_of(evidence, group)
        if rows.stop - rows.start <= WHOLE_GROUP:
            pieces = [(rows, group_evidence(evidence, group))]
        else:
            starts = range(rows.start, rows.stop, BLOCK)
            pieces = [_block_piece(scores, start, min(start + BLOCK, rows.stop)) for start in starts]
        for piece, log_likelihood in pieces:
            value, gradient[piece] = group_gradient(fitted[piece], log_likelihood)
            total += value
    return total, gradient


def group_gradient(fitted: np.ndarray, log_likelihood: np.ndarray) -> tuple[float, np.ndarray]:
    """Log likelihood of one group's evidence given f, and its gradient, by a forward and a backward pass."""
    n = len(fitted)
    log_positive, log_negative = log_ndtr(fitted), log_ndtr(-fitted)
    ahead = log_likelihood
    forward = log_count_table(fitted)
    total = logsumexp(forward[n] + log_likelihood)
    log_density = -0.5 * fitted**2 - 0.5 * math.log(2.0 * math.pi)
    gradient = np.empty(n)
    for i in range(n - 1, -1, -1):
        positive = logsumexp(forward[i, : i + 1] + ahead[1 : i + 2]) - total
        negative = logsumexp(forward[i, : i + 1] + ahead[: i + 1]) - total
        gradient[i] = np.exp(log_density[i] + positive) - np.exp(log_density[i] + negative)
        ahead = np.logaddexp(ahead[: i + 1] + log_negative[i], ahead[1 : i + 2] + log_positive[i])
    return float(total), gradient


def _block_piece(scores: np.ndarray, start: int, stop: int) -> tuple[slice, np.ndarray]:
    rows = slice(start, stop)
    log_likelihood = np.full(stop - start + 1, -np.inf)
    log_likelihood[(scores[rows] > 0.0).sum()] = 0.0
    return rows, log_likelihood
