"""Compiled twin of ``sampler.latent``."""

import math
from typing import NamedTuple

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, fill, lesser, square
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.counts import draw_labels
from disaggregate.sampler.compiled.normal import draw_positive_normal
from disaggregate.sampler.evidence import PART_SIZE, WHOLE_GROUP


class Scratch(NamedTuple):
    """Workspace for one piece of a group."""

    labels: np.ndarray
    units: np.ndarray
    fitted: np.ndarray
    chances: np.ndarray
    table: np.ndarray


@inlined_part
def draw_scores_exactly(data, prior, state, rng):
    labels = np.empty(state.scores.size, dtype=np.int64)
    draw_all_labels(data.evidence, state.fitted, state.scores, labels, 0, rng)
    draw_scores_given_labels(state.scores, state.fitted, 0, labels.size, labels, rng)


@part
def draw_all_labels(evidence, fitted, scores, labels, larger_than, rng):
    order = np.empty(largest_group(evidence.offsets), dtype=np.int64)
    scratch = new_scratch(evidence.piece[0], evidence.piece[1])
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        if stop - start <= larger_than:
            continue
        if evidence.most[group] == 0:
            fill(labels[start:stop], 0)
        elif evidence.fewest[group] == total_units(evidence, group):
            fill(labels[start:stop], 1)
        else:
            draw_group_labels(evidence, group, fitted, scores, labels[start:stop], order, scratch, rng)


@inlined_part
def total_units(evidence, group):
    """Return the count of a group whose members are all positive."""
    return evidence.starts[group + 1] - evidence.starts[group] - 1


@part
def new_scratch(n_members, n_units):
    return Scratch(
        np.empty(n_members, dtype=np.int64),
        np.empty(n_members, dtype=np.int64),
        np.empty(n_members),
        np.empty((3, n_members)),
        np.empty((n_members + 1) * (n_units + 1)),
    )


@inlined_part
def draw_group_labels(evidence, group, fitted, scores, labels, order, scratch, rng):
    """Draw a group in one piece if it is small, else in random parts given the count of the rest."""
    start = evidence.offsets[group]
    n = evidence.offsets[group + 1] - start
    count = 0
    for i in range(n):
        order[i] = i
        labels[i] = scores[start + i] > 0.0
        count += evidence.units[start + i] * labels[i]
    step = n
    if n > WHOLE_GROUP:
        step = PART_SIZE
        for i in range(n - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[i], order[j] = order[j], order[i]
    for begin in range(0, n, step):
        size = lesser(step, n - begin)
        total = 0
        for i in range(size):
            member = order[begin + i]
            scratch.fitted[i] = fitted[start + member]
            scratch.units[i] = evidence.units[start + member]
            count -= scratch.units[i] * labels[member]
            total += scratch.units[i]
        first = evidence.starts[group] + count
        draw_labels(
            scratch.fitted[:size],
            scratch.units[:size],
            evidence.likelihood[first : first + total + 1],
            evidence.log_likelihood[first : first + total + 1],
            scratch.labels,
            scratch.chances,
            scratch.table,
            rng,
        )
        for i in range(size):
            labels[order[begin + i]] = scratch.labels[i]
            count += scratch.units[i] * scratch.labels[i]


@inlined_part
def walk_scores(data, prior, state, rng):
    largest = largest_group(data.evidence.offsets)
    labels = np.empty(largest, dtype=np.int64)
    proposed = np.empty(largest)
    for group in range(data.evidence.offsets.size - 1):
        start = data.evidence.offsets[group]
        n = data.evidence.offsets[group + 1] - start
        most = total_units(data.evidence, group)
        if data.evidence.most[group] > 0 and data.evidence.fewest[group] < most:
            walk_group(data, group, state, proposed, rng)
        else:
            fill(labels, int(data.evidence.most[group] > 0))
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
def walk_group(data, group, state, proposed, rng):
    start = data.evidence.offsets[group]
    n = data.evidence.offsets[group + 1] - start
    step = 2.4 / math.sqrt(n)
    count = 0
    proposed_count = 0
    squares = 0.0
    for i in range(n):
        present = state.scores[start + i]
        proposed[i] = present + step * rng.standard_normal()
        count += data.evidence.units[start + i] * (present > 0.0)
        proposed_count += data.evidence.units[start + i] * (proposed[i] > 0.0)
        squares += square(present - state.fitted[start + i]) - square(proposed[i] - state.fitted[start + i])
    first = data.evidence.starts[group]
    log_ratio = (
        data.evidence.log_likelihood[first + proposed_count]
        - data.evidence.log_likelihood[first + count]
        + 0.5 * squares
    )
    if -rng.standard_exponential() < log_ratio:
        copy(state.scores[start : start + n], proposed)


@part
def tally_labels(evidence, scores, label_sums, count_tallies):
    """Count the positives, by individual and by group."""
    for group in range(evidence.offsets.size - 1):
        count = 0
        for row in range(evidence.offsets[group], evidence.offsets[group + 1]):
            positive = scores[row] > 0.0
            label_sums[row] += positive
            count += evidence.units[row] * positive
        count_tallies[evidence.starts[group] + count] += 1
