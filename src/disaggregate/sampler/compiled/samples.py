"""The intercept of one group whose rows are a sample, from a few numbers and the table of means.

Arrays are passed one by one: taking one out of a tuple counts a reference, which costs as much as ten products.
"""

import math

import numpy as np

from disaggregate.model.places import APART, MOST_STEPS_TO_CENTER, NEAR_CENTER
from disaggregate.sampler.compiled.arrays import greater, square
from disaggregate.sampler.compiled.compile import part
from disaggregate.sampler.compiled.populations import interpolate, share_terms

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# Columns of the derivatives of a population's share at one node.
EXCESS, OF_OWN, OF_OWN_SQUARE, OF_POOL, OF_POOL_SQUARE, OFFSET = range(6)


@part
def slope_of_sample(facts, bounds, points, factors, values, j, center, precision, offset, weights):
    """Slope of the log density of the group's offset, and about its expected curvature.

    ``facts`` are those of ``share_terms``, ``bounds`` the range of the table.
    """
    means = interpolate(bounds, points, factors, values, j, offset, weights, np.int64(0))
    terms = share_terms(facts, means)
    return terms.by_offset + (center - offset) * precision, terms.information + precision


@part
def step_to_center(present, slope, curvature, before, slope_before, least, low, high):
    """Take a Newton step to the most probable offset, which lies between low and high; none where it is near.

    The last two slopes show the curvature. Returns where the step leads, where it came from, the slope there, the
    curvature, and the new bounds.
    """
    if present != before:
        curvature = greater((slope_before - slope) / (present - before), least)
    step = slope / curvature
    if not abs(step) > NEAR_CENTER / math.sqrt(curvature):
        return present, present, slope, curvature, low, high
    if slope > 0.0:
        low = present
    else:
        high = present
    there = present + step
    if not (low < there and there < high):
        there = 0.5 * (low + high)
    return there, present, slope, curvature, low, high


@part
def center_of_sample(facts, bounds, points, factors, values, j, center, deviation, present, low, high, weights):
    """Find the most probable offset between two others, and the width there, as ``places.find_center`` does."""
    least = 1.0 / square(deviation)
    before = present
    slope_before = 0.0
    curvature = least
    for _ in range(MOST_STEPS_TO_CENTER):
        slope, curvature = slope_of_sample(
            facts, bounds, points, factors, values, j, center, least, present, weights
        )
        present, before, slope_before, curvature, low, high = step_to_center(
            present, slope, curvature, before, slope_before, least, low, high
        )
        if present == before:
            break
    apart = APART / math.sqrt(curvature)
    below, _ = slope_of_sample(facts, bounds, points, factors, values, j, center, least, present - apart, weights)
    above, _ = slope_of_sample(facts, bounds, points, factors, values, j, center, least, present + apart, weights)
    return present, 1.0 / math.sqrt(greater(0.5 * (below - above) / apart, least))


@part
def fill_sample(
    facts, bounds, points, factors, values, j, center, deviation, nodes, n, weights, by_share, log_density
):
    """Fill the log density of offset and share at each node, and the derivatives of that of the share."""
    for k in range(n):
        means = interpolate(bounds, points, factors, values, j, nodes[k], weights, k)
        terms = share_terms(facts, means)
        log_density[k] = terms.log_density
        if deviation > 0.0:
            log_density[k] += -0.5 * square((nodes[k] - center) / deviation) - _LOG_ROOT_TWO_PI
        by_share[k, EXCESS] = terms.by_excess
        by_share[k, OF_OWN] = terms.by_own
        by_share[k, OF_OWN_SQUARE] = terms.by_own_square
        by_share[k, OF_POOL] = terms.by_pool
        by_share[k, OF_POOL_SQUARE] = terms.by_pool_square
        by_share[k, OFFSET] = terms.by_offset
