"""Compiled twin of ``model.places``: the likelihood of the reports with groups' intercepts integrated out."""

import math
from typing import NamedTuple

import numpy as np

from disaggregate.model.likelihood import LEAST_VARIANCE
from disaggregate.model.places import (
    APART,
    BOUND_NODES,
    BOUND_REACH,
    FARTHEST_OFFSET,
    INFORMATION_PER_PERSON,
    MOST_RISE,
    MOST_STEPS_TO_CENTER,
    NODES,
    PER_NODE,
    SEARCH_MARGIN,
    SEARCH_ROOM,
    SHARE_MARGIN,
    SPACING,
    TABLE_REACH,
)
from disaggregate.model.reports import EXACT, NOTHING
from disaggregate.sampler.compiled.arrays import add_multiple, copy, greater, lesser, square
from disaggregate.sampler.compiled.cells import log_all
from disaggregate.sampler.compiled.compile import fused_part, inlined_part, part
from disaggregate.sampler.compiled.count_likelihood import (
    allowed_nodes,
    cells_gradient,
    forced_cells,
    is_forced,
    normal_given,
    normal_gradient,
    spread_of,
)
from disaggregate.sampler.compiled.normal import fill_chances, log_normal_cdf, tail
from disaggregate.sampler.compiled.populations import Means, facts_of, tabulate, variance_ratio
from disaggregate.sampler.compiled.samples import (
    EXCESS,
    OF_OWN,
    OF_OWN_SQUARE,
    OF_POOL,
    OF_POOL_SQUARE,
    OFFSET,
    center_of_sample,
    fill_sample,
    slope_of_sample,
    step_to_center,
)

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_ROOT_TWO = math.sqrt(2.0)


class Shares(NamedTuple):
    """What the likelihood of the populations' shares needs, and how groups compare: r, its slope in z, and n_0."""

    means: Means
    excess: float
    excess_slope: np.ndarray
    excess_by_error: float
    mean_rows: float


class Own(NamedTuple):
    """One group that reports a count under one rung's evidence, with memory for the chances of its rows.

    It may be a sample, too. Calls with all of the reports cost more than what most of these functions do.
    """

    number: int
    is_sample: bool
    is_forced: bool
    is_exact: bool
    is_bound: bool
    is_alike: bool
    correlation: float
    sign: float
    begin: int
    end: int
    share: float
    size: float
    effective: float
    individual: np.ndarray
    weight: np.ndarray
    counts: np.ndarray
    units: np.ndarray
    nodes: np.ndarray
    log_evidence: np.ndarray
    evidence: np.ndarray
    fitted: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    density: np.ndarray


class Workspace(NamedTuple):
    """Memory to work in, for one group at a time."""

    chances: np.ndarray
    table: np.ndarray
    laws: np.ndarray
    spread: np.ndarray
    units: np.ndarray
    nodes: np.ndarray
    log_density: np.ndarray
    by_correlation: np.ndarray
    by_row: np.ndarray
    by_share: np.ndarray
    weights: np.ndarray


@part
def make_workspace(reports, shares):
    n_rows = 1
    for j in range(reports.law.size):
        n_rows = greater(n_rows, reports.offsets[j + 1] - reports.offsets[j])
    people = greater(reports.capacity[0], 1)
    n_points = shares.means.points.size
    return Workspace(
        np.empty((4, n_rows)), np.empty(greater(reports.capacity[2], 1)),
        np.empty((2, greater(reports.capacity[1], 1))),
        np.empty((5, people)), np.empty(people, dtype=np.int64), np.empty(BOUND_NODES), np.empty(BOUND_NODES),
        np.empty(BOUND_NODES),
        np.empty((BOUND_NODES, n_rows)), np.empty((BOUND_NODES, 6)), np.empty((BOUND_NODES, n_points)),
    )  # fmt: skip


@part
def reports_count(reports, j):
    """Whether a group's report says anything about its rows' own count."""
    allows_all = reports.fewest[0, j] == 0 and reports.most[0, j] == reports.total[j]
    return reports.law[j] != NOTHING and not (reports.is_bound[j] > 0 and allows_all)


