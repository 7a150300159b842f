"""Truncated normal draws, compiled as they stand, and the normal distribution function that counts need."""

import math

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import erfcx

from disaggregate.sampler import normal
from disaggregate.sampler.compiled.compile import fused_part, inlined_part, part

_ROOT_HALF = math.sqrt(0.5)
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_ONE_BY_ROOT_TWO_PI = 1.0 / math.sqrt(2.0 * math.pi)
_ERFC_UNDERFLOWS = -35.0


draw_positive_normal = part(normal.draw_positive_normal)


@inlined_part
def tail(distance):
    """Return the normal probability beyond a distance of zero or more."""
    return 0.5 * math.erfc(distance * _ROOT_HALF)


# The normal probability beyond a distance d is exp(-d^2 / 2) R(d). With x = (d - c) / (d + c) the product
# (d + c) R(d) is so smooth that one polynomial in x has it to 1e-14 for every d.
_CENTRE = 4.0
_TAIL_DEGREE = 20

# exp(-d^2 / 2) is a polynomial in d^2, squared this many times: 1e-12 up to the farthest distance.
_SQUARINGS = 12
_EXPONENTIAL_DEGREE = 11

# The density beyond is below 1e-290, and code that meets a probability that small continues with logarithms.
_FARTHEST = 37.0


def _scaled_tail(x: np.ndarray) -> np.ndarray:
    distance = _CENTRE * (1.0 + x) / (1.0 - x)
    return 0.5 * erfcx(distance * _ROOT_HALF) * (distance + _CENTRE)


_POINTS = chebyshev.chebpts1(_TAIL_DEGREE + 1)
_TAIL = chebyshev.cheb2poly(chebyshev.chebfit(_POINTS, _scaled_tail(_POINTS), _TAIL_DEGREE))
_EXPONENTIAL = np.array(
    [1.0 / math.factorial(k) / (-(2.0 ** (_SQUARINGS + 1))) ** k for k in range(_EXPONENTIAL_DEGREE + 1)]
)


@part
def chances_of(fitted):
    """Phi(f), Phi(-f) and the normal density at f."""
    positive = np.empty(fitted.size)
    negative = np.empty(fitted.size)
    density = np.empty(fitted.size)
    fill_chances(fitted, positive, negative, density)
    return positive, negative, density


@fused_part
def fill_chances(fitted, positive, negative, density):
    """Fill Phi(f), Phi(-f) and the normal density at f, to a relative precision of 1e-12.

    Nothing in it branches, and the compiler knows the length of the inner loops: so it becomes vector
    instructions, several times as fast as calls of erfc and exp.
    """
    for i in range(fitted.size):
        distance = abs(fitted[i])
        distance = _FARTHEST if distance > _FARTHEST else distance  # this order of operations keeps NaN
        square = distance * distance
        bell = _EXPONENTIAL[_EXPONENTIAL_DEGREE]
        for k in range(_EXPONENTIAL_DEGREE):
            bell = bell * square + _EXPONENTIAL[_EXPONENTIAL_DEGREE - 1 - k]
        for _ in range(_SQUARINGS):
            bell *= bell
        x = (distance - _CENTRE) / (distance + _CENTRE)
        scaled_tail = _TAIL[_TAIL_DEGREE]
        for k in range(_TAIL_DEGREE):
            scaled_tail = scaled_tail * x + _TAIL[_TAIL_DEGREE - 1 - k]
        small = bell * scaled_tail * (1.0 - x) / (2.0 * _CENTRE)
        positive[i] = 1.0 - small if fitted[i] > 0.0 else small
        negative[i] = small if fitted[i] > 0.0 else 1.0 - small
        density[i] = bell * _ONE_BY_ROOT_TWO_PI


@part
def scaled_tail(distance):
    """Return the normal probability beyond a distance of zero or more, over exp(-d^2 / 2)."""
    x = (distance - _CENTRE) / (distance + _CENTRE)
    result = _TAIL[_TAIL_DEGREE]
    for k in range(_TAIL_DEGREE):
        result = result * x + _TAIL[_TAIL_DEGREE - 1 - k]
    return result / (distance + _CENTRE)


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
