"""The likelihood of the evidence with labels and scores summed out, and its gradient in f."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from disaggregate.model.counts import group_gradient, log_evidence_given_fitted
from disaggregate.sampler.evidence import PART_SIZE, WHOLE_GROUP, EvidenceArrays, group_evidence, group_rows_of


def collapsed_gradient(
    evidence: EvidenceArrays, scores: np.ndarray, fitted: np.ndarray
) -> tuple[float, np.ndarray]:
    """Log p(evidence given f) and its gradient (E[y_i given f, evidence] - p_i) phi(f_i) / (p_i (1 - p_i)).

    Groups of more than ``WHOLE_GROUP`` members are cut into parts whose counts are fixed at those of the
    present scores: given these counts the likelihood is exact, and it costs no more than the rest.
    """
    total = 0.0
    gradient = np.empty_like(fitted)
    for rows, log_likelihood in _pieces(evidence, scores):
        value, gradient[rows] = group_gradient(fitted[rows], evidence.units[rows], log_likelihood)
        total += value
    return total, gradient


def collapsed_likelihood(evidence: EvidenceArrays, scores: np.ndarray, fitted: np.ndarray) -> float:
    """Return the same without the gradient."""
    return sum(
        log_evidence_given_fitted(fitted[rows], evidence.units[rows], log_likelihood)
        for rows, log_likelihood in _pieces(evidence, scores)
    )


def _pieces(evidence: EvidenceArrays, scores: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the rows of each small group with its evidence, and of each part of a large one with its count."""
    for group in range(len(evidence.offsets) - 1):
        rows = group_rows_of(evidence, group)
        if rows.stop - rows.start <= WHOLE_GROUP:
            yield rows, group_evidence(evidence, group)
            continue
        for start in range(rows.start, rows.stop, PART_SIZE):
            yield _part_piece(evidence, scores, start, min(start + PART_SIZE, rows.stop))


def _part_piece(evidence: EvidenceArrays, scores: np.ndarray, start: int, stop: int) -> tuple[slice, np.ndarray]:
    rows = slice(start, stop)
    units = evidence.units[rows]
    log_likelihood = np.full(units.sum() + 1, -np.inf)
    log_likelihood[units @ (scores[rows] > 0.0)] = 0.0
    return rows, log_likelihood
