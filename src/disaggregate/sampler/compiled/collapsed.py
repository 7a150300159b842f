"""Compiled twin of ``sampler.collapsed``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import lesser
from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.compiled.counts import SAFE_TOTAL, log_add, log_evidence_given_fitted
from disaggregate.sampler.compiled.latent import largest_group
from disaggregate.sampler.compiled.normal import log_normal_cdf, tail
from disaggregate.sampler.model import BLOCK, WHOLE_GROUP

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@part
def collapsed_gradient(problem, state, fitted, gradient):
    """Fill the gradient and return the log likelihood."""
    piece = lesser(largest_group(problem.offsets), WHOLE_GROUP)
    table = np.empty((piece + 1) * (piece + 1))
    prefix = np.empty(piece + 1)
    likelihood = np.empty(piece + 1)
    log_likelihood = np.empty(piece + 1)
    total = 0.0
    for group in range(problem.offsets.size - 1):
        start = problem.offsets[group]
        stop = problem.offsets[group + 1]
        n = stop - start
        if problem.most[group] == 0 or problem.fewest[group] == n:
            is_positive = problem.most[group] > 0
            total += problem.log_likelihood[group + (stop if is_positive else start)]
            total += forced_gradient(fitted[start:stop], 1.0 if is_positive else -1.0, gradient[start:stop])
            continue
        step = n if n <= WHOLE_GROUP else BLOCK
        for begin in range(start, stop, step):
            end = lesser(begin + step, stop)
            piece_evidence(problem, state, group, begin, end, likelihood, log_likelihood)
            total += group_gradient(
                fitted[begin:end], likelihood, log_likelihood, gradient[begin:end], table, prefix
            )
    return total


@inlined_part
def piece_evidence(problem, state, group, begin, end, likelihood, log_likelihood):
    """Copy the evidence of a small group; for a block of a large one, hold its count where it is."""
    if problem.offsets[group + 1] - problem.offsets[group] <= WHOLE_GROUP:
        for c in range(end - begin + 1):
            likelihood[c] = problem.likelihood[begin + group + c]
            log_likelihood[c] = problem.log_likelihood[begin + group + c]
        return
    count = 0
    for row in range(begin, end):
        count += state.scores[row] > 0.0
    for c in range(end - begin + 1):
        likelihood[c] = 1.0 if c == count else 0.0
        log_likelihood[c] = 0.0 if c == count else -np.inf


@part
def forced_gradient(fitted, sign, gradient):
    """Gradient where every label is known: sum of log Phi(sign f)."""
    total = 0.0
    for i in range(fitted.size):
        log_cdf = log_normal_cdf(sign * fitted[i])
        gradient[i] = sign * math.exp(-0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI - log_cdf)
        total += log_cdf
    return total


@part
def group_gradient(fitted, likelihood, log_likelihood, gradient, table, prefix):
    """Backward pass into a table, then forward with one vector; probabilities unless they underflow."""
    n = fitted.size
    width = n + 1
    for c in range(width):
        table[n * width + c] = likelihood[c]
    for i in range(n - 1, -1, -1):
        p, q = chances(fitted[i])
        here = i * width
        for c in range(i + 1):
            table[here + c] = q * table[here + width + c] + p * table[here + width + c + 1]
    total = table[0]
    if total < SAFE_TOTAL:
        return group_gradient_by_logarithms(fitted, log_likelihood, gradient, table, prefix)
    prefix[0] = 1.0
    for i in range(n):
        p, q = chances(fitted[i])
        below = (i + 1) * width
        change = 0.0
        for c in range(i + 1):
            change += prefix[c] * (table[below + c + 1] - table[below + c])
        gradient[i] = change * math.exp(-0.5 * fitted[i] * fitted[i] - _LOG_ROOT_TWO_PI) / total
        prefix[i + 1] = prefix[i] * p
        for c in range(i, 0, -1):
            prefix[c] = prefix[c] * q + prefix[c - 1] * p
        prefix[0] *= q
    largest = -np.inf
    for c in range(width):
        largest = log_likelihood[c] if log_likelihood[c] > largest else largest
    return math.log(total) + largest


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


@part
def collapsed_log_likelihood(problem, fitted):
    """Log likelihood alone, with every group whole."""
    prefix = np.empty(largest_group(problem.offsets) + 1)
    total = 0.0
    for group in range(problem.offsets.size - 1):
        start = problem.offsets[group]
        stop = problem.offsets[group + 1]
        total += log_evidence_given_fitted(
            fitted[start:stop],
            problem.likelihood[start + group : stop + group + 1],
            problem.log_likelihood[start + group : stop + group + 1],
            prefix,
        )
    return total
