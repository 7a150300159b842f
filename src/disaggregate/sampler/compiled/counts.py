"""Compiled twin of ``sampler.counts``.

Probabilities are kept as they are, which is several times faster than logarithms; where they underflow,
logarithms take over.
"""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, dot, greater, lesser
from disaggregate.sampler.compiled.compile import fused_part, inlined_part, part
from disaggregate.sampler.compiled.normal import fill_chances, log_normal_cdf

# Terms lost to underflow are below 1e-300, hence without weight in any total above this.
SAFE_TOTAL = 1e-200

# To set vector instructions up takes as long as all the sums of a group that is shorter than this.
SHORT = 16


@fused_part
def fill_agreement(positive, negative, units, likelihood, table):
    """Fill the table: entry i * width + c is the likelihood of the evidence if the first i have a count of c."""
    n = positive.size
    width = likelihood.size
    reach = width - 1
    copy(table[n * width : (n + 1) * width], likelihood)
    for i in range(n - 1, -1, -1):
        p = positive[i]
        q = negative[i]
        step = units[i]
        reach -= step
        here = table[i * width : i * width + reach + 1]
        below = table[(i + 1) * width : (i + 2) * width]
        ahead = below[step:]  # an index that might be negative would cost the vector instructions
        for c in range(reach + 1):
            here[c] = q * below[c] + p * ahead[c]


@part
def fill_log_agreement(fitted, units, log_likelihood, table):
    """Fill the same table with logarithms."""
    n = fitted.size
    width = log_likelihood.size
    reach = width - 1
    copy(table[n * width : (n + 1) * width], log_likelihood)
    for i in range(n - 1, -1, -1):
        log_p = log_normal_cdf(fitted[i])
        log_q = log_normal_cdf(-fitted[i])
        reach -= units[i]
        here = i * width
        below = here + width
        for c in range(reach + 1):
            table[here + c] = log_add(log_q + table[below + c], log_p + table[below + c + units[i]])


@part
def log_add(x, y):
    high = x if x > y else y
    low = y if x > y else x
    return high if high == -np.inf else high + math.log1p(math.exp(low - high))


@part
def draw_labels(fitted, units, likelihood, log_likelihood, labels, chances, table, rng):
    """Draw labels; ``chances`` has three rows of workspace."""
    width = likelihood.size
    positive = chances[0, : fitted.size]
    negative = chances[1, : fitted.size]
    fill_chances(fitted, positive, negative, chances[2, : fitted.size])
    fill_agreement(positive, negative, units, likelihood, table)
    if table[0] < SAFE_TOTAL:
        draw_labels_by_logarithms(fitted, units, log_likelihood, labels, table, rng)
        return
    count = 0
    for i in range(fitted.size):
        joint = positive[i] * table[(i + 1) * width + count + units[i]]
        labels[i] = rng.random() * table[i * width + count] < joint
        count += units[i] * labels[i]


@part
def draw_labels_by_logarithms(fitted, units, log_likelihood, labels, table, rng):
    width = log_likelihood.size
    fill_log_agreement(fitted, units, log_likelihood, table)
    count = 0
    for i in range(fitted.size):
        log_ratio = table[(i + 1) * width + count + units[i]] - table[i * width + count]
        labels[i] = rng.random() < math.exp(log_normal_cdf(fitted[i]) + log_ratio)
        count += units[i] * labels[i]


@part
def log_evidence_given_law(law, fitted, units, likelihood, log_likelihood):
    """Return the log likelihood of a group's evidence, whose count has that law, which f gave it."""
    return log_agreement(dot(law, likelihood), fitted, units, log_likelihood)


@inlined_part
def log_agreement(agreement, fitted, units, log_likelihood):
    """Return the logarithm of a likelihood, found once more by logarithms if it may have lost terms."""
    if agreement >= SAFE_TOTAL:
        return math.log(agreement)
    return log_evidence_by_logarithms(fitted, units, log_likelihood)


@part
def count_law(positive, negative, units, law, longer):
    """Find the probability of each count, in one of the two vectors."""
    law[0] = 1.0
    reach = 0
    for i in range(positive.size):
        if units[i] == 1 and reach < SHORT:
            lengthen_in_place(law, reach, positive[i], negative[i])
        else:
            lengthen(law, longer, reach, units[i], positive[i], negative[i])
            law, longer = longer, law
        reach += units[i]
    return law[: reach + 1]


@inlined_part
def lengthen_in_place(law, reach, p, q):
    """Do as ``lengthen`` does for a member who counts once, without vector instructions."""
    carried = 0.0
    for c in range(reach + 1):
        here = law[c]
        law[c] = here * q + carried
        carried = here * p
    law[reach + 1] = carried


@inlined_part
def lengthen(law, longer, reach, step, p, q):
    """Go from the law of a count up to ``reach`` to that with one more member."""
    for c in range(lesser(step, reach + 1)):
        longer[c] = law[c] * q
    for c in range(reach + 1, step):
        longer[c] = 0.0
    both = greater(reach + 1 - step, 0)
    later = law[step:]
    target = longer[step:]
    for c in range(both):
        target[c] = later[c] * q + law[c] * p
    for c in range(both, reach + 1):
        target[c] = law[c] * p


@part
def log_evidence_by_logarithms(fitted, units, log_likelihood):
    law = np.empty(log_likelihood.size)
    longer = np.empty(log_likelihood.size)
    law[0] = 0.0
    reach = np.int64(0)
    for i in range(fitted.size):
        lengthen_logarithms(law, longer, reach, units[i], log_normal_cdf(fitted[i]), log_normal_cdf(-fitted[i]))
        reach += units[i]
        law, longer = longer, law
    total = -np.inf
    for c in range(reach + 1):
        total = log_add(total, law[c] + log_likelihood[c])
    return total


@part
def lengthen_logarithms(law, longer, reach, step, log_p, log_q):
    for c in range(reach + step + 1):
        without = law[c] + log_q if c <= reach else -np.inf
        longer[c] = log_add(without, law[c - step] + log_p if c >= step else -np.inf)
