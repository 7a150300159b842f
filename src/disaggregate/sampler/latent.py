"""Latent scores Z given f and the evidence: exact by group, or the published random walk."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.sampler.counts import draw_labels
from disaggregate.sampler.model import BLOCK, WHOLE_GROUP, Prior, Problem, State
from disaggregate.sampler.normal import draw_positive_normal


def draw_scores_exactly(problem: Problem, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Draw Z from p(Z given f, evidence): labels by their count, then truncated normals.

    Groups of more than ``WHOLE_GROUP`` members are drawn in random blocks, each given the count of the rest,
    which leaves the same distribution invariant.
    """
    for group in range(len(problem.offsets) - 1):
        rows = group_rows_of(problem, group)
        labels = _forced_labels(problem, group)
        if labels is None:
            labels = _draw_group_labels(problem, group, state, rng)
        draw_scores_given_labels(state, rows, labels, rng)


def walk_scores(problem: Problem, prior: Prior, state: State, rng: np.random.Generator) -> None:
    """Move Z by the published step: one random-walk Metropolis proposal a group, eq. (12).

    The step is 2.4 / sqrt(n). Groups that are all negative or all positive are drawn exactly.
    """
    for group in range(len(problem.offsets) - 1):
        rows = group_rows_of(problem, group)
        labels = _forced_labels(problem, group)
        if labels is None:
            _walk_group(problem, group, state, rng)
        else:
            draw_scores_given_labels(state, rows, labels, rng)


def group_rows_of(problem: Problem, group: int) -> slice:
    """Rows of a group."""
    return slice(int(problem.offsets[group]), int(problem.offsets[group + 1]))


def group_evidence(problem: Problem, group: int) -> np.ndarray:
    """Log likelihood of each count of the group."""
    return problem.log_likelihood[problem.offsets[group] + group : problem.offsets[group + 1] + group + 1]


def _forced_labels(problem: Problem, group: int) -> np.ndarray | None:
    """Labels of a group whose evidence leaves no choice: all negative or all positive."""
    n = int(problem.offsets[group + 1] - problem.offsets[group])
    if problem.most[group] == 0:
        return np.zeros(n, dtype=bool)
    if problem.fewest[group] == n:
        return np.ones(n, dtype=bool)
    return None


def _draw_group_labels(problem: Problem, group: int, state: State, rng: np.random.Generator) -> np.ndarray:
    rows = group_rows_of(problem, group)
    evidence = group_evidence(problem, group)
    fitted = state.fitted[rows]
    n = len(fitted)
    if n <= WHOLE_GROUP:
        return draw_labels(fitted, evidence, rng)
    labels = state.scores[rows] > 0.0
    order = _shuffled(n, rng)
    for start in range(0, n, BLOCK):
        block = order[start : start + BLOCK]
        rest = int(labels.sum() - labels[block].sum())
        labels[block] = draw_labels(fitted[block], evidence[rest : rest + len(block) + 1], rng)
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


def _walk_group(problem: Problem, group: int, state: State, rng: np.random.Generator) -> None:
    rows = group_rows_of(problem, group)
    evidence = group_evidence(problem, group)
    scores, fitted = state.scores[rows], state.fitted[rows]
    step = 2.4 / math.sqrt(len(scores))
    proposed = scores + step * rng.standard_normal(len(scores))
    log_ratio = (
        evidence[(proposed > 0.0).sum()]
        - evidence[(scores > 0.0).sum()]
        + 0.5 * np.sum((scores - fitted) ** 2 - (proposed - fitted) ** 2)
    )
    if -rng.standard_exponential() < log_ratio:
        state.scores[rows] = proposed
