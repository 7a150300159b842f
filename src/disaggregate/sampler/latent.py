"""Latent scores Z given f and the evidence: exact by group, or the published random walk."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.model.counts import draw_labels
from disaggregate.sampler.evidence import PART_SIZE, WHOLE_GROUP, EvidenceArrays, group_evidence, group_rows_of
from disaggregate.sampler.model import Prior, SparseData, State
from disaggregate.sampler.normal import draw_positive_normal


def draw_scores_exactly(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Draw Z from p(Z given f, evidence): labels by their count, then truncated normals.

    Groups of more than ``WHOLE_GROUP`` members are drawn in random parts, each given the count of the rest,
    which leaves the same distribution invariant.
    """
    labels = np.empty(len(state.scores), dtype=bool)
    draw_all_labels(data.evidence, state.fitted, state.scores, labels, 0, rng)
    draw_scores_given_labels(state, slice(0, len(labels)), labels, rng)


def draw_all_labels(
    evidence: EvidenceArrays,
    fitted: np.ndarray,
    scores: np.ndarray,
    labels: np.ndarray,
    larger_than: int,
    rng: np.random.Generator,
) -> None:
    """Draw labels from p(y given f, evidence) for every group of more than so many members."""
    for group in range(len(evidence.offsets) - 1):
        rows = group_rows_of(evidence, group)
        if rows.stop - rows.start > larger_than:
            labels[rows] = draw_group_labels(evidence, group, fitted, scores, rng)


def walk_scores(data: SparseData, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Move Z by the published step: one random-walk Metropolis proposal per group, eq. (12).

    The step is 2.4 / sqrt(n). Groups that are all negative or all positive are drawn exactly.
    """
    for group in range(len(data.evidence.offsets) - 1):
        rows = group_rows_of(data.evidence, group)
        labels = _forced_labels(data.evidence, group)
        if labels is None:
            _walk_group(data, group, state, rng)
        else:
            draw_scores_given_labels(state, rows, labels, rng)


def _forced_labels(evidence: EvidenceArrays, group: int) -> np.ndarray | None:
    """Labels of a group whose evidence leaves no choice: all negative or all positive."""
    n = int(evidence.offsets[group + 1] - evidence.offsets[group])
    if evidence.most[group] == 0:
        return np.zeros(n, dtype=bool)
    if evidence.fewest[group] == len(group_evidence(evidence, group)) - 1:
        return np.ones(n, dtype=bool)
    return None


def draw_group_labels(
    evidence: EvidenceArrays, group: int, fitted: np.ndarray, scores: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw the labels of one group given f; those of a large group start from the signs of its present scores."""
    rows = group_rows_of(evidence, group)
    log_likelihood = group_evidence(evidence, group)
    forced = _forced_labels(evidence, group)
    if forced is not None:
        return forced
    n = rows.stop - rows.start
    if n <= WHOLE_GROUP:
        return draw_labels(fitted[rows], evidence.units[rows], log_likelihood, rng)
    units = evidence.units[rows]
    labels = scores[rows] > 0.0
    order = _shuffled(n, rng)
    for start in range(0, n, PART_SIZE):
        part = order[start : start + PART_SIZE]
        rest = int(units @ labels - units[part] @ labels[part])
        possible = log_likelihood[rest : rest + units[part].sum() + 1]
        labels[part] = draw_labels(fitted[rows][part], units[part], possible, rng)
    return labels


def _shuffled(n: int, rng: np.random.Generator) -> np.ndarray:
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    return order


def draw_scores_given_labels(state: State, rows: slice, labels: np.ndarray, rng: np.random.Generator) -> None:
    """Draw Z of some rows from normals truncated to the side that their labels say."""
    for row, label in zip(range(rows.start, rows.stop), labels, strict=True):
        if label:
            state.scores[row] = draw_positive_normal(state.fitted[row], rng)
        else:
            state.scores[row] = -draw_positive_normal(-state.fitted[row], rng)


def _walk_group(data: SparseData, group: int, state: State, rng: np.random.Generator) -> None:
    rows = group_rows_of(data.evidence, group)
    evidence = group_evidence(data.evidence, group)
    units = data.evidence.units[rows]
    scores, fitted = state.scores[rows], state.fitted[rows]
    step = 2.4 / math.sqrt(len(scores))
    proposed = scores + step * rng.standard_normal(len(scores))
    log_ratio = (
        evidence[units @ (proposed > 0.0)]
        - evidence[units @ (scores > 0.0)]
        + 0.5 * np.sum((scores - fitted) ** 2 - (proposed - fitted) ** 2)
    )
    if -rng.standard_exponential() < log_ratio:
        state.scores[rows] = proposed
