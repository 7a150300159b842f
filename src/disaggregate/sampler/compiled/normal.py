"""Compiled twin of ``sampler.normal``, with the normal distribution function that counts need."""

import math

from disaggregate.sampler.compiled.compile import inlined_part, part
from disaggregate.sampler.normal import FOLD_UP_TO

_ROOT_HALF = math.sqrt(0.5)
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_ERFC_UNDERFLOWS = -35.0


@part
def draw_positive_normal(mean, rng):
    bound = -mean
    if bound <= 0.0:
        while True:
            noise = rng.standard_normal()
            if noise > bound:
                return mean + noise
    if bound < FOLD_UP_TO:
        while True:
            noise = abs(rng.standard_normal())
            if noise > bound:
                return mean + noise
    while True:
        excess = rng.standard_exponential() / bound
        if excess > 0.0 and rng.standard_exponential() > 0.5 * excess * excess:
            return excess


@inlined_part
def tail(distance):
    """Return the normal probability beyond a distance of zero or more."""
    return 0.5 * math.erfc(distance * _ROOT_HALF)


@inlined_part
def chances(fitted):
    """Phi(f) and Phi(-f), both to full relative precision."""
    small = tail(abs(fitted))
    if fitted > 0.0:
        return 1.0 - small, small
    return small, 1.0 - small


@part
def log_normal_cdf(x):
    """Log of Phi(x), accurate for every finite x."""
    if x > 0.0:
        return math.log1p(-tail(x))
    if x > _ERFC_UNDERFLOWS:
        return math.log(tail(-x))
    inverse = 1.0 / (x * x)
    series = inverse * (-1.0 + inverse * (3.0 + inverse * (-15.0 + inverse * 105.0)))
    return -0.5 * x * x - math.log(-x) - _HALF_LOG_TWO_PI + math.log1p(series)
