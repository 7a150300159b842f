"""What the groups' own counts tell, with labels summed out: compiled twin of the parts of ``model.likelihood``."""

import math

import numpy as np

from disaggregate.model.likelihood import LEAST_VARIANCE, NARROW, NEGLIGIBLE
from disaggregate.model.reports import EXACT, NOTHING
from disaggregate.sampler.compiled.arrays import fill, greater, square
from disaggregate.sampler.compiled.collapsed import forced_gradient, group_gradient, is_short, short_agreement
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.counts import count_law, log_agreement
from disaggregate.sampler.compiled.normal import fill_chances, log_normal_cdf, scaled_tail

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_ONE_BY_ROOT_TWO_PI = 1.0 / math.sqrt(2.0 * math.pi)


@inlined_part
def add_offsets(offsets, individual, group, fitted):
    for j in range(group.size):
        for row in range(offsets[j], offsets[j + 1]):
            fitted[row] = individual[row] + group[j]


@part
def count_gradient(reports, rung, fitted, positive, negative, density, gradient):
    """Fill the gradient in f of what the groups' own counts tell, and return its log likelihood."""
    people = greater(reports.capacity[0], 1)
    width = greater(reports.capacity[1], 1)
    table = np.empty(greater(reports.capacity[2], 1))
    laws = np.empty((2, width))
    spread = np.empty((5, people))
    units = np.empty(people, dtype=np.int64)
    total = 0.0
    j = 0
    n_groups = reports.law.size
    while j < n_groups:
        start = reports.offsets[j]
        stop = reports.offsets[j + 1]
        first = reports.starts[j]
        last = reports.starts[j + 1]
        if reports.law[j] == NOTHING:
            fill(gradient[start:stop], 0.0)
        elif is_forced(reports, rung, j):
            is_positive = reports.most[rung, j] > 0
            if reports.capacity[4] == 0:  # no cells: as many groups at once as are forced to the same labels
                while j + 1 < n_groups and is_forced_like(reports, rung, j + 1, is_positive):
                    j += 1
                stop = reports.offsets[j + 1]
            sign = 1.0 if is_positive else -1.0
            chance = positive if is_positive else negative
            if reports.capacity[4] == 0:
                total += forced_gradient(
                    fitted[start:stop], sign, chance[start:stop], density[start:stop], gradient[start:stop]
                )
            else:
                total += forced_cells(fitted[start:stop], sign, reports.counts[start:stop], gradient[start:stop])
        elif reports.law[j] == EXACT:
            evidence = reports.likelihood[rung, first:last]
            log_evidence = reports.log_likelihood[rung, first:last]
            if reports.capacity[4] == 0:
                total += group_gradient(
                    fitted[start:stop], reports.units[start:stop], evidence, log_evidence, positive[start:stop],
                    negative[start:stop], density[start:stop], gradient[start:stop], table, laws,
                )  # fmt: skip
            else:
                total += cells_gradient(
                    reports.counts[start:stop], reports.units[start:stop], evidence, log_evidence,
                    fitted[start:stop], positive[start:stop], negative[start:stop], density[start:stop],
                    gradient[start:stop], table, laws, spread, units,
                )  # fmt: skip
        else:
            begin, end = allowed_nodes(reports, rung, j)
            total += normal_gradient(
                reports.counts[start:stop], reports.units[start:stop], reports.nodes[first:last],
                reports.log_likelihood[rung, first:last], begin, end, positive[start:stop], negative[start:stop],
                density[start:stop], gradient[start:stop],
            )  # fmt: skip
        j += 1
    return total


@inlined_part
def is_forced(reports, rung, j):
    """Tell whether the evidence leaves no choice of labels."""
    return reports.most[rung, j] == 0 or reports.fewest[rung, j] == reports.total[j]


@inlined_part
def is_forced_like(reports, rung, j, is_positive):
    return reports.law[j] != NOTHING and is_forced(reports, rung, j) and (reports.most[rung, j] > 0) == is_positive


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
def normal_gradient(counts, units, nodes, evidence, begin, end, positive, negative, density, gradient):
    """Log likelihood of a group whose count is normal with the right mean and variance, and its gradient."""
    mean, variance = count_moments(counts, units, positive, negative)
    log_total, mean_after, variance_after = normal_given(nodes, evidence, begin, end, mean, variance)
    by_mean = (mean_after - mean) / variance
    by_variance = 0.5 * ((variance_after + square(mean_after - mean)) / variance - 1.0) / variance
    for row in range(counts.size):
        slope = by_mean + by_variance * units[row] * (negative[row] - positive[row])
        gradient[row] = counts[row] * units[row] * density[row] * slope
    return log_total


@part
def count_moments(counts, units, positive, negative):
    """Mean and variance of a count."""
    mean = 0.0
    variance = 0.0
    for row in range(counts.size):
        people = counts[row] * units[row]
        mean += people * positive[row]
        variance += people * units[row] * positive[row] * negative[row]
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
    for j in range(reports.law.size):
        add_group_likelihood(reports, j, workspace, laws, spread, units, first_rung, last_rung, result)


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
        mean, variance = count_moments(counts, unit, yes, no)
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
    if last_rung - first_rung == 1 and is_short(reports.likelihood[first_rung, first:last], own.size):
        found = short_agreement(reports.likelihood[first_rung, first:last], yes, no, laws[0])
        result[0] += log_agreement(found, own, unit, reports.log_likelihood[first_rung, first:last])
        return
    law = count_law(yes, no, unit, laws[0], laws[1])
    for rung in range(first_rung, last_rung):
        found = 0.0
        for c in range(law.size):
            found += law[c] * reports.likelihood[rung, first + c]
        result[rung - first_rung] += log_agreement(found, own, unit, reports.log_likelihood[rung, first:last])


@part
def likelihood_gradient(reports, rung, individual, group, workspace, by_row, by_group):
    """Fill the gradient in u and in the groups' offsets; return the log likelihood.

    ``workspace`` has at least four rows as long as there are rows, and is overwritten.
    """
    n_rows = individual.size
    fitted = workspace[0, :n_rows]
    add_offsets(reports.offsets, individual, group, fitted)
    fill_chances(fitted, workspace[1, :n_rows], workspace[2, :n_rows], workspace[3, :n_rows])
    total = count_gradient(
        reports, rung, fitted, workspace[1, :n_rows], workspace[2, :n_rows], workspace[3, :n_rows], by_row
    )
    for j in range(group.size):
        by_group[j] = 0.0
        for row in range(reports.offsets[j], reports.offsets[j + 1]):
            by_group[j] += by_row[row]
    return total
