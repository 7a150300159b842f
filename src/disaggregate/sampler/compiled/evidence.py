"""Likelihood of the groups' evidence for many draws of f at once."""

import math

import numpy as np

from disaggregate.model.reports import EXACT, NOTHING
from disaggregate.sampler.compiled.arrays import greater, square
from disaggregate.sampler.compiled.compile import kernel
from disaggregate.sampler.compiled.counts import count_law, log_agreement
from disaggregate.sampler.compiled.likelihood import add_offsets, count_moments, expand, is_forced, normal_given
from disaggregate.sampler.compiled.normal import fill_chances, log_normal_cdf
from disaggregate.sampler.compiled.populations import share_moments

_LOG_TWO_PI = math.log(2.0 * math.pi)


@kernel
def evidence_by_draw(reports, individual, group):
    """Log likelihood of each group's report in each draw of u and o, one per row, with z = 0."""
    n_draws, n_rows = individual.shape
    n_groups = group.shape[1]
    result = np.zeros((n_draws, n_groups))
    fitted = np.empty(n_rows)
    chances = np.empty((3, n_rows))
    people = greater(reports.room[0], 1)
    laws = np.empty((2, greater(reports.room[1], 1)))
    spread = np.empty((5, people))
    units = np.empty(people, dtype=np.int64)
    moments = np.empty((2, n_groups))
    for draw in range(n_draws):
        add_offsets(reports.offsets, individual[draw], group[draw], fitted)
        fill_chances(fitted, chances[0], chances[1], chances[2])
        if reports.room[3] > 0:
            share_moments(reports, individual[draw], group[draw], 0.0, chances[0], moments)
        for j in range(n_groups):
            start = reports.offsets[j]
            stop = reports.offsets[j + 1]
            first = reports.starts[j]
            last = reports.starts[j + 1]
            if reports.law[j] == EXACT:
                n = expand(reports, start, stop, fitted, chances[0], chances[1], chances[2], spread, units)
                law = count_law(spread[1, :n], spread[2, :n], units[:n], laws[0], laws[1])
                agreement = 0.0
                for c in range(law.size):
                    agreement += law[c] * reports.likelihood[0, first + c]
                result[draw, j] += log_agreement(
                    agreement, spread[0, :n], units[:n], reports.log_likelihood[0, first:last]
                )
            elif reports.law[j] != NOTHING and is_forced(reports, 0, j):
                sign = 1.0 if reports.most[0, j] > 0 else -1.0
                for row in range(start, stop):
                    result[draw, j] += reports.counts[row] * log_normal_cdf(sign * fitted[row])
            elif reports.law[j] != NOTHING:
                mean, variance = count_moments(reports, start, stop, chances[0], chances[1])
                result[draw, j] += normal_given(
                    mean, variance, reports.nodes[first:last], reports.log_likelihood[0, first:last]
                )[0]
            if reports.is_sample[j]:
                miss = reports.share[j] - moments[0, j]
                result[draw, j] -= 0.5 * square(miss) / moments[1, j]
                result[draw, j] -= 0.5 * (_LOG_TWO_PI + math.log(moments[1, j]))
    return result
