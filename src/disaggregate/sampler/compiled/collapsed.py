"""Compiled twin of ``sampler.collapsed``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import lesser
from disaggregate.sampler.compiled.compile import inlined_part, part, summing_part
from disaggregate.sampler.compiled.counts import SAFE_TOTAL, log_add
from disaggregate.sampler.compiled.latent import largest_group
from disaggregate.sampler.compiled.normal import log_normal_cdf, tail
from disaggregate.sampler.evidence import BLOCK, WHOLE_GROUP

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# A product above SAFE_TOTAL times a factor above this cannot underflow.
_PLAIN = 1e-100


@part
def collapsed_gradient(evidence, scores, fitted, gradient):
    """Fill the gradient and return the log likelihood."""
    piece = lesser(largest_group(evidence.offsets), WHOLE_GROUP)
    table = np.empty((piece + 1) * (piece + 1))
    scratch = np.empty(4 * piece + 2)
    likelihood = np.empty(piece + 1)
    log_likelihood = np.empty(piece + 1)
    total = 0.0
    for group in range(evidence.offsets.size - 1):
        start = evidence.offsets[group]
        stop = evidence.offsets[group + 1]
        n = stop - start
        if evidence.most[group] == 0 or evidence.fewest[group] == n:
            is_positive = evidence.most[group] > 0
            total += forced_gradient(fitted[start:stop], 1.0 if is_positive else -1.0, gradient[start:stop])
            continue
        step = n if n <= WHOLE_GROUP else BLOCK
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            piece_evidence(evidence, scores, group, begin, end, likelihood, log_likelihood)
            total += group_gradient(
                fitted[begin:end], likelihood, log_likelihood, gradient[begin:end], table, scratch
            )
    return total


@inlined_part
def piece_evidence(evidence, scores, group, begin, end, likelihood, log_likelihood):
    """Copy the evidence of a small group; for a block of a large one, hold its count where it is."""
    if evidence.offsets[group + 1] - evidence.offsets[group] <= WHOLE_GROUP:
        for c in range(end - begin + 1):
            likelihood[c] = evidence.likelihood[begin + group + c]
            log_likelihood[c] = evidence.log_likelihood[begin + group + c]
        return
    count = 0
    for row in range(begin, end):
        count += scores[row] > 0.0
    for c in range(end - begin + 1):
        likelihood[c] = 1.0 if c == count else 0.0
        log_likelihood[c] = 0.0 if c == count else -np.inf


@part
def forced_gradient(fitted, sign, gradient):
    """Gradient where every label is known: sum of log Phi(sign f), with one logarithm for many factors."""
    total = 0.0
    product = 1.0
    for i in range(fitted.size):
        chance, _ = chances(sign * fitted[i])
        if chance > _PLAIN:
            gradient[i] = sign * math.exp(-0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI) / chance
            product *= chance
            if product < SAFE_TOTAL:
                total += math.log(product)
                product = 1.0
        else:
            log_cdf = log_normal_cdf(sign * fitted[i])
            gradient[i] = sign * math.exp(-0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI - log_cdf)
            total += log_cdf
    return total + math.log(product)


@summing_part
def group_gradient(fitted, likelihood, log_likelihood, gradient, table, scratch):
    """Backward pass into a table, then forward with one vector; probabilities unless they underflow."""
    n = fitted.size
    width = n + 1
    positive = scratch[:n]
    negative = scratch[n : 2 * n]
    prefix = scratch[2 * n : 3 * n + 1]
    longer = scratch[3 * n + 1 : 4 * n + 2]
    for i in range(n):
        positive[i], negative[i] = chances(fitted[i])
    for c in range(width):
        table[n * width + c] = likelihood[c]
    for i in range(n - 1, -1, -1):
        p = positive[i]
        q = negative[i]
        here = table[i * width : i * width + i + 1]
        below = table[(i + 1) * width : (i + 1) * width + i + 2]
        for c in range(i + 1):
            here[c] = q * below[c] + p * below[c + 1]
    total = table[0]
    if total < SAFE_TOTAL:
        return group_gradient_by_logarithms(fitted, log_likelihood, gradient, table, prefix)
    prefix[0] = 1.0
    for i in range(n):
        p = positive[i]
        q = negative[i]
        below = table[(i + 1) * width : (i + 1) * width + i + 2]
        change = 0.0
        for c in range(i + 1):
            change += prefix[c] * (below[c + 1] - below[c])
        gradient[i] = change * math.exp(-0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI) / total
        longer[0] = prefix[0] * q
        for c in range(1, i + 1):
            longer[c] = prefix[c] * q + prefix[c - 1] * p
        longer[i + 1] = prefix[i] * p
        prefix, longer = longer, prefix
    return math.log(total)


@inlined_part
def chances(fitted):
    """Phi(f) and Phi(-f), both to full relative precision."""
    small = tail(abs(fitted))
    if fitted > 0.0:
        return 1.0 - small, small
    return small, 1.0 - small


@part
def group_gradient_by_logarithms(fitted, log_likelihood, gradient, table, prefix):
    n = fitted.size
    width = n + 1
    for c in range(width):
        table[n * width + c] = log_likelihood[c]
    for i in range(n - 1, -1, -1):
        log_p = log_normal_cdf(fitted[i])
        log_q = log_normal_cdf(-fitted[i])
        here = i * width
        for c in range(i + 1):
            table[here + c] = log_add(log_q + table[here + width + c], log_p + table[here + width + c + 1])
    total = table[0]
    prefix[0] = 0.0
    for i in range(n):
        log_p = log_normal_cdf(fitted[i])
        log_q = log_normal_cdf(-fitted[i])
        log_density = -0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI
        below = (i + 1) * width
        change = 0.0
        for c in range(i + 1):
            change += math.exp(log_density + prefix[c] + table[below + c + 1] - total)
            change -= math.exp(log_density + prefix[c] + table[below + c] - total)
        gradient[i] = change
        prefix[i + 1] = prefix[i] + log_p
        for c in range(i, 0, -1):
            prefix[c] = log_add(prefix[c] + log_q, prefix[c - 1] + log_p)
        prefix[0] += log_q
    return total
