"""The information of every report on the scores: a sum of slopes over rows, and its weight."""

import math

import numpy as np

from disaggregate.model.reports import EXACT, NOTHING
from disaggregate.sampler.compiled.arrays import greater, square
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
from disaggregate.sampler.compiled.counts import SAFE_TOTAL, count_law
from disaggregate.sampler.compiled.normal import fill_chances

_LEAST_DENSITY = 1e-100


@part
def fill_pieces(reports, rung, individual, group, slope, starts, worth, owner):
    """Fill the slope of each row; the start, weight and group of each piece; return how many there are.

    A report informs about a count. Where labels are forced every row is a piece.
    """
    n_rows = individual.size
    fitted = np.empty(n_rows)
    positive = np.empty(n_rows)
    negative = np.empty(n_rows)
    density = np.empty(n_rows)
    add_offsets(reports.offsets, individual, group, fitted)
    fill_chances(fitted, positive, negative, density)
    laws = np.empty((2, greater(reports.capacity[1], 1)))
    spread = np.empty((5, greater(reports.capacity[0], 1)))
    units = np.empty(greater(reports.capacity[0], 1), dtype=np.int64)
    n_pieces = 0
    for j in range(reports.law.size):
        start = reports.offsets[j]
        stop = reports.offsets[j + 1]
        for row in range(start, stop):
            slope[row] = reports.counts[row] * reports.units[row] * density[row]
        if reports.law[j] == NOTHING:
            starts[n_pieces] = start
            worth[n_pieces] = 0.0
            owner[n_pieces] = j
            n_pieces += 1
        elif is_forced(reports, rung, j):
            sign = 1.0 if reports.most[rung, j] > 0 else -1.0
            for row in range(start, stop):
                chance = positive[row] if sign > 0.0 else negative[row]
                starts[n_pieces] = row
                worth[n_pieces] = forced_worth(sign * fitted[row], chance, density[row], reports.units[row])
                worth[n_pieces] /= reports.counts[row]
                worth[n_pieces] /= spread_of(reports.counts[row], 1.0, reports.correlation[0])
                owner[n_pieces] = j
                n_pieces += 1
        else:
            correlation = 0.0 if reports.law[j] == EXACT else reports.correlation[0]
            mean, variance = count_moments(
                reports.counts[start:stop], reports.units[start:stop], correlation, positive[start:stop],
                negative[start:stop],
            )  # fmt: skip
            first = reports.starts[j]
            last = reports.starts[j + 1]
            if reports.law[j] == EXACT:
                n = expand(
                    reports.counts[start:stop], reports.units[start:stop], fitted[start:stop],
                    positive[start:stop], negative[start:stop], density[start:stop], spread, units,
                )  # fmt: skip
                law = count_law(spread[1, :n], spread[2, :n], units[:n], laws[0], laws[1])
                after = variance_after(law, reports.likelihood[rung, first:last])
            else:
                begin, end = allowed_nodes(reports, rung, j)
                after = normal_given(
                    reports.nodes[first:last], reports.log_likelihood[rung, first:last], begin, end, mean, variance
                )[2]
            starts[n_pieces] = start
            worth[n_pieces] = greater(variance - after, 0.0) / square(variance)
            owner[n_pieces] = j
            n_pieces += 1
    return n_pieces


@part
def forced_worth(fitted, chance, density, unit):
    """Curvature of log Phi(f) over the squared slope."""
    if density < _LEAST_DENSITY:  # its square must stay a number
        return 0.0
    ratio = density / chance
    return greater(ratio * (ratio + fitted), 0.0) / square(unit * density)


@part
def variance_after(law, likelihood):
    """Variance of a count given its evidence; none where that is hardly possible."""
    total = 0.0
    mean = 0.0
    for c in range(law.size):
        chance = law[c] * likelihood[c]
        total += chance
        mean += chance * c
    if not total > SAFE_TOTAL or not math.isfinite(total):
        return 0.0
    mean /= total
    spread = 0.0
    for c in range(law.size):
        spread += law[c] * likelihood[c] * square(c - mean)
    return spread / total