@part
def own_report(reports, rung, j, individual, workspace):
    """Take one group that reports a count out of the reports; a sample has no rungs of its own."""
    start = reports.offsets[j]
    stop = reports.offsets[j + 1]
    first = reports.starts[j]
    last = reports.starts[j + 1]
    n = stop - start
    is_sample = reports.is_sample[j] > 0
    own_rung = np.int64(0) if is_sample else rung
    begin, end = allowed_nodes(reports, own_rung, j)
    return Own(
        j, is_sample, is_forced(reports, own_rung, j), reports.law[j] == EXACT, reports.is_bound[j] > 0,
        reports.correlation[0] > 0.0 and reports.law[j] != EXACT, reports.correlation[0],
        1.0 if reports.most[own_rung, j] > 0 else -1.0, begin, end, reports.share[j], reports.size[j],
        reports.effective[j], individual[start:stop], reports.weight[start:stop], reports.counts[start:stop],
        reports.units[start:stop], reports.nodes[first:last], reports.log_likelihood[own_rung, first:last],
        reports.likelihood[own_rung, first:last],
        workspace.chances[0, :n], workspace.chances[1, :n], workspace.chances[2, :n], workspace.chances[3, :n],
    )  # fmt: skip


@part
def make_shares(reports, individual, group, deviation, error):
    """Tabulate the means of p over all offsets that may be needed."""
    slope = np.zeros(individual.size)
    if reports.capacity[3] == 0:
        nothing = Means(
            0.0, 0.0, np.zeros(1), np.ones(1), np.zeros((1, 1, 8)), np.zeros((1, 1)), np.zeros((1, 1)),
            np.zeros(1),
        )  # fmt: skip
        return Shares(nothing, 0.0, slope, 0.0, 1.0)
    excess, by_error, mean_rows = variance_ratio(reports, individual, error, slope)
    low = np.inf
    high = -np.inf
    for j in range(group.size):
        if reports.is_sample[j]:
            _, lowest, highest = sample_range(
                reports.share[j], individual, reports.weight, reports.offsets[j], reports.offsets[j + 1],
                group[j], deviation,
            )  # fmt: skip
            low = lesser(low, lowest - TABLE_REACH * deviation)
            high = greater(high, highest + TABLE_REACH * deviation)
    return Shares(tabulate(reports, individual, low, high), excess, slope, by_error, mean_rows)


@part
def search_range(own, offset, deviation):
    """Return where to start to look for a group's most probable offset, and between which bounds."""
    start = np.int64(0)
    if own.is_sample:
        return sample_range(own.share, own.individual, own.weight, start, own.weight.size, offset, deviation)
    people = 0.0
    for i in range(own.counts.size):
        people += own.counts[i]
    guess, _ = offset_of_share(own.share, own.individual, own.counts, start, own.counts.size, people)
    precision = people * INFORMATION_PER_PERSON * square(deviation)
    guess = lesser(
        greater((offset + precision * guess) / (1.0 + precision), offset - FARTHEST_OFFSET),
        offset + FARTHEST_OFFSET,
    )
    return guess, offset - FARTHEST_OFFSET, offset + FARTHEST_OFFSET


@part
def sample_range(share, individual, weight, start, stop, offset, deviation):
    """Return the same for a sample, whose share alone would put the offset about where it is looked for."""
    if deviation == 0.0:
        return offset, offset, offset
    guess, width = offset_of_share(share, individual, weight, start, stop, 1.0)
    guess = lesser(greater(guess, offset - FARTHEST_OFFSET), offset + FARTHEST_OFFSET)
    margin = SEARCH_MARGIN * deviation + SEARCH_ROOM * width
    return guess, lesser(offset, guess) - margin, greater(offset, guess) + margin


@part
def offset_of_share(share, individual, weight, start, stop, total):
    """Return the offset at which normal scores would have this share, and their width; weights add up to total."""
    mean = 0.0
    spread = 0.0
    for row in range(start, stop):
        mean += weight[row] * individual[row]
        spread += weight[row] * square(individual[row])
    mean /= total
    width = math.sqrt(1.0 + greater(spread / total - square(mean), 0.0))
    return rough_quantile(lesser(greater(share, SHARE_MARGIN), 1.0 - SHARE_MARGIN)) * width - mean, width


@part
def rough_quantile(share):
    """Return the standard normal quantile to two digits (Winitzki's inverse of the error function)."""
    y = 2.0 * share - 1.0
    log_part = math.log(1.0 - square(y))
    half = 2.0 / (math.pi * 0.147) + 0.5 * log_part
    return math.copysign(_ROOT_TWO * math.sqrt(math.sqrt(square(half) - log_part / 0.147) - half), y)


