"""Compiled twin of ``sampler.latent``."""

import math

import numpy as np

from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.counts import draw_labels
from disaggregate.sampler.compiled.normal import draw_positive_normal
from disaggregate.sampler.compiled.products import copy
from disaggregate.sampler.model import BLOCK, WHOLE_GROUP


@inlined_part
def draw_scores_exactly(problem, prior, state, rng):
    largest = largest_group(problem.offsets)
    piece = min(largest, WHOLE_GROUP)
    labels = np.empty(largest, dtype=np.int64)
    positive = np.empty(piece)
    table = np.empty((piece + 1) * (piece + 1))
    for group in range(problem.offsets.size - 1):
        start = problem.offsets[group]
        n = problem.offsets[group + 1] - start
        if problem.most[group] == 0:
            labels[:n] = 0
        elif problem.fewest[group] == n:
            labels[:n] = 1
        elif n <= WHOLE_GROUP:
            first = start + group
            draw_labels(
                state.fitted[start : start + n],
                problem.likelihood[first : first + n + 1],
                problem.log_likelihood[first : first + n + 1],
                labels,
                positive,
                table,
                rng,
            )
        else:
            draw_labels_in_blocks(problem, group, state, labels, positive, table, rng)
        draw_scores_given_labels(state, start, labels[:n], rng)


@inlined_part
def walk_scores(problem, prior, state, rng):
    largest = largest_group(problem.offsets)
    labels = np.empty(largest, dtype=np.int64)
    proposed = np.empty(largest)
    for group in range(problem.offsets.size - 1):
        start = problem.offsets[group]
        n = problem.offsets[group + 1] - start
        if problem.most[group] == 0:
            labels[:n] = 0
            draw_scores_given_labels(state, start, labels[:n], rng)
        elif problem.fewest[group] == n:
            labels[:n] = 1
            draw_scores_given_labels(state, start, labels[:n], rng)
        else:
            walk_group(problem, group, state, proposed, rng)


@part
def largest_group(offsets):
    largest = 0
    for group in range(offsets.size - 1):
        largest = max(largest, offsets[group + 1] - offsets[group])
    return largest


@inlined_part
def draw_labels_in_blocks(problem, group, state, labels, positive, table, rng):
    start = problem.offsets[group]
    n = problem.offsets[group + 1] - start
    count = 0
    for i in range(n):
        labels[i] = state.scores[start + i] > 0.0
        count += labels[i]
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    fitted = np.empty(BLOCK)
    block_labels = np.empty(BLOCK, dtype=np.int64)
    for begin in range(0, n, BLOCK):
        size = min(BLOCK, n - begin)
        rest = count
        for i in range(size):
            member = order[begin + i]
            fitted[i] = state.fitted[start + member]
            rest -= labels[member]
        first = start + group + rest
        draw_labels(
            fitted[:size],
            problem.likelihood[first : first + size + 1],
            problem.log_likelihood[first : first + size + 1],
            block_labels,
            positive,
            table,
            rng,
        )
        count = rest
        for i in range(size):
            labels[order[begin + i]] = block_labels[i]
            count += block_labels[i]


@part
def draw_scores_given_labels(state, start, labels, rng):
    for i in range(labels.size):
        sign = 2.0 * labels[i] - 1.0
        state.scores[start + i] = sign * draw_positive_normal(sign * state.fitted[start + i], rng)


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
        squares += (present - state.fitted[start + i]) ** 2 - (proposed[i] - state.fitted[start + i]) ** 2
    first = start + group
    log_ratio = (
        problem.log_likelihood[first + proposed_count] - problem.log_likelihood[first + count] + 0.5 * squares
    )
    if -rng.standard_exponential() < log_ratio:
        copy(state.scores[start : start + n], proposed)
