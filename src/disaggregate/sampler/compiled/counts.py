"""Compiled twin of ``sampler.counts``.

Probabilities are kept as they are, which is several times faster than logarithms; where they underflow,
the logarithmic table takes over.
"""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import dot, fill
from disaggregate.sampler.compiled.compile import part
from disaggregate.sampler.compiled.normal import log_normal_cdf, tail

# Terms lost to underflow are below 1e-300, hence without weight in any total above this.
SAFE_TOTAL = 1e-200


@part
def count_table(fitted, positive, table):
    """Fill the table of prefix counts: entry i * (n + 1) + c is Pr(c positives among the first i)."""
    n = fitted.size
    table[0] = 1.0
    for i in range(n):
        small = tail(abs(fitted[i]))
        large = 1.0 - small
        p = large if fitted[i] > 0.0 else small
        q = small if fitted[i] > 0.0 else large
        positive[i] = p
        above = i * (n + 1)
        here = above + n + 1
        table[here] = table[above] * q
        for c in range(1, i + 1):
            table[here + c] = table[above + c] * q + table[above + c - 1] * p
        table[here + i + 1] = table[above + i] * p


@part
def log_count_table(fitted, log_positive, table):
    """Fill the same table with logarithms."""
    n = fitted.size
    table[0] = 0.0
    for i in range(n):
        log_p = log_normal_cdf(fitted[i])
        log_q = log_normal_cdf(-fitted[i])
        log_positive[i] = log_p
        above = i * (n + 1)
        here = above + n + 1
        table[here] = table[above] + log_q
        for c in range(1, i + 1):
            table[here + c] = log_add(table[above + c] + log_q, table[above + c - 1] + log_p)
        table[here + i + 1] = table[above + i] + log_p


@part
def log_add(x, y):
    high = x if x > y else y
    low = y if x > y else x
    return high if high == -np.inf else high + math.log1p(math.exp(low - high))


@part
def draw_labels(fitted, likelihood, log_likelihood, labels, positive, table, rng):
    n = fitted.size
    last = n * (n + 1)
    count_table(fitted, positive, table)
    total = 0.0
    for c in range(n + 1):
        total += table[last + c] * likelihood[c]
    if total < SAFE_TOTAL:
        draw_labels_by_logarithms(fitted, log_likelihood, labels, positive, table, rng)
        return
    goal = rng.random() * total
    count = pick_count(table[last : last + n + 1], likelihood, goal)
    for i in range(n, 0, -1):
        if count == 0 or count == i:
            fill(labels[:i], int(count == i))
            return
        joint = positive[i - 1] * table[(i - 1) * (n + 1) + count - 1]
        labels[i - 1] = rng.random() * table[i * (n + 1) + count] < joint
        count -= labels[i - 1]


@part
def pick_count(probability, likelihood, goal):
    """Invert the cumulative sum; rounding at the end falls on the last possible count."""
    sum_so_far = 0.0
    count = 0
    for c in range(probability.size):
        weight = probability[c] * likelihood[c]
        if weight > 0.0:
            count = c
        sum_so_far += weight
        if sum_so_far > goal:
            break
    return count


@part
def draw_labels_by_logarithms(fitted, log_likelihood, labels, log_positive, table, rng):
    n = fitted.size
    last = n * (n + 1)
    log_count_table(fitted, log_positive, table)
    largest = -np.inf
    for c in range(n + 1):
        log_weight = table[last + c] + log_likelihood[c]
        largest = log_weight if log_weight > largest else largest
    total = 0.0
    weight = np.empty(n + 1)
    one = np.empty(n + 1)
    for c in range(n + 1):
        weight[c] = math.exp(table[last + c] + log_likelihood[c] - largest)
        one[c] = 1.0
        total += weight[c]
    count = pick_count(weight, one, rng.random() * total)
    for i in range(n, 0, -1):
        if count == 0 or count == i:
            fill(labels[:i], int(count == i))
            return
        log_ratio = table[(i - 1) * (n + 1) + count - 1] - table[i * (n + 1) + count]
        labels[i - 1] = rng.random() < math.exp(log_positive[i - 1] + log_ratio)
        count -= labels[i - 1]


@part
def log_evidence_given_fitted(fitted, likelihood, log_likelihood, law):
    count_law(fitted, law)
    total = dot(law[: fitted.size + 1], likelihood)
    if total >= SAFE_TOTAL:
        return math.log(total)
    return log_evidence_by_logarithms(fitted, log_likelihood, law)


@part
def count_law(fitted, law):
    """Fill the probability of each count: the last row of the table, which one vector can hold."""
    law[0] = 1.0
    for i in range(fitted.size):
        small = tail(abs(fitted[i]))
        p = 1.0 - small if fitted[i] > 0.0 else small
        q = small if fitted[i] > 0.0 else 1.0 - small
        law[i + 1] = law[i] * p
        for c in range(i, 0, -1):
            law[c] = law[c] * q + law[c - 1] * p
        law[0] *= q


@part
def log_evidence_by_logarithms(fitted, log_likelihood, prefix):
    n = fitted.size
    prefix[0] = 0.0
    for i in range(n):
        log_p = log_normal_cdf(fitted[i])
        log_q = log_normal_cdf(-fitted[i])
        prefix[i + 1] = prefix[i] + log_p
        for c in range(i, 0, -1):
            prefix[c] = log_add(prefix[c] + log_q, prefix[c - 1] + log_p)
        prefix[0] += log_q
    total = -np.inf
    for c in range(n + 1):
        total = log_add(total, prefix[c] + log_likelihood[c])
    return total