@part
def add_marginal_gradient(reports, rung, individual, group, deviation, error, with_counts, by_row, by_group):
    """Add the gradient in u and in the centres of the groups' offsets.

    Returns the log likelihood, and its gradients in z, in the log variance of the offsets and in the correlation
    of cells. With a deviation of 0 the offsets are their centres. Without ``with_counts`` only the populations'
    shares are looked at.
    """
    shares = make_shares(reports, individual, group, deviation, error)
    workspace = make_workspace(reports, shares)
    n_points = shares.means.points.size
    by_own = np.zeros((shares.means.values.shape[0], 2, n_points))
    by_pool = np.zeros((2, n_points))
    total = 0.0
    by_scale = 0.0
    by_excess = 0.0
    by_correlation = 0.0
    for j in range(group.size):
        is_sample = reports.is_sample[j] > 0
        has_counts = with_counts and reports_count(reports, j)
        power = reports.powers[rung] if is_sample else 1.0
        if power == 0.0 or not (is_sample or has_counts):
            continue
        start = reports.offsets[j]
        n, best, mass = integrate(reports, rung, j, individual, group[j], deviation, shares, has_counts, workspace)
        total += power * (best + math.log(mass))
        for k in range(n):
            chance = power * math.exp(workspace.log_density[k] - best)
            if deviation > 0.0:
                chance *= (workspace.nodes[1] - workspace.nodes[0]) / (mass * deviation)
                distance = (workspace.nodes[k] - group[j]) / deviation
                by_group[j] += chance * distance / deviation
                by_scale += 0.5 * chance * (square(distance) - 1.0)
            if has_counts:
                by_correlation += chance * workspace.by_correlation[k]
                for row in range(start, reports.offsets[j + 1]):
                    by_row[row] += chance * workspace.by_row[k, row - start]
                    if deviation == 0.0:
                        by_group[j] += chance * workspace.by_row[k, row - start]
            if is_sample:
                if deviation == 0.0:
                    by_group[j] += chance * workspace.by_share[k, OFFSET]
                for i in range(OFFSET):
                    workspace.by_share[k, i] *= chance
                by_excess += workspace.by_share[k, EXCESS]
        if is_sample:
            add_to_points(workspace.weights[:n], workspace.by_share, by_own[j], by_pool)
    if reports.capacity[3] > 0:
        add_row_gradient(reports, shares, by_own, by_pool, by_excess, by_row)
    return total, by_excess * shares.excess_by_error, by_scale, by_correlation


@part
def add_to_points(weights, by_share, by_own, by_pool):
    """Add the gradient in the means of p at the points, from that at a group's nodes between them."""
    for k in range(weights.shape[0]):
        add_multiple(by_own[0], by_share[k, OF_OWN], weights[k])
        add_multiple(by_own[1], by_share[k, OF_OWN_SQUARE], weights[k])
        add_multiple(by_pool[0], by_share[k, OF_POOL], weights[k])
        add_multiple(by_pool[1], by_share[k, OF_POOL_SQUARE], weights[k])


@part
def add_row_gradient(reports, shares, by_own, by_pool, by_excess, by_row):
    """Add the gradient in u, from that in the means of p at the points."""
    means = shares.means
    for j in range(reports.is_sample.size):
        if reports.is_sample[j]:
            for i in range(2):  # means over all rows are averages of those of groups
                add_multiple(by_own[j, i], means.of_all[j], by_pool[i])
            start = reports.offsets[j]
            add_slopes(
                means.positive, means.density, reports.weight, by_own[j], start, reports.offsets[j + 1], by_row
            )
    add_multiple(by_row, by_excess, shares.excess_slope)


@fused_part
def add_slopes(positive, density, weight, by_own, start, stop, by_row):
    for k in range(by_own.shape[1]):
        of_p = by_own[0, k]
        of_square = 2.0 * by_own[1, k]
        for row in range(start, stop):
            by_row[row] += weight[row] * density[k, row] * (of_p + of_square * positive[k, row])


