"""Priors of the scales delta2, one per score component."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaincinv, gammaln

# The support of log delta2: wider than any data can tell apart, narrow enough never to overflow.
LOG_SCALE_BOUND = 30.0


class ScalePrior(NamedTuple):
    """Density of delta2 proportional to delta2^(power - 1) exp(-rate delta2 - inverse_rate / delta2).

    The family holds the inverse gamma of eq. (6), with ``rate`` 0, and the square of a half-normal standard
    deviation, with ``inverse_rate`` 0. One of the two rates is 0.

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
        if self.rate > 0.0:
            return math.log(self.power / self.rate)
        return math.log(self.inverse_rate / -self.power)

    @property
    def median(self) -> float:
        """Median of delta2."""
        middle = float(gammaincinv(abs(self.power), 0.5))
        return middle / self.rate if self.rate > 0.0 else self.inverse_rate / middle

    def log_density(self, log_scale: Any) -> Any:
        """Log density of log delta2, normalised but for the bounds of its support."""
        return self.log_kernel(log_scale) - self._log_normaliser

    def log_kernel(self, log_scale: Any) -> Any:
        """Return the same up to a constant."""
        log_scale = np.asarray(log_scale, dtype=np.float64)
        inside = np.abs(log_scale) <= LOG_SCALE_BOUND
        t = np.where(inside, log_scale, 0.0)
        value = self.power * t - self.rate * np.exp(t) - self.inverse_rate * np.exp(-t)
        return np.where(inside, value, -np.inf)

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
        """Draw log delta2, again if it falls outside its support."""
        while True:
            gamma = rng.standard_gamma(abs(self.power))
            if gamma > 0.0:
                log_scale = (
                    math.log(gamma / self.rate) if self.rate > 0.0 else -math.log(gamma / self.inverse_rate)
                )
                if abs(log_scale) <= LOG_SCALE_BOUND:
                    return log_scale

    @property
    def _log_normaliser(self) -> float:
        shape, rate = abs(self.power), max(self.rate, self.inverse_rate)
        return float(gammaln(shape) - shape * math.log(rate))


def inverse_gamma(mu: float, nu: float) -> ScalePrior:
    """Return the prior delta2 ~ InverseGamma(mu/2, nu/2), eq. (6)."""
    return ScalePrior(-0.5 * mu, 0.0, 0.5 * nu)


def half_normal(deviation: float) -> ScalePrior:
    """Return the prior of delta2 under which delta is half-normal with this standard deviation."""
    return ScalePrior(0.5, 0.5 / deviation**2, 0.0)
