"""The likelihood of the groups' own counts, with labels summed out: compiled twin of ``model.likelihood``."""

import math

import numpy as np

from disaggregate.model.likelihood import LEAST_VARIANCE, NARROW, NEGLIGIBLE
from disaggregate.model.reports import EXACT, NOTHING
from disaggregate.sampler.compiled.arrays import fill, greater, square
from disaggregate.sampler.compiled.collapsed import forced_gradient, group_gradient, short_gradient, short_law
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.counts import (
    SAFE_TOTAL,
    SHORT,
    count_law,
    log_agreement,
    log_evidence_by_logarithms,
)
from disaggregate.sampler.compiled.normal import fill_chances, log_normal_cdf, scaled_tail

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_ONE_BY_ROOT_TWO_PI = 1.0 / math.sqrt(2.0 * math.pi)


@inlined_part
def add_offsets(offsets, individual, group, fitted):
    for j in range(group.size):
        for row in range(offsets[j], offsets[j + 1]):
            fitted[row] = individual[row] + group[j]


@inlined_part
def count_gradient(reports, rung, fitted, positive, negative, density, gradient):
    """Fill the gradient in f of the log likelihood of the groups' own counts, and return that."""
    offsets = reports.offsets
    starts = reports.starts
    law = reports.law
    most = reports.most[rung]
    fewest = reports.fewest[rung]
    likelihood = reports.likelihood[rung]
    total_of = reports.total
    has_cells = reports.capacity[4] > 0
    people = greater(reports.capacity[0], 1)
    table = np.empty(greater(reports.capacity[2], 1))
    laws = np.empty((2, greater(reports.capacity[1], 1)))
    spread = np.empty((5, people))
    units = np.empty(people, dtype=np.int64)
    short = laws[0]
    total = 0.0
    j = np.int64(0)
    n_groups = law.size
    while j < n_groups:
        n = offsets[j + 1] - offsets[j]
        is_free = most[j] != 0 and fewest[j] != total_of[j]
        if law[j] == EXACT and is_free and not has_cells and starts[j + 1] - starts[j] == n + 1 <= SHORT:
            found = short_gradient(
                likelihood, starts[j], positive, negative, density, gradient, offsets[j], n, table, short
            )
            if found >= SAFE_TOTAL:
                total += math.log(found)
                j += 1
                continue
        last = j + 1
        if law[j] != NOTHING and not is_free and not has_cells:  # many short sums take longer than a long one
            while last < n_groups and is_forced_like(law, fewest, most, total_of, last, most[j] > 0):
                last += 1
        total += groups_gradient(
            reports, rung, j, last, fitted, positive, negative, density, gradient, table, laws, spread, units
        )
        j = last
    return total


@part
def groups_gradient(
    reports, rung, j, last, fitted, positive, negative, density, gradient, table, laws, spread, units
):  # fmt: skip
    """Do the same for one group of any kind, or for some that are forced to the same labels."""
    start = reports.offsets[j]
    stop = reports.offsets[last]
    first = reports.starts[j]
    end = reports.starts[j + 1]
    if reports.law[j] == NOTHING:
        fill(gradient[start:stop], 0.0)
        return 0.0
    if is_forced(reports, rung, j):
        sign = 1.0 if reports.most[rung, j] > 0 else -1.0
        if reports.capacity[4] > 0:
            return forced_cells(fitted[start:stop], sign, reports.counts[start:stop], gradient[start:stop])
        chance = positive if sign > 0.0 else negative
        return forced_gradient(
            fitted[start:stop], sign, chance[start:stop], density[start:stop], gradient[start:stop]
        )
    if reports.law[j] != EXACT:
        begin, beyond = allowed_nodes(reports, rung, j)
        return normal_gradient(
            reports.counts[start:stop], reports.units[start:stop], reports.nodes[first:end],
            reports.log_likelihood[rung, first:end], begin, beyond, reports.correlation[0], positive[start:stop],
            negative[start:stop], density[start:stop], gradient[start:stop],
        )[0]  # fmt: skip
    evidence = reports.likelihood[rung, first:end]
    log_evidence = reports.log_likelihood[rung, first:end]
    if reports.capacity[4] == 0:
        return group_gradient(
            fitted[start:stop], reports.units[start:stop], evidence, log_evidence, positive[start:stop],
            negative[start:stop], density[start:stop], gradient[start:stop], table, laws,
        )  # fmt: skip
    return cells_gradient(
        reports.counts[start:stop], reports.units[start:stop], evidence, log_evidence, fitted[start:stop],
        positive[start:stop], negative[start:stop], density[start:stop], gradient[start:stop], table, laws, spread,
        units,
    )  # fmt: skip