@inlined_part
def integrate(reports, rung, j, individual, offset, deviation, shares, has_counts, workspace):
    """Lay the nodes of one group's integral, and fill the log density and its derivatives there.

    Returns how many nodes there are, the largest log density, and the integral in its units.
    """
    if has_counts:
        own = own_report(reports, rung, j, individual, workspace)
        n = lay_nodes(own, offset, deviation, shares, workspace)
        evaluate_nodes(own, offset, deviation, shares, n, workspace)
    else:
        n = integrate_sample(
            facts_of(reports.share[j], reports.size[j], reports.effective[j], shares.excess, shares.mean_rows),
            (shares.means.low, shares.means.high), shares.means.points, shares.means.factors, shares.means.values,
            j, individual, reports.weight, reports.offsets[j], reports.offsets[j + 1], offset, deviation,
            workspace.nodes, workspace.weights, workspace.by_share, workspace.log_density,
        )  # fmt: skip
    best, mass = mass_of_nodes(workspace.log_density, n)
    if deviation > 0.0 and best > -np.inf:
        mass *= (workspace.nodes[1] - workspace.nodes[0]) / deviation
    return n, best, mass


@part
def mass_of_nodes(log_density, n):
    """Return the largest of some log densities, and the sum of all densities in its units."""
    best = -np.inf
    for k in range(n):
        best = greater(best, log_density[k])
    if best == -np.inf:  # too far away for logarithms
        return best, 1.0
    mass = 0.0
    for k in range(n):
        mass += math.exp(log_density[k] - best)
    return best, mass


@part
def integrate_sample(
    facts, bounds, points, factors, values, j, individual, weight, start, stop, offset, deviation, nodes, weights,
    by_share, log_density,
):  # fmt: skip
    """Lay the nodes of a group whose rows are a sample, and fill what is there; return how many there are."""
    n = 1
    nodes[0] = offset
    if deviation > 0.0:
        n = NODES
        present, low, high = sample_range(facts.share, individual, weight, start, stop, offset, deviation)
        center, width = center_of_sample(
            facts, bounds, points, factors, values, j, offset, deviation, present, low, high, weights
        )
        spread_nodes(nodes, center, width)
    fill_sample(
        facts, bounds, points, factors, values, j, offset, deviation, nodes, n, weights, by_share, log_density
    )
    return n


@part
def spread_nodes(nodes, center, width):
    for k in range(NODES):
        nodes[k] = center + width * SPACING * (k - 0.5 * (NODES - 1))


@part
def lay_nodes(own, offset, deviation, shares, workspace):
    """Lay the nodes of the integral of a group that reports a count; return how many there are."""
    workspace.nodes[0] = offset
    if deviation == 0.0:
        return 1
    if own.is_bound:
        for k in range(BOUND_NODES):
            workspace.nodes[k] = offset + BOUND_REACH * deviation * (2.0 * k / (BOUND_NODES - 1.0) - 1.0)
        return BOUND_NODES
    center, width = find_center(own, offset, deviation, shares, workspace)
    spread_nodes(workspace.nodes, center, width)
    return NODES


@part
def find_center(own, offset, deviation, shares, workspace):
    """Find the most probable offset of a group that reports a count, about, and how wide its density is there.

    Steps are Newton's, with the curvature that the last two slopes show. One that leaves the interval in which the
    slope changes sign moves to its middle instead.
    """
    present, low, high = search_range(own, offset, deviation)
    least = 1.0 / square(deviation)
    before = present
    slope_before = 0.0
    curvature = least
    for _ in range(MOST_STEPS_TO_CENTER):
        slope, curvature = slope_and_curvature(own, offset, deviation, present, shares, workspace)
        present, before, slope_before, curvature, low, high = step_to_center(
            present, slope, curvature, before, slope_before, least, low, high
        )
        if present == before:
            break
    apart = APART / math.sqrt(curvature)
    below, _ = slope_and_curvature(own, offset, deviation, present - apart, shares, workspace)
    above, _ = slope_and_curvature(own, offset, deviation, present + apart, shares, workspace)
    return present, 1.0 / math.sqrt(greater(0.5 * (below - above) / apart, least))


@part
def slope_and_curvature(own, center, deviation, offset, shares, workspace):
    """Slope of the log density of a group's offset, and about its expected curvature."""
    precision = 1.0 / square(deviation)
    slope, curvature = count_slope_and_curvature(own, offset)
    if own.is_exact and not own.is_forced:
        slope = 0.0
        count_value(own, offset, workspace, workspace.by_row[0])
        for i in range(own.counts.size):
            slope += workspace.by_row[0, i]
    if own.is_sample:
        means = shares.means
        of_share, information = slope_of_sample(
            facts_of(own.share, own.size, own.effective, shares.excess, shares.mean_rows),
            (means.low, means.high), means.points, means.factors, means.values, own.number, center, precision,
            offset, workspace.weights,
        )  # fmt: skip
        return slope + of_share, curvature + information
    return slope + (center - offset) * precision, curvature + precision


