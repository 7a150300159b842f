"""Compiled twin of ``model.likelihood.expected_labels``, added up over draws."""

import math

import numpy as np

from disaggregate.model.reports import EXACT, NOTHING
from disaggregate.sampler.compiled.arrays import copy, greater, lesser, square
from disaggregate.sampler.compiled.collapsed import group_gradient
from disaggregate.sampler.compiled.compile import part
from disaggregate.sampler.compiled.count_likelihood import (
    add_offsets,
    allowed_nodes,
    count_moments,
    expand,
    is_forced,
    normal_given,
    spread_of,
)
from disaggregate.sampler.compiled.counts import SAFE_TOTAL, count_law, log_add
from disaggregate.sampler.compiled.normal import fill_chances, log_normal_cdf

_LEAST_DENSITY = 1e-200


@part
def add_expected(reports, individual, group, moments, workspace, label_sums, share_tallies):
    """Add expected labels and probabilities of shares, given the scores and the reports themselves.

    ``moments`` has mean and variance of the share of each population, in the columns of groups that are samples.
    """
    n_rows = individual.size
    fitted = workspace[0, :n_rows]
    positive = workspace[1, :n_rows]
    negative = workspace[2, :n_rows]
    density = workspace[3, :n_rows]
    add_offsets(reports.offsets, individual, group, fitted)
    fill_chances(fitted, positive, negative, density)
    people = greater(reports.capacity[0], 1)
    laws = np.empty((2, greater(reports.capacity[1], 1)))
    table = np.empty(greater(reports.capacity[2], 1))
    spread = np.empty((5, people))
    units = np.empty(people, dtype=np.int64)
    for j in range(group.size):
        start = reports.offsets[j]
        stop = reports.offsets[j + 1]
        first = reports.starts[j]
        last = reports.starts[j + 1]
        tally = share_tallies[reports.tally_starts[j] : reports.tally_starts[j + 1]]
        if reports.law[j] != NOTHING and is_forced(reports, 0, j):
            is_positive = reports.most[0, j] > 0
            for row in range(start, stop):
                label_sums[row] += 1.0 if is_positive else 0.0
            if reports.is_sample[j] == 0:
                tally[tally.size - 1 if is_positive else 0] += 1.0
        elif reports.law[j] == NOTHING:
            for row in range(start, stop):
                label_sums[row] += positive[row]
            if reports.is_sample[j] == 0:
                n = expand(
                    reports.counts[start:stop], reports.units[start:stop], fitted[start:stop],
                    positive[start:stop], negative[start:stop], density[start:stop], spread, units,
                )  # fmt: skip
                law = count_law(spread[1, :n], spread[2, :n], units[:n], laws[0], laws[1])
                add_law(law, spread[0, :n], units[:n], reports, first, last, tally)
        elif reports.law[j] == EXACT:
            n = expand(
                    reports.counts[start:stop], reports.units[start:stop], fitted[start:stop],
                    positive[start:stop], negative[start:stop], density[start:stop], spread, units,
                )  # fmt: skip
            group_gradient(
                spread[0, :n], units[:n], reports.likelihood[0, first:last], reports.log_likelihood[0, first:last],
                spread[1, :n], spread[2, :n], spread[3, :n], spread[4, :n], table, laws,
            )  # fmt: skip
            n = 0
            for row in range(start, stop):
                label_sums[row] += label_from(positive[row], negative[row], density[row], spread[4, n])
                n += reports.counts[row]
            if reports.is_sample[j] == 0:
                law = count_law(spread[1, :n], spread[2, :n], units[:n], laws[0], laws[1])
                add_law(law, spread[0, :n], units[:n], reports, first, last, tally)
        else:
            correlation = reports.correlation[0]
            mean, variance = count_moments(
                reports.counts[start:stop], reports.units[start:stop], correlation, positive[start:stop],
                negative[start:stop],
            )  # fmt: skip
            begin, end = allowed_nodes(reports, np.int64(0), j)
            _, after, after_variance = normal_given(
                reports.nodes[first:last], reports.log_likelihood[0, first:last], begin, end, mean, variance
            )
            by_mean = (after - mean) / variance
            by_variance = 0.5 * ((after_variance + square(after - mean)) / variance - 1.0) / variance
            for row in range(start, stop):
                by_person = spread_of(reports.counts[row], reports.units[row], correlation)
                skew = reports.units[row] * (1.0 + (2.0 * reports.counts[row] - 1.0) * correlation)
                skew *= (negative[row] - positive[row]) / (1.0 + correlation)
                label = positive[row] + by_person * (by_mean + by_variance * skew) * positive[row] * negative[row]
                label_sums[row] += greater(lesser(label, 1.0), 0.0)
            if reports.is_sample[j] == 0:
                total = reports.total[j]
                add_spread(after / total, after_variance / square(total), tally)
        if reports.is_sample[j]:
            add_spread(moments[0, j], moments[1, j], tally)


@part
def label_from(p, q, density, gradient):
    """Return E[y given f and the evidence] from the gradient (E[y] - p) phi / (p q)."""
    if density < _LEAST_DENSITY:
        return p
    return greater(lesser(p + gradient * p * q / density, 1.0), 0.0)


@part
def add_law(law, fitted, units, reports, first, last, tally):
    """Add the probability of each count given the evidence."""
    total = 0.0
    for c in range(law.size):
        total += law[c] * reports.likelihood[0, first + c]
    if total >= SAFE_TOTAL:
        for c in range(law.size):
            tally[c] += law[c] * reports.likelihood[0, first + c] / total
        return
    log_law = np.full(tally.size, -np.inf)
    longer = np.empty(tally.size)
    log_law[0] = 0.0
    reach = 0
    for i in range(fitted.size):
        log_p = log_normal_cdf(fitted[i])
        log_q = log_normal_cdf(-fitted[i])
        reach += units[i]
        for c in range(reach + 1):
            with_it = log_law[c - units[i]] + log_p if c >= units[i] else -np.inf
            longer[c] = log_add(log_law[c] + log_q, with_it)
        copy(log_law[: reach + 1], longer)
    log_total = -np.inf
    for c in range(tally.size):
        log_law[c] += reports.log_likelihood[0, first + c]
        log_total = log_add(log_total, log_law[c])
    for c in range(tally.size):
        tally[c] += math.exp(log_law[c] - log_total)


@part
def add_spread(mean, variance, tally):
    """Add three shares that have this mean and variance, as normal ones have."""
    step = math.sqrt(3.0 * greater(variance, 0.0))
    for k in range(3):
        share = greater(lesser(mean + (k - 1) * step, 1.0), 0.0)
        tally[int(share * (tally.size - 1) + 0.5)] += 4.0 / 6.0 if k == 1 else 1.0 / 6.0
