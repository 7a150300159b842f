"""Compiled twin of ``model.cells``: all people of some cells have the same label."""

import math

from disaggregate.sampler.compiled.arrays import square
from disaggregate.sampler.compiled.compile import part
from disaggregate.sampler.compiled.normal import log_normal_cdf

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)

# From here on the asymptotic series of the digamma function is good to 1e-12.
_LARGE = 10.0


@part
def log_all(fitted, sign, counts, correlation, gradient):
    """Log probability that all people of some cells have the label of this sign, with its gradient in f.

    Returns the derivative in the correlation, too.
    """
    precision = 1.0 / correlation - 1.0
    total = 0.0
    by_precision = 0.0
    for i in range(fitted.size):
        f = sign * fitted[i]
        people = float(counts[i])
        log_chance = log_normal_cdf(f)
        chance = math.exp(log_chance)
        own = precision * chance
        rise = digamma(own + people) - digamma(own + 1.0)
        total += math.lgamma(own + people) - math.lgamma(own + 1.0) + math.log(precision) + log_chance
        total -= math.lgamma(precision + people) - math.lgamma(precision)
        by_precision += chance * rise + 1.0 / precision - digamma(precision + people) + digamma(precision)
        gradient[i] = sign * math.exp(-0.5 * square(f) - _LOG_ROOT_TWO_PI - log_chance) * (own * rise + 1.0)
    return total, -by_precision / square(correlation)


@part
def digamma(x):
    """Return the derivative of the log gamma function of a positive number."""
    shift = 0.0
    while x < _LARGE:
        shift -= 1.0 / x
        x += 1.0
    s = 1.0 / square(x)
    series = s * (1.0 / 12.0 - s * (1.0 / 120.0 - s * (1.0 / 252.0 - s * (1.0 / 240.0 - s / 132.0))))
    return shift + math.log(x) - 0.5 / x - series
