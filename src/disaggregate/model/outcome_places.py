"""Intercepts of groups integrated out, for several outcomes: one number per contrast and group.

As :mod:`disaggregate.model.places`, with vectors. The offsets o of a group are normal around a centre c with the
same deviation s along each contrast. Reports of large groups determine them almost exactly, so that a chain could
not move them and the weights alternately. The integral over them,

    L = integral of exp(l(o)) N(o; c, s^2 I) do,

is taken by a symmetric rule for a normal density, laid around the most probable offsets and as wide as the density
is there. The averages over its nodes are the gradient, as for two outcomes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

# Outcomes up to which intercepts are integrated out: beyond, nodes are many and some have negative weights.
MOST_OUTCOMES = 5

# Steps to the most probable offsets end when the next one is shorter than this many widths; none is longer than
# so much along any contrast.
NEAR = 0.1
LONGEST = 3.0
MOST_STEPS = 60

# Slopes so many widths to both sides show how wide the density is; and how much wider or narrower than the
# information of the report says it can be.
APART = 1.0
NARROWEST, WIDEST = 0.1, 4.0

# Added to curvatures, in units of their trace: a report that does not distinguish all outcomes, with a prior that
# says nothing, leaves a direction without any.
_JITTER = 1e-12

# Deviations between which intercepts are taken: scales beyond have no density.
SMALLEST, LARGEST = 1e-8, 1e8


class Expansion(NamedTuple):
    """What the reports say of offsets.

    Attributes
    ----------
    value : ndarray of shape (n_groups,)
        Log likelihood of each group's report.
    slope : ndarray of shape (n_groups, n_contrasts)
        Its gradient in the group's offsets.
    information : ndarray of shape (n_groups, n_contrasts, n_contrasts)
        Its expected curvature.
    """

    value: np.ndarray
    slope: np.ndarray
    information: np.ndarray


# From offsets of shape (n_groups, n_contrasts), and for which groups they are wanted, to what the reports say.
Expand = Callable[[np.ndarray, np.ndarray], Expansion]


class Modes(NamedTuple):
    """The most probable offsets of each group, and how wide the density is around them.

    Attributes
    ----------
    offsets : ndarray of shape (n_groups, n_contrasts)
        Where.
    root : ndarray of shape (n_groups, n_contrasts, n_contrasts)
        The density is about that of offsets + root z with standard normal z.
    value : ndarray of shape (n_groups,)
        Log likelihood plus log prior density there, but for the normaliser of the latter.
    """

    offsets: np.ndarray
    root: np.ndarray
    value: np.ndarray


class Rule(NamedTuple):
    """Nodes, shape (n_nodes, n_contrasts), and weights of an integral over a standard normal density."""

    nodes: np.ndarray
    weights: np.ndarray


@lru_cache
def rule_of(n_contrasts: int) -> Rule:
    """Return a rule of degree 7 for two contrasts, and of degree 5 for more; all weights are positive."""
    return _of_two() if n_contrasts == 2 else _of_degree_5(n_contrasts)


def _of_two() -> Rule:
    """Twelve nodes (Stroud and Secrest, 1963)."""
    root = math.sqrt(5.0)
    near, far = math.sqrt((9.0 - 3.0 * root) / 4.0), math.sqrt((9.0 + 3.0 * root) / 4.0)
    corners = np.array(list(itertools.product((1.0, -1.0), repeat=2)))
    axes = math.sqrt(6.0) * np.concatenate([np.eye(2), -np.eye(2)])
    weights = np.array([1.0 / 36.0, (5.0 + 2.0 * root) / 45.0, (5.0 - 2.0 * root) / 45.0])
    return Rule(np.concatenate([axes, near * corners, far * corners]), np.repeat(weights, 4))


def _of_degree_5(d: int) -> Rule:
    """Nodes in the middle, on the axes, and on the diagonals between two of them; for up to four contrasts."""
    eye, root = np.eye(d), math.sqrt(3.0)
    axes = [sign * root * own for own in eye for sign in (1.0, -1.0)]
    pairs = [
        root * (one * eye[a] + other * eye[b])
        for a, b in itertools.combinations(range(d), 2)
        for one, other in itertools.product((1.0, -1.0), repeat=2)
    ]
    each = [1.0 + (d * d - 7.0 * d) / 18.0, (4.0 - d) / 18.0, 1.0 / 36.0]
    weights = np.repeat(each, [1, len(axes), len(pairs)])
    return Rule(np.array([np.zeros(d), *axes, *pairs])[weights > 0.0], weights[weights > 0.0])


def find_modes(expand: Expand, center: np.ndarray, deviation: float) -> Modes:
    """Find the most probable offsets by Newton's steps with the expected curvature, halved where they lead down.

    Parameters
    ----------
    expand : callable
        What the reports say of offsets.
    center : ndarray of shape (n_groups, n_contrasts)
        Prior centres.
    deviation : float
        Prior deviation along each contrast.
    """
    n_groups, d = center.shape
    precision = deviation**-2
    prior = precision * np.eye(d)
    wanted = np.ones(n_groups, dtype=np.bool_)
    offsets, factor = center.copy(), np.ones(n_groups)
    here = expand(offsets, wanted)
    value = here.value.copy()
    slope, curvature = np.nan_to_num(here.slope), _definite(here.information + prior)
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        wanted &= np.sum(step * slope, axis=1) > NEAR**2
        if not wanted.any():
            break
        step *= np.minimum(factor, LONGEST / np.maximum(np.abs(step).max(axis=1), LONGEST))[:, None]
        tried = np.where(wanted[:, None], offsets + step, offsets)
        there = expand(tried, wanted)
        reached = there.value - 0.5 * precision * np.sum((tried - center) ** 2, axis=1)
        better = wanted & (reached >= value)
        factor = np.where(better, np.minimum(2.0 * factor, 1.0), 0.5 * factor)
        offsets[better], value[better] = tried[better], reached[better]
        slope[better] = there.slope[better] - precision * (tried - center)[better]
        curvature[better] = _definite(there.information[better] + prior)
    return Modes(offsets, _root(expand, center, precision, offsets, curvature), value)


def _definite(curvature: np.ndarray) -> np.ndarray:
    """Ensure that matrices can be factored, also where a trajectory diverges."""
    eye = np.eye(curvature.shape[1])
    finite = np.isfinite(curvature).all(axis=(1, 2), keepdims=True)
    size = np.trace(curvature, axis1=1, axis2=2)[:, None, None]
    return np.where(finite, curvature + _JITTER * size * eye, eye)


def _root(
    expand: Expand, center: np.ndarray, precision: float, offsets: np.ndarray, curvature: np.ndarray
) -> np.ndarray:
    """Find how wide the density is: as wide as slopes beside the mode say."""
    n_groups, d = offsets.shape
    everywhere = np.ones(n_groups, dtype=np.bool_)
    root = np.swapaxes(np.linalg.inv(np.linalg.cholesky(curvature)), 1, 2)
    measured = np.empty_like(root)
    for a in range(d):
        away = APART * root[:, :, a]
        above, below = expand(offsets + away, everywhere).slope, expand(offsets - away, everywhere).slope
        by_offset = (below - above) / (2.0 * APART) + precision * root[:, :, a]
        measured[:, a] = np.einsum("gab,ga->gb", root, by_offset)
    measured = np.nan_to_num(0.5 * (measured + np.swapaxes(measured, 1, 2)))
    size, axes = np.linalg.eigh(measured)
    return np.einsum("gab,gbc,gc->gac", root, axes, np.clip(size, WIDEST**-2, NARROWEST**-2) ** -0.5)


class Nodes(NamedTuple):
    """Nodes of the integrals over all groups' offsets.

    Attributes
    ----------
    offsets : ndarray of shape (n_nodes, n_groups, n_contrasts)
        Where.
    log_weight : ndarray of shape (n_nodes, n_groups)
        The integral is the sum over nodes of exp(log_weight + log likelihood).
    """

    offsets: np.ndarray
    log_weight: np.ndarray


def nodes_around(modes: Modes, center: np.ndarray, deviation: float) -> Nodes:
    """Lay nodes around the modes.

    Parameters
    ----------
    modes : Modes
        The most probable offsets.
    center, deviation
        As for :func:`find_modes`.
    """
    d = center.shape[1]
    rule = rule_of(d)
    offsets = modes.offsets + np.einsum("gab,nb->nga", modes.root, rule.nodes)
    log_volume = np.linalg.slogdet(modes.root)[1] - d * math.log(deviation)
    log_prior = -0.5 * np.sum((offsets - center) ** 2, axis=2) / deviation**2
    of_rule = np.log(rule.weights) + 0.5 * np.sum(rule.nodes**2, axis=1)
    return Nodes(offsets, log_prior + log_volume + of_rule[:, None])
