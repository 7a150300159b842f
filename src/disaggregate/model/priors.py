"""Priors of the scales delta2, one per score component."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincinv, gammaln, kve

# The support of log delta2: wider than any data can distinguish, narrow enough never to overflow.
LOG_SCALE_BOUND = 30.0

# Width of the first interval of a slice of log delta2.
SLICE_WIDTH = 1.5

# Draws of delta2 that may fall outside the support; if all do, the prior has hardly any mass inside, and so many
# slices from its middle take their place.
MOST_DRAWS, N_SLICES = 100, 40


class ScalePrior(NamedTuple):
    """Density of delta2 proportional to delta2^(power - 1) exp(-rate delta2 - inverse_rate / delta2).

    The generalised inverse Gaussian family. It holds the inverse gamma of eq. (6), with ``rate`` 0, and the
    square of a half-normal standard deviation, with ``inverse_rate`` 0; a small one keeps that from vanishing
    altogether, where it would change no score and chains would lose themselves.

    Attributes
    ----------
    power, rate, inverse_rate : float
        As in the formula.
    """

    power: float
    rate: float
    inverse_rate: float

    @property
    def center(self) -> float:
        """Typical log delta2, where chains start."""
        if self.power > 0.0:
            return math.log(self.power / self.rate)
        return math.log(self.inverse_rate / -self.power)

    @property
    def median(self) -> float:
        """Median of delta2, a small second rate left out."""
        middle = float(gammaincinv(abs(self.power), 0.5))
        return middle / self.rate if self.power > 0.0 else self.inverse_rate / middle

    def log_density(self, log_scale: Any) -> Any:
        """Log density of log delta2, normalised but for the bounds of its support."""
        return self.log_kernel(log_scale) - self.log_normaliser

    def log_kernel(self, log_scale: Any) -> Any:
        """Return the same up to a constant."""
        log_scale = np.asarray(log_scale, dtype=np.float64)
        inside = np.abs(log_scale) <= LOG_SCALE_BOUND
        t = np.where(inside, log_scale, 0.0)
        value = self.power * t - self.rate * np.exp(t) - self.inverse_rate * np.exp(-t)
        return np.where(inside, value, -np.inf)

    def log_kernel_at(self, log_scale: float) -> float:
        """Return the same for one number, which slice sampling needs many times."""
        if not abs(log_scale) <= LOG_SCALE_BOUND:
            return -math.inf
        return self.power * log_scale - self.rate * math.exp(log_scale) - self.inverse_rate * math.exp(-log_scale)

    def slope(self, log_scale: Any) -> Any:
        """Gradient of the log density of log delta2."""
        return self.power - self.rate * np.exp(log_scale) + self.inverse_rate * np.exp(-log_scale)

    def curvature(self, log_scale: Any) -> Any:
        """Minus its second derivative."""
        return self.rate * np.exp(log_scale) + self.inverse_rate * np.exp(-log_scale)

    def draw(self, rng: np.random.Generator) -> float:
        """Draw delta2."""
        return math.exp(self.draw_log(rng))

    def draw_log(self, rng: np.random.Generator) -> float:
        """Draw log delta2, again if it falls outside its support.

        From the gamma or inverse gamma law of one of the two rates, and accepted with the factor of the other one.
        A prior with next to no mass in the support is drawn from by slices.
        """
        for _ in range(MOST_DRAWS):
            gamma = rng.standard_gamma(abs(self.power))
            if not gamma > 0.0:
                continue
            if self.power > 0.0:
                log_scale, other = math.log(gamma / self.rate), self.inverse_rate
            else:
                log_scale, other = -math.log(gamma / self.inverse_rate), self.rate
            if abs(log_scale) > LOG_SCALE_BOUND:
                continue
            left = other * math.exp(-log_scale if self.power > 0.0 else log_scale)
            if left == 0.0 or rng.standard_exponential() > left:
                return log_scale
        log_scale = min(max(self.center, 1.0 - LOG_SCALE_BOUND), LOG_SCALE_BOUND - 1.0)
        for _ in range(N_SLICES):
            log_scale = slice_step(self.log_kernel_at, log_scale, SLICE_WIDTH, rng)
        return log_scale

    @property
    def log_normaliser(self) -> float:
        """Logarithm of the integral of the density without its normaliser."""
        shape = abs(self.power)
        if self.rate == 0.0 or self.inverse_rate == 0.0:
            return float(gammaln(shape) - shape * math.log(max(self.rate, self.inverse_rate)))
        root = 2.0 * math.sqrt(self.rate * self.inverse_rate)
        log_bessel = math.log(kve(self.power, root)) - root
        return math.log(2.0) + 0.5 * self.power * math.log(self.inverse_rate / self.rate) + log_bessel


def inverse_gamma(mu: float, nu: float) -> ScalePrior:
    """Return the prior delta2 ~ InverseGamma(mu/2, nu/2), eq. (6)."""
    return ScalePrior(-0.5 * mu, 0.0, 0.5 * nu)


def half_normal(deviation: float, floor: float = 0.0) -> ScalePrior:
    """Return the prior of delta2 under which delta is half-normal with this standard deviation.

    Parameters
    ----------
    deviation : float
        Standard deviation.
    floor : float, default=0.0
        Below about this delta the density falls to nothing.
    """
    return ScalePrior(0.5, 0.5 / deviation**2, 0.5 * floor**2)


def gamma(shape: float, mean: float, floor: float = 0.0) -> ScalePrior:
    """Return the prior under which delta2 is gamma.

    Parameters
    ----------
    shape, mean : float
        Of delta2.
    floor : float, default=0.0
        Below about this delta the density falls to nothing.
    """
    return ScalePrior(shape, shape / mean, 0.5 * floor**2)


def slice_step(
    log_density: Callable[[float], float], present: float, width: float, rng: np.random.Generator
) -> float:
    """Move one coordinate by slice sampling: step out, then shrink (Neal, 2003)."""
    level = log_density(present) - rng.standard_exponential()
    low = present - width * rng.random()
    high = low + width
    while log_density(low) > level:
        low -= width
    while log_density(high) > level:
        high += width
    while True:
        proposed = low + (high - low) * rng.random()
        if log_density(proposed) >= level:
            return proposed
        if proposed < present:
            low = proposed
        else:
            high = proposed