@part
def count_slope_and_curvature(own, offset):
    """Slope and expected curvature of a group's log likelihood in the offset, as if the count were normal."""
    fill_own(own, offset)
    slope = 0.0
    curvature = 0.0
    if own.is_forced:
        for i in range(own.counts.size):
            f = own.sign * own.fitted[i]
            ratio = math.exp(-0.5 * square(f) - _LOG_ROOT_TWO_PI - log_normal_cdf(f))
            slope += own.counts[i] * own.sign * ratio
            people = own.counts[i] / (spread_of(own.counts[i], 1.0, own.correlation) if own.is_alike else 1.0)
            curvature += people * greater(ratio * (ratio + f), 0.0)
        if own.is_alike:
            log_all(own.fitted, own.sign, own.counts, own.correlation, own.density)
            slope = 0.0
            for i in range(own.counts.size):
                slope += own.density[i]
        return slope, curvature
    mean = 0.0
    variance = 0.0
    mean_slope = 0.0
    variance_slope = 0.0
    for i in range(own.counts.size):
        unit = own.units[i]
        people = own.counts[i] * unit
        mean += people * own.positive[i]
        spread = spread_of(own.counts[i], unit, own.correlation)
        variance += people * spread * own.positive[i] * own.negative[i]
        mean_slope += people * own.density[i]
        variance_slope += people * spread * own.density[i] * (own.negative[i] - own.positive[i])
    variance = greater(variance, LEAST_VARIANCE)
    _, after, after_variance = normal_given(own.nodes, own.log_evidence, own.begin, own.end, mean, variance)
    slope = (after - mean) / variance * mean_slope
    slope += 0.5 * ((after_variance + square(after - mean)) / variance - 1.0) / variance * variance_slope
    return slope, greater(variance - after_variance, 0.0) * square(mean_slope / variance)


@part
def fill_own(own, offset):
    for i in range(own.individual.size):
        own.fitted[i] = own.individual[i] + offset
    fill_chances(own.fitted, own.positive, own.negative, own.density)


@part
def evaluate_nodes(own, offset, deviation, shares, n, workspace):
    """Fill the log density of the offset and of what its group reports at each node, and its derivatives."""
    if own.is_sample:
        means = shares.means
        fill_sample(
            facts_of(own.share, own.size, own.effective, shares.excess, shares.mean_rows),
            (means.low, means.high), means.points, means.factors, means.values, own.number, offset, deviation,
            workspace.nodes, n, workspace.weights, workspace.by_share, workspace.log_density,
        )  # fmt: skip
    for k in range(n):
        value, workspace.by_correlation[k] = count_value(own, workspace.nodes[k], workspace, workspace.by_row[k])
        if own.is_sample:
            value += workspace.log_density[k]
        elif deviation > 0.0:
            value += -0.5 * square((workspace.nodes[k] - offset) / deviation) - _LOG_ROOT_TWO_PI
        workspace.log_density[k] = value


@part
def count_value(own, offset, workspace, gradient):
    """Fill the gradient in f of the log likelihood of one group's count at an offset.

    Returns that, and its derivative in the correlation of cells.
    """
    fill_own(own, offset)
    if own.is_forced and own.is_alike:
        return log_all(own.fitted, own.sign, own.counts, own.correlation, gradient)
    if own.is_forced:
        return forced_cells(own.fitted, own.sign, own.counts, gradient), 0.0
    if own.is_exact:
        value = cells_gradient(
            own.counts, own.units, own.evidence, own.log_evidence, own.fitted, own.positive, own.negative,
            own.density, gradient, workspace.table, workspace.laws, workspace.spread, workspace.units,
        )  # fmt: skip
        return value, 0.0
    return normal_gradient(
        own.counts, own.units, own.nodes, own.log_evidence, own.begin, own.end, own.correlation, own.positive,
        own.negative, own.density, gradient,
    )  # fmt: skip


@part
def add_marginals(reports, individual, group, deviation, error, first_rung, last_rung, with_counts, result):
    """Add the log likelihood under the evidence of some rungs, with offsets integrated out."""
    shares = make_shares(reports, individual, group, deviation, error)
    workspace = make_workspace(reports, shares)
    for j in range(group.size):
        is_sample = reports.is_sample[j] > 0
        has_counts = with_counts and reports_count(reports, j)
        if not (is_sample or has_counts):
            continue
        value = 0.0
        for rung in range(first_rung, last_rung):
            if rung == first_rung or not is_sample:
                _, best, mass = integrate(
                    reports, rung, j, individual, group[j], deviation, shares, has_counts, workspace
                )
                value = best + math.log(mass)
            power = reports.powers[rung] if is_sample else 1.0
            if power > 0.0:
                result[rung - first_rung] += power * value