@inlined_part
def is_forced(reports, rung, j):
    """Return whether the evidence leaves no choice of labels."""
    return reports.most[rung, j] == 0 or reports.fewest[rung, j] == reports.total[j]


@inlined_part
def is_forced_like(law, fewest, most, total, j, is_positive):
    return law[j] != NOTHING and (most[j] == 0 or fewest[j] == total[j]) and (most[j] > 0) == is_positive


@part
def forced_cells(fitted, sign, counts, gradient):
    total = 0.0
    for i in range(fitted.size):
        log_chance = log_normal_cdf(sign * fitted[i])
        total += counts[i] * log_chance
        gradient[i] = counts[i] * sign * math.exp(-0.5 * square(fitted[i]) - _LOG_ROOT_TWO_PI - log_chance)
    return total


@part
def expand(counts, units, fitted, positive, negative, density, spread, unit_of_person):
    """List every person of a group's cells by themselves; return how many there are."""
    n = 0
    for row in range(counts.size):
        for _ in range(counts[row]):
            spread[0, n] = fitted[row]
            spread[1, n] = positive[row]
            spread[2, n] = negative[row]
            spread[3, n] = density[row]
            unit_of_person[n] = units[row]
            n += 1
    return n


@part
def cells_gradient(
    counts, units, evidence, log_evidence, fitted, positive, negative, density, gradient, table, laws, spread,
    unit_of_person,
):  # fmt: skip
    n = expand(counts, units, fitted, positive, negative, density, spread, unit_of_person)
    value = group_gradient(
        spread[0, :n], unit_of_person[:n], evidence, log_evidence, spread[1, :n], spread[2, :n], spread[3, :n],
        spread[4, :n], table, laws,
    )  # fmt: skip
    n = 0
    for row in range(counts.size):
        gradient[row] = 0.0
        for _ in range(counts[row]):
            gradient[row] += spread[4, n]
            n += 1
    return value


@part
def normal_gradient(
    counts, units, nodes, evidence, begin, end, correlation, positive, negative, density, gradient
):  # fmt: skip
    """Log likelihood of a group whose count is normal with the right mean and variance, and its gradient.

    Returns the derivative in the correlation, too.
    """
    mean, variance = count_moments(counts, units, correlation, positive, negative)
    log_total, mean_after, variance_after = normal_given(nodes, evidence, begin, end, mean, variance)
    by_mean = (mean_after - mean) / variance
    by_variance = 0.5 * ((variance_after + square(mean_after - mean)) / variance - 1.0) / variance
    pairs = 0.0
    for row in range(counts.size):
        spread = spread_of(counts[row], units[row], correlation)
        slope = by_mean + by_variance * spread * (negative[row] - positive[row])
        gradient[row] = counts[row] * units[row] * density[row] * slope
        pairs += counts[row] * (counts[row] - 1.0) * square(units[row]) * positive[row] * negative[row]
    return log_total, by_variance * pairs


@inlined_part
def spread_of(count, unit, correlation):
    """Return what one person of a cell adds to the variance of the count, over p q times the unit."""
    return unit * (1.0 + (count - 1.0) * correlation)


@part
def count_moments(counts, units, correlation, positive, negative):
    """Mean and variance of a count."""
    mean = 0.0
    variance = 0.0
    for row in range(counts.size):
        people = counts[row] * units[row]
        mean += people * positive[row]
        variance += people * spread_of(counts[row], units[row], correlation) * positive[row] * negative[row]
    return mean, greater(variance, LEAST_VARIANCE)


