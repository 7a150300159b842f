"""Compiled twin of ``sampler.collapsed``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import lesser
from disaggregate.sampler.compiled.compile import inlined_part, part, summing_part
from disaggregate.sampler.compiled.counts import (
    SAFE_TOTAL,
    count_law,
    fill_agreement,
    fill_log_agreement,
    lengthen,
    lengthen_logarithms,
    log_evidence_given_law,
)
from disaggregate.sampler.compiled.latent import total_units
from disaggregate.sampler.compiled.normal import chances_of, log_normal_cdf
from disaggregate.sampler.evidence import BLOCK, WHOLE_GROUP

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# A product above SAFE_TOTAL times a factor above this cannot underflow.
_PLAIN = 1e-100


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
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        if is_forced(evidence, group):
            sign, chance = forced_side(evidence, group, positive, negative)
            total += forced_gradient(
                fitted[start:stop], sign, chance[start:stop], density[start:stop], gradient[start:stop]
            )
            continue
        step = piece_size(stop - start)
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            width = piece_evidence(evidence, scores, group, begin, end, likelihood, log_likelihood)
            total += group_gradient(
                fitted[begin:end], evidence.units[begin:end], likelihood[:width], log_likelihood[:width],
                positive[begin:end], negative[begin:end], density[begin:end], gradient[begin:end], table, laws,
            )  # fmt: skip
    return total


@part
def collapsed_likelihood(evidence, scores, fitted):
    """Return the log likelihood alone, which takes half the time."""
    width = evidence.piece[1] + 1
    laws = np.empty((2, width))
    likelihood = np.empty(width)
    log_likelihood = np.empty(width)
    positive, negative, _ = chances_of(fitted)
    total = 0.0
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        if is_forced(evidence, group):
            sign, chance = forced_side(evidence, group, positive, negative)
            total += log_product(fitted[start:stop], sign, chance[start:stop])
            continue
        step = piece_size(stop - start)
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            width = piece_evidence(evidence, scores, group, begin, end, likelihood, log_likelihood)
            units = evidence.units[begin:end]
            law = count_law(positive[begin:end], negative[begin:end], units, laws[0], laws[1])
            total += log_evidence_given_law(
                law, fitted[begin:end], units, likelihood[:width], log_likelihood[:width]
            )
    return total


@inlined_part
def is_forced(evidence, group):
    """Tell whether the evidence leaves no choice of labels."""
    return evidence.most[group] == 0 or evidence.fewest[group] == total_units(evidence, group)


@inlined_part
def forced_side(evidence, group, positive, negative):
    """Return the sign of the label that all members have, and the chance of it for every row."""
    if evidence.most[group] > 0:
        return 1.0, positive
    return -1.0, negative


@inlined_part
def piece_size(n_members):
    return n_members if n_members <= WHOLE_GROUP else BLOCK


@inlined_part
def piece_evidence(evidence, scores, group, begin, end, likelihood, log_likelihood):
    """Copy the evidence of a small group; for a block of a large one, hold its count where it is."""
    first = evidence.starts[group]
    width = evidence.starts[group + 1] - first
    if evidence.offsets[group + 1] - evidence.offsets[group] <= WHOLE_GROUP:
        for c in range(width):
            likelihood[c] = evidence.likelihood[first + c]
            log_likelihood[c] = evidence.log_likelihood[first + c]
        return width
    count = 0
    width = 1
    for row in range(begin, end):
        count += evidence.units[row] * (scores[row] > 0.0)
        width += evidence.units[row]
    for c in range(width):
        likelihood[c] = 1.0 if c == count else 0.0
        log_likelihood[c] = 0.0 if c == count else -np.inf
    return width


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
    for i in range(fitted.size):
        if not chance[i] > _PLAIN:
            log_cdf = log_normal_cdf(sign * fitted[i])
            gradient[i] = sign * math.exp(-0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI - log_cdf)
    return log_product(fitted, sign, chance)


@summing_part
def group_gradient(
    fitted, units, likelihood, log_likelihood, positive, negative, density, gradient, table, laws
):  # fmt: skip
    """Backward pass into a table, then forward with one vector; probabilities unless they underflow."""
    width = likelihood.size
    law = laws[0]
    longer = laws[1]
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
        change = 0.0
        for c in range(reach + 1):
            change += law[c] * (ahead[c] - below[c])
        gradient[i] = change * density[i] / total
        lengthen(law, longer, reach, step, positive[i], negative[i])
        reach += step
        law, longer = longer, law
    return math.log(total)


@part
def group_gradient_by_logarithms(fitted, units, log_likelihood, gradient, table, law, longer):
    width = log_likelihood.size
    fill_log_agreement(fitted, units, log_likelihood, table)
    total = table[0]
    law[0] = 0.0
    reach = 0
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
