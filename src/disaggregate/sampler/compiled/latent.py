"""Compiled twin of ``sampler.latent``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, fill, lesser, square
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.counts import draw_labels
from disaggregate.sampler.compiled.normal import draw_positive_normal
from disaggregate.sampler.model import BLOCK, WHOLE_GROUP


@inlined_part
def draw_scores_exactly(problem, prior, state, rng):
    largest = largest_group(problem.offsets)
    labels = np.empty(largest, dtype=np.int64)
    order = np.empty(largest, dtype=np.int64)
    piece = lesser(largest, WHOLE_GROUP)
    piece_labels = np.empty(piece, dtype=np.int64)
    piece_fitted = np.empty(piece)
    positive = np.empty(piece)
    table = np.empty((piece + 1) * (piece + 1))
    for group in range(problem.offsets.size - 1):
        start = problem.offsets[group]
        n = problem.offsets[group + 1] - start
        if problem.most[group] == 0:
            fill(labels, 0)
        elif problem.fewest[group] == n:
            fill(labels, 1)
        else:
            draw_group_labels(
                problem, group, state, labels, order, piece_labels, piece_fitted, positive, table, rng
            )
        draw_scores_given_labels(state.scores, state.fitted, start, n, labels, rng)


@inlined_part
def draw_group_labels(problem, group, state, labels, order, piece_labels, piece_fitted, positive, table, rng):
    """Draw a group in one piece if it is small, else in random blocks given the count of the rest."""
    start = problem.offsets[group]
    n = problem.offsets[group + 1] - start
    count = 0
    for i in range(n):
        order[i] = i
        labels[i] = state.scores[start + i] > 0.0
        count += labels[i]
    step = n
    if n > WHOLE_GROUP:
        step = BLOCK
        for i in range(n - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
    for begin in range(0, n, step):
        size = lesser(step, n - begin)
        for i in range(size):
            member = order[begin + i]
            piece_fitted[i] = state.fitted[start + member]
            count -= labels[member]
        first = start + group + count
        draw_labels(
            piece_fitted[:size],
            problem.likelihood[first : first + size + 1],
            problem.log_likelihood[first : first + size + 1],
            piece_labels,
            positive,
            table,
            rng,
        )
        for i in range(size):
            labels[order[begin + i]] = piece_labels[i]
            count += piece_labels[i]


@inlined_part
def walk_scores(problem, prior, state, rng):
    largest = largest_group(problem.offsets)
    labels = np.empty(largest, dtype=np.int64)
    proposed = np.empty(largest)
    for group in range(problem.offsets.size - 1):
        start = problem.offsets[group]
        n = problem.offsets[group + 1] - start
        if problem.most[group] > 0 and problem.fewest[group] < n:
            walk_group(problem, group, state, proposed, rng)
        else:
            fill(labels, int(problem.most[group] > 0))
            draw_scores_given_labels(state.scores, state.fitted, start, n, labels, rng)


@part
def largest_group(offsets):
    largest = 0
    for group in range(offsets.size - 1):
        n = offsets[group + 1] - offsets[group]
        largest = n if n > largest else largest
    return largest


@part
def draw_scores_given_labels(scores, fitted, start, n, labels, rng):
    for i in range(n):
        sign = 2.0 * labels[i] - 1.0
        scores[start + i] = sign * draw_positive_normal(sign * fitted[start + i], rng)


@inlined_part
def walk_group(problem, group, state, proposed, rng):
    start = problem.offsets[group]
    n = problem.offsets[group + 1] - start
    step = 2.4 / math.sqrt(n)
    count = 0
    proposed_count = 0
    squares = 0.0
    for i in range(n):
        present = state.scores[start + i]
        proposed[i] = present + step * rng.standard_normal()
        count += present > 0.0
        proposed_count += proposed[i] > 0.0
        squares += square(present - state.fitted[start + i]) - square(proposed[i] - state.fitted[start + i])
    first = start + group
    log_ratio = (
        problem.log_likelihood[first + proposed_count] - problem.log_likelihood[first + count] + 0.5 * squares
    )
    if -rng.standard_exponential() < log_ratio:
        copy(state.scores[start : start + n], proposed)