@part
def fill_centers(reports, rung, individual, group, deviation, error, centers):
    """Fill the most probable offset of each group."""
    shares = make_shares(reports, individual, group, deviation, error)
    workspace = make_workspace(reports, shares)
    for j in range(group.size):
        centers[j] = group[j]
        if deviation == 0.0:
            continue
        if reports_count(reports, j):
            own = own_report(reports, rung, j, individual, workspace)
            centers[j], _ = find_center(own, group[j], deviation, shares, workspace)
        elif reports.is_sample[j]:
            means = shares.means
            present, low, high = sample_range(
                reports.share[j], individual, reports.weight, reports.offsets[j], reports.offsets[j + 1], group[j],
                deviation,
            )  # fmt: skip
            centers[j], _ = center_of_sample(
                facts_of(reports.share[j], reports.size[j], reports.effective[j], shares.excess, shares.mean_rows),
                (means.low, means.high), means.points, means.factors, means.values, j, group[j], deviation,
                present, low, high, workspace.weights,
            )  # fmt: skip


@part
def draw_offsets(reports, individual, group, deviation, error, noise, offsets):
    """Draw the offset of each group given everything else, from standard normal noise."""
    if deviation == 0.0:
        copy(offsets, group)
        return
    rung = np.int64(0)  # numba types the literal 0 differently, and would compile everything twice
    shares = make_shares(reports, individual, group, deviation, error)
    workspace = make_workspace(reports, shares)
    for j in range(group.size):
        has_counts = reports_count(reports, j)
        if not (has_counts or reports.is_sample[j]):
            offsets[j] = group[j] + deviation * noise[j]
            continue
        n, _, _ = integrate(reports, rung, j, individual, group[j], deviation, shares, has_counts, workspace)
        chance = 1.0 - tail(noise[j]) if noise[j] > 0.0 else tail(-noise[j])
        where = quantile_of_nodes(workspace.log_density[:n], chance)
        offsets[j] = workspace.nodes[0] + where * (workspace.nodes[1] - workspace.nodes[0])


@part
def quantile_of_nodes(log_density, chance):
    """Return where, in units of the distance between nodes, the density has this share of its mass below.

    Between nodes the log density is a cubic through the four nearest ones.
    """
    n = PER_NODE * (log_density.size - 1)
    best = -np.inf
    for k in range(log_density.size):
        best = greater(best, log_density[k])
    mass = np.empty(n + 1)
    mass[0] = 0.0
    before = math.exp(log_density[0] - best)
    for i in range(1, n + 1):
        here = math.exp(cubic_between(log_density, i / PER_NODE) - best)
        mass[i] = mass[i - 1] + 0.5 * (before + here)
        before = here
    wanted = chance * mass[n]
    i = 1
    while i < n and mass[i] < wanted:
        i += 1
    inside = mass[i] - mass[i - 1]
    part_of = (wanted - mass[i - 1]) / inside if inside > 0.0 else 0.5
    return (i - 1 + part_of) / PER_NODE


@part
def cubic_between(values, x):
    """Interpolate values at 0, 1, 2, ... by the cubic through the four that are nearest to x.

    Where the density is much narrower than the nodes are apart, the cubic would rise far above them: there it is a
    line, and nothing next to what is impossible.
    """
    before = int(lesser(math.floor(x), values.size - 2))
    first = int(lesser(greater(before - 1, 0), values.size - 4))
    t = x - first
    cubic = (
        -values[first] * (t - 1.0) * (t - 2.0) * (t - 3.0) / 6.0
        + values[first + 1] * t * (t - 2.0) * (t - 3.0) / 2.0
        - values[first + 2] * t * (t - 1.0) * (t - 3.0) / 2.0
        + values[first + 3] * t * (t - 1.0) * (t - 2.0) / 6.0
    )
    if cubic <= greater(values[before], values[before + 1]) + MOST_RISE:
        return cubic
    if x == before:
        return values[before]
    if not math.isfinite(values[before]) or not math.isfinite(values[before + 1]):
        return values[before + 1] if x == before + 1 else -np.inf
    return values[before] + (x - before) * (values[before + 1] - values[before])