@part
def normal_given(nodes, evidence, begin, end, mean, variance):
    """Log probability of the evidence on a normal count, and mean and variance of the count given it.

    Only nodes from ``begin`` to before ``end``, which the evidence allows, are looked at.
    """
    n = nodes.size
    deviation = math.sqrt(variance)
    lowest = (0.5 * (nodes[begin - 1] + nodes[begin]) - mean) / deviation if begin > 0 else -np.inf
    best = -np.inf
    low = lowest
    for c in range(begin, end):
        high = (0.5 * (nodes[c] + nodes[c + 1]) - mean) / deviation if c < n - 1 else np.inf
        best = greater(best, evidence[c] - 0.5 * square(distance_to(low, high)))
        low = high
    total = 0.0
    moment = 0.0
    second = 0.0
    low = lowest
    for c in range(begin, end):
        high = (0.5 * (nodes[c] + nodes[c + 1]) - mean) / deviation if c < n - 1 else np.inf
        if evidence[c] - 0.5 * square(distance_to(low, high)) > best - NEGLIGIBLE:
            mass, first, squares = interval_moments(low, high, evidence[c] - best)
            total += mass
            moment += first
            second += squares
        low = high
    moment /= total
    return best + math.log(total), mean + deviation * moment, variance * (second / total - square(moment))


@part
def allowed_nodes(reports, rung, j):
    """Find the nodes that a group's evidence allows: the first, and the one after the last."""
    nodes = reports.nodes[reports.starts[j] : reports.starts[j + 1]]
    return first_node(nodes, reports.fewest[rung, j]), first_node(nodes, reports.most[rung, j]) + 1


@part
def first_node(nodes, count):
    """Find the first of the sorted nodes that is not below a count."""
    low = 0
    high = nodes.size
    while low < high:
        middle = (low + high) // 2
        if nodes[middle] < count:
            low = middle + 1
        else:
            high = middle
    return low


@inlined_part
def distance_to(low, high):
    """Distance of zero from an interval."""
    return low if low > 0.0 else (-high if high < 0.0 else 0.0)


@part
def interval_moments(low, high, log_factor):
    """Integrate the standard normal density, it times x, and it times x^2, over an interval, with a factor."""
    width = high - low
    x = 0.5 * (low + high)
    if width * (1.0 + abs(x)) < NARROW:
        area = width * _ONE_BY_ROOT_TWO_PI * math.exp(log_factor - 0.5 * square(x))
        step = square(width) / 24.0
        s = square(x)
        return (
            area * (1.0 + step * (s - 1.0)),
            area * x * (1.0 + step * (s - 3.0)),
            area * (s + step * (square(s) - 5.0 * s + 2.0)),
        )
    at_low = math.exp(log_factor - 0.5 * square(low))
    at_high = math.exp(log_factor - 0.5 * square(high))
    tail_low = at_low * scaled_tail(abs(low)) if at_low > 0.0 else 0.0
    tail_high = at_high * scaled_tail(abs(high)) if at_high > 0.0 else 0.0
    if low >= 0.0:
        mass = tail_low - tail_high
    elif high <= 0.0:
        mass = tail_high - tail_low
    else:
        mass = math.exp(log_factor) - tail_low - tail_high
    ends = (low * at_low if at_low > 0.0 else 0.0) - (high * at_high if at_high > 0.0 else 0.0)
    return mass, _ONE_BY_ROOT_TWO_PI * (at_low - at_high), mass + _ONE_BY_ROOT_TWO_PI * ends


@part
def add_count_likelihoods(reports, individual, group, first_rung, last_rung, workspace, result):
    """Add the log likelihood of the groups' counts under the evidence of some rungs."""
    n_rows = individual.size
    add_offsets(reports.offsets, individual, group, workspace[0, :n_rows])
    fill_chances(workspace[0, :n_rows], workspace[1, :n_rows], workspace[2, :n_rows], workspace[3, :n_rows])
    people = greater(reports.capacity[0], 1)
    laws = np.empty((2, greater(reports.capacity[1], 1)))
    spread = np.empty((5, people))
    units = np.empty(people, dtype=np.int64)
    offsets = reports.offsets
    starts = reports.starts
    law = reports.law
    for j in range(law.size):
        n = offsets[j + 1] - offsets[j]
        if law[j] != EXACT or reports.capacity[4] > 0 or not starts[j + 1] - starts[j] == n + 1 <= SHORT:
            add_group_likelihood(reports, j, workspace, laws, spread, units, first_rung, last_rung, result)
        else:
            add_short_likelihoods(reports, j, workspace, laws[0], first_rung, last_rung, result)


