"""The likelihood of a group's report with the group's own intercept integrated out.

The offset o of a group is normal around a centre c, which the group's context gives it, with the deviation of the
place component. The reports determine it so well that a chain could hardly move it and the weights alternately. It
is one number per group, so the trapezoidal rule computes the integral over it almost exactly, on nodes around the
most probable offset, as far apart as the density there is wide:

    L = integral of exp(l(o)) N(o; c, s^2) do
    dL / L in anything that l depends on = average of dl over the density of o
    dL / L in c = average of (o - c) / s^2,  in log s^2 = average of ((o - c)^2 / s^2 - 1) / 2
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize_scalar

# Nodes, and how far apart they are in units of the width of the density. The trapezoidal rule is good to 1e-8 for
# a normal density at a distance of 1.
NODES, SPACING = 11, 1.1

# Evidence that only bounds a large count cuts the density off, wherever that may be: its nodes are many, and lie
# around the centre to so many deviations.
BOUND_NODES, BOUND_REACH = 41, 4.5

# How far from its centre an offset is looked for. In a sample, how far beyond the centre and a first guess: in
# deviations, and in the spread of scores, as the guess takes them to be normal. How far beyond that, in
# deviations, its nodes can lie.
FARTHEST_OFFSET, SEARCH_MARGIN, SEARCH_ROOM = 20.0, 0.7, 0.5
TABLE_REACH = 0.5 * (NODES - 1) * SPACING

# The guess of where the share alone would put an offset takes no share to be nearer to 0 or 1 than this.
SHARE_MARGIN = 1e-3

# Roughly the information of one person about an offset, for probabilities neither small nor large. It decides
# how far between the centre and that guess the search starts.
INFORMATION_PER_PERSON = 0.5

# Steps to the most probable offset end when one is shorter than this many widths. The width is judged from slopes
# so many widths to both sides.
MOST_STEPS_TO_CENTER = 30
NEAR_CENTER = 0.05
APART = 0.5

# Offsets, the denser the nearer to the centre, among which the plain twin looks for the most probable one.
SEARCHED = 61

# Points between two nodes where an offset is drawn from, and how far the log density may rise between two.
PER_NODE = 8
MOST_RISE = 1.0


class HasLogDensity(Protocol):
    """A log likelihood, and perhaps its derivatives."""

    @property
    def log_density(self) -> float:
        """Log likelihood."""


class Nodes(NamedTuple):
    """Offsets, how probable each is, and the logarithm of the integral."""

    offsets: np.ndarray
    probability: np.ndarray
    log_integral: float


def integrate(
    likelihood: Callable[[float], HasLogDensity], center: float, deviation: float, is_bound: bool = False
) -> Nodes:
    """Integrate a likelihood over a group's offset.

    Parameters
    ----------
    likelihood : callable
        Of the group's report given its offset.
    center, deviation : float
        Of the offset.
    is_bound : bool, default=False
        Whether the report only bounds a large count.
    """

    def log_density(offset: float) -> float:
        return likelihood(offset).log_density - 0.5 * ((offset - prior_center) / deviation) ** 2

    prior_center = center
    if is_bound:
        reach, n = BOUND_REACH * deviation, BOUND_NODES
    else:
        center, width = _mode(log_density, center, deviation)
        reach, n = 0.5 * (NODES - 1) * SPACING * width, NODES
    offsets = center + np.linspace(-reach, reach, n)
    values = np.array([log_density(offset) for offset in offsets])
    best = float(values.max())
    mass = np.exp(values - best)
    spacing = (offsets[1] - offsets[0]) / (deviation * math.sqrt(2.0 * math.pi))
    return Nodes(offsets, mass / mass.sum(), best + math.log(float(mass.sum()) * spacing))


def _mode(log_density: Callable[[float], float], center: float, deviation: float) -> tuple[float, float]:
    """Most probable offset, and how wide the density is there."""
    grid = center + FARTHEST_OFFSET * np.sinh(np.linspace(-4.0, 4.0, SEARCHED)) / math.sinh(4.0)
    best = int(np.argmax([log_density(offset) for offset in grid]))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(lambda o: -log_density(o), bounds=around, method="bounded", options={"xatol": 1e-7})
    mode, step = float(found.x), 1e-3 * deviation
    while True:
        here, below, above = (log_density(mode + change) for change in (0.0, -step, step))
        if 2.0 * here - below - above < 1.0:  # within a deviation or so the density is about normal
            return mode, step / math.sqrt(max(2.0 * here - below - above, (step / deviation) ** 2))
        step *= 0.5
