"""Compiled twin of ``sampler.collapsed``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import dot, greater, lesser
from disaggregate.sampler.compiled.compile import fused_part, inlined_part, part
from disaggregate.sampler.compiled.counts import (
    SAFE_TOTAL,
    SHORT,
    count_law,
    fill_agreement,
    fill_log_agreement,
    lengthen,
    lengthen_in_place,
    lengthen_logarithms,
    log_agreement,
)
from disaggregate.sampler.compiled.latent import total_units
from disaggregate.sampler.compiled.normal import chances_of, fill_chances, log_normal_cdf
from disaggregate.sampler.evidence import PART_SIZE, WHOLE_GROUP

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# A product above SAFE_TOTAL times a factor above this cannot underflow.
_PLAIN = 1e-100
_LOG_PLAIN = math.log(_PLAIN)

# How often a likelihood that may be too small is looked at.
_ROWS_A_LOOK = 128


@part
def collapsed_gradient(evidence, scores, fitted, gradient):
    """Fill the gradient and return the log likelihood."""
    width = evidence.piece[1] + 1
    table = np.empty((evidence.piece[0] + 1) * width)
    laws = np.empty((2, width))
    likelihood = np.empty(width)
    log_likelihood = np.empty(width)
    positive, negative, density = chances_of(fitted)
    total = 0.0
    group = 0
    while group < evidence.offsets.size - 1:
        first = group
        group, start, stop = run_from(evidence, first)
        if is_forced(evidence, first):
            sign, chance = forced_side(evidence, first, positive, negative)
            total += forced_gradient(
                fitted[start:stop], sign, chance[start:stop], density[start:stop], gradient[start:stop]
            )
            continue
        step = piece_size(stop - start)
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            of_counts, log_of_counts = piece_evidence(
                evidence, scores, first, begin, end, likelihood, log_likelihood
            )
            total += group_gradient(
                fitted[begin:end], evidence.units[begin:end], of_counts, log_of_counts, positive[begin:end],
                negative[begin:end], density[begin:end], gradient[begin:end], table, laws,
            )  # fmt: skip
    return total


@part
def collapsed_likelihood(evidence, scores, fitted, least):
    """Return the log likelihood alone, which takes half the time; minus infinity once it is below ``least``.

    No group's evidence has a likelihood above 1, so the sum over groups only falls.
    """
    width = evidence.piece[1] + 1
    laws = np.empty((2, width))
    likelihood = np.empty(width)
    log_likelihood = np.empty(width)
    positive = np.empty(fitted.size)
    negative = np.empty(fitted.size)
    density = np.empty(fitted.size)
    known = 0
    total = 0.0
    group = 0
    while group < evidence.offsets.size - 1:
        first = group
        group, start, stop = run_from(evidence, first)
        if stop > known:
            if total < least:
                return -np.inf
            begin = known
            known = lesser(greater(stop, known + _ROWS_A_LOOK), fitted.size)
            fill_chances(fitted[begin:known], positive[begin:known], negative[begin:known], density[begin:known])
        if is_forced(evidence, first):
            sign, chance = forced_side(evidence, first, positive, negative)
            total += log_product(fitted[start:stop], sign, chance[start:stop])
            continue
        step = piece_size(stop - start)
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            of_counts, log_of_counts = piece_evidence(
                evidence, scores, first, begin, end, likelihood, log_likelihood
            )
            units = evidence.units[begin:end]
            if is_short(of_counts, end - begin):
                agreement = short_agreement(of_counts, 0, positive, negative, begin, end - begin, laws[0])
            else:
                law = count_law(positive[begin:end], negative[begin:end], units, laws[0], laws[1])
                agreement = dot(law, of_counts)
            total += log_agreement(agreement, fitted[begin:end], units, log_of_counts)
    return total


@inlined_part
def run_from(evidence, group):
    """Return where a run that starts with this group ends: the group after it, its first row, the row after it.

    A run is one group, or as many as are forced to the same labels: many short sums take longer than a long one.
    """
    following = group + 1
    if is_forced(evidence, group):
        all_positive = evidence.most[group] > 0
        while (
            following < evidence.offsets.size - 1
            and is_forced(evidence, following)
            and (evidence.most[following] > 0) == all_positive
        ):
            following += 1
    return following, evidence.offsets[group], evidence.offsets[following]


@inlined_part
def is_forced(evidence, group):
    """Return whether the evidence leaves no choice of labels."""
    return evidence.most[group] == 0 or evidence.fewest[group] == total_units(evidence, group)


@inlined_part
def forced_side(evidence, group, positive, negative):
    """Return the sign of the label that all members have, and the chance of it for every row."""
    if evidence.most[group] > 0:
        return 1.0, positive
    return -1.0, negative


@inlined_part
def piece_size(n_members):
    return n_members if n_members <= WHOLE_GROUP else PART_SIZE


@inlined_part
def piece_evidence(evidence, scores, group, begin, end, likelihood, log_likelihood):
    """Look up the evidence of a small group; for a part of a large one, hold its count where it is."""
    first = evidence.starts[group]
    last = evidence.starts[group + 1]
    if evidence.offsets[group + 1] - evidence.offsets[group] <= WHOLE_GROUP:
        return evidence.likelihood[first:last], evidence.log_likelihood[first:last]
    count = 0
    width = 1
    for row in range(begin, end):
        count += evidence.units[row] * (scores[row] > 0.0)
        width += evidence.units[row]
    for c in range(width):
        likelihood[c] = 1.0 if c == count else 0.0
        log_likelihood[c] = 0.0 if c == count else -np.inf
    return likelihood[:width], log_likelihood[:width]


@part
def log_product(fitted, sign, chance):
    """Return the sum of log Phi(sign f), where every label is known, with one logarithm for many factors."""
    total = 0.0
    product = 1.0
    for i in range(fitted.size):
        if chance[i] > _PLAIN:
            product *= chance[i]
            if product < SAFE_TOTAL:
                total += math.log(product)
                product = 1.0
        else:
            total += log_normal_cdf(sign * fitted[i])
    return total + math.log(product)


@part
def forced_gradient(fitted, sign, chance, density, gradient):
    """Fill the gradient where every label is known, and return the log likelihood."""
    for i in range(fitted.size):
        gradient[i] = sign * density[i] / chance[i]
    total = log_product(fitted, sign, chance)
    if total > _LOG_PLAIN:  # then so is the logarithm of every factor
        return total
    for i in range(fitted.size):
        if not chance[i] > _PLAIN:
            log_cdf = log_normal_cdf(sign * fitted[i])
            gradient[i] = sign * math.exp(-0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI - log_cdf)
    return total


@fused_part
def group_gradient(
    fitted, units, likelihood, log_likelihood, positive, negative, density, gradient, table, laws
):  # fmt: skip
    """Backward pass into a table, then forward with one vector; probabilities unless they underflow."""
    width = likelihood.size
    law = laws[0]
    longer = laws[1]
    if is_short(likelihood, fitted.size):
        start = np.int64(0)
        total = short_gradient(
            likelihood, start, positive, negative, density, gradient, start, fitted.size, table, law
        )
        if total >= SAFE_TOTAL:
            return math.log(total)
        return group_gradient_by_logarithms(fitted, units, log_likelihood, gradient, table, law, longer)
    fill_agreement(positive, negative, units, likelihood, table)
    total = table[0]
    if total < SAFE_TOTAL:
        return group_gradient_by_logarithms(fitted, units, log_likelihood, gradient, table, law, longer)
    law[0] = 1.0
    reach = 0
    for i in range(fitted.size):
        step = units[i]
        below = table[(i + 1) * width : (i + 2) * width]
        ahead = below[step:]
        gradient[i] = mean_change(law, ahead, below, reach + 1) * density[i] / total
        lengthen(law, longer, reach, step, positive[i], negative[i])
        reach += step
        law, longer = longer, law
    return math.log(total)


@fused_part
def mean_change(law, ahead, below, n):
    """Return the sum of law (ahead - below): four sums side by side, none of which waits for another."""
    first = second = third = fourth = 0.0
    whole = n - n % 4
    for c in range(0, whole, 4):
        first += law[c] * (ahead[c] - below[c])
        second += law[c + 1] * (ahead[c + 1] - below[c + 1])
        third += law[c + 2] * (ahead[c + 2] - below[c + 2])
        fourth += law[c + 3] * (ahead[c + 3] - below[c + 3])
    for c in range(whole, n):
        first += law[c] * (ahead[c] - below[c])
    return (first + second) + (third + fourth)


@inlined_part
def is_short(likelihood, n_members):
    """Return whether these are few members, each of whom counts once, the least that a member can count."""
    return likelihood.size == n_members + 1 <= SHORT


@part
def short_agreement(likelihood, first, positive, negative, start, n, workspace):
    """Return the likelihood of a few members who count once each.

    Here and below whole arrays come with the place where the group starts: to cut its part out of each would take
    as long as the sums.
    """
    for c in range(n + 1):
        workspace[c] = likelihood[first + c]
    for i in range(n - 1, -1, -1):
        p = positive[start + i]
        q = negative[start + i]
        without = workspace[0]
        for c in range(i + 1):
            with_it = workspace[c + 1]
            workspace[c] = q * without + p * with_it
            without = with_it
    return workspace[0]


@part
def short_law(positive, negative, start, n, law):
    """Fill the probability of each count of a few members who count once each."""
    law[0] = 1.0
    for i in range(n):
        lengthen_in_place(law, i, positive[start + i], negative[start + i])


@part
def short_gradient(likelihood, first, positive, negative, density, gradient, start, n, table, law):
    """Fill the gradient for such a group; return the likelihood, and stop if it is too small."""
    width = n + 1
    for c in range(width):
        table[n * width + c] = likelihood[first + c]
    for i in range(n - 1, -1, -1):
        p = positive[start + i]
        q = negative[start + i]
        here = i * width
        without = table[here + width]
        for c in range(i + 1):
            with_it = table[here + width + c + 1]
            table[here + c] = q * without + p * with_it
            without = with_it
    total = table[0]
    if total < SAFE_TOTAL:
        return total
    law[0] = 1.0
    for i in range(n):
        p = positive[start + i]
        q = negative[start + i]
        below = (i + 1) * width
        change = 0.0
        carried = 0.0
        for c in range(i + 1):
            so_far = law[c]
            change += so_far * (table[below + c + 1] - table[below + c])
            law[c] = so_far * q + carried
            carried = so_far * p
        law[i + 1] = carried
        gradient[start + i] = change * density[start + i] / total
    return total


@part
def group_gradient_by_logarithms(fitted, units, log_likelihood, gradient, table, law, longer):
    width = log_likelihood.size
    fill_log_agreement(fitted, units, log_likelihood, table)
    total = table[0]
    law[0] = 0.0
    reach = np.int64(0)
    for i in range(fitted.size):
        log_density = -0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI
        below = (i + 1) * width
        change = 0.0
        for c in range(reach + 1):
            change += math.exp(log_density + law[c] + table[below + c + units[i]] - total)
            change -= math.exp(log_density + law[c] + table[below + c] - total)
        gradient[i] = change
        lengthen_logarithms(law, longer, reach, units[i], log_normal_cdf(fitted[i]), log_normal_cdf(-fitted[i]))
        reach += units[i]
        law, longer = longer, law
    return total