@part
def add_short_likelihoods(reports, j, workspace, law, first_rung, last_rung, result):
    """Do the same for a few members who count once each."""
    start = reports.offsets[j]
    n = reports.offsets[j + 1] - start
    first = reports.starts[j]
    likelihood = reports.likelihood
    short_law(workspace[1], workspace[2], start, n, law)
    for rung in range(first_rung, last_rung):
        found = 0.0
        for c in range(n + 1):
            found += law[c] * likelihood[rung, first + c]
        if found >= SAFE_TOTAL:
            result[rung - first_rung] += math.log(found)
        else:
            result[rung - first_rung] += log_evidence_by_logarithms(
                workspace[0, start : start + n], reports.units[start : start + n],
                reports.log_likelihood[rung, first : first + n + 1],
            )  # fmt: skip


@part
def add_group_likelihood(reports, j, workspace, laws, spread, units, first_rung, last_rung, result):
    """Add the log likelihood of one group's count under the evidence of some rungs.

    ``workspace`` has f and its probabilities in its rows. The law of the count is found once and weighed by the
    evidence of each rung.
    """
    if reports.law[j] == NOTHING:
        return
    start = reports.offsets[j]
    stop = reports.offsets[j + 1]
    first = reports.starts[j]
    last = reports.starts[j + 1]
    own = workspace[0, start:stop]
    yes = workspace[1, start:stop]
    no = workspace[2, start:stop]
    unit = reports.units[start:stop]
    counts = reports.counts[start:stop]
    if reports.law[j] != EXACT:
        mean, variance = count_moments(counts, unit, reports.correlation[0], yes, no)
        for rung in range(first_rung, last_rung):
            if is_forced(reports, rung, j):
                sign = 1.0 if reports.most[rung, j] > 0 else -1.0
                for row in range(own.size):
                    result[rung - first_rung] += counts[row] * log_normal_cdf(sign * own[row])
                continue
            begin, end = allowed_nodes(reports, rung, j)
            result[rung - first_rung] += normal_given(
                reports.nodes[first:last], reports.log_likelihood[rung, first:last], begin, end, mean, variance
            )[0]
        return
    if reports.capacity[4] > 0:
        n = expand(counts, unit, own, yes, no, workspace[3, start:stop], spread, units)
        own = spread[0, :n]
        yes = spread[1, :n]
        no = spread[2, :n]
        unit = units[:n]
    law = count_law(yes, no, unit, laws[0], laws[1])
    for rung in range(first_rung, last_rung):
        found = 0.0
        for c in range(law.size):
            found += law[c] * reports.likelihood[rung, first + c]
        result[rung - first_rung] += log_agreement(found, own, unit, reports.log_likelihood[rung, first:last])


@inlined_part
def likelihood_gradient(reports, rung, individual, group, workspace, by_row, by_group):
    """Fill the gradient in u and in the groups' offsets; return the log likelihood.

    ``workspace`` has at least four rows as long as there are rows, and is overwritten.
    """
    n_rows = individual.size
    offsets = reports.offsets
    fitted = workspace[0, :n_rows]
    positive = workspace[1, :n_rows]
    negative = workspace[2, :n_rows]
    density = workspace[3, :n_rows]
    add_offsets(offsets, individual, group, fitted)
    fill_chances(fitted, positive, negative, density)
    total = count_gradient(reports, rung, fitted, positive, negative, density, by_row)
    for j in range(group.size):
        by_group[j] = 0.0
        for row in range(offsets[j], offsets[j + 1]):
            by_group[j] += by_row[row]
    return total
