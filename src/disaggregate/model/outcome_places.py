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
JITTER = 1e-12

# No offsets can be this many times as probable as the mode; a larger exponent means that the search has failed.
MOST_RISE = 700.0

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
    """Nodes in the middle, and at the corners of an icosahedron or of a 24-cell around it."""
    corners = _icosahedron() if d == 3 else _cell_24()
    nodes = np.concatenate([np.zeros((1, d)), math.sqrt(d + 2.0) * corners])
    return Rule(nodes, np.append(2.0, np.full(len(corners), d / len(corners))) / (d + 2.0))


def _icosahedron() -> np.ndarray:
    golden = 0.5 * (1.0 + math.sqrt(5.0))
    pairs = itertools.product((1.0, -1.0), (golden, -golden))
    corners = np.array([np.roll([0.0, one, other], turn) for one, other in pairs for turn in range(3)])
    return corners / math.hypot(1.0, golden)


def _cell_24() -> np.ndarray:
    signs, eye = itertools.product((1.0, -1.0), repeat=2), np.eye(4)
    pairs = itertools.product(signs, itertools.combinations(range(4), 2))
    return math.sqrt(0.5) * np.array([one * eye[a] + other * eye[b] for (one, other), (a, b) in pairs])


def find_modes(expand: Expand, center: np.ndarray, deviation: float, is_large: np.ndarray) -> Modes:
    """Find the most probable offsets by Newton's steps with the expected curvature, halved where they lead down.

    Parameters
    ----------
    expand : callable
        What the reports say of offsets.
    center : ndarray of shape (n_groups, n_contrasts)
        Prior centres.
    deviation : float
        Prior deviation along each contrast.
    is_large : ndarray of bool, shape (n_groups,)
        Groups whose density is as wide as its curvature at the mode says.
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
    root = np.swapaxes(np.linalg.inv(np.linalg.cholesky(curvature)), 1, 2)
    wide = _widened(expand, precision, offsets, root)
    return Modes(offsets, np.where(is_large[:, None, None], root, wide), value)


def _definite(curvature: np.ndarray) -> np.ndarray:
    """Ensure that matrices can be factored, also where a trajectory diverges."""
    eye = np.eye(curvature.shape[1])
    finite = np.isfinite(curvature).all(axis=(1, 2), keepdims=True)
    size = np.trace(curvature, axis1=1, axis2=2)[:, None, None]
    return np.where(finite, curvature + JITTER * size * eye, eye)


def _widened(expand: Expand, precision: float, offsets: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Find how wide the density is: as wide as slopes beside the mode say."""
    n_groups, d = offsets.shape
    everywhere = np.ones(n_groups, dtype=np.bool_)
    measured = np.empty_like(root)
    for a in range(d):
        away = APART * root[:, :, a]
        above, below = expand(offsets + away, everywhere).slope, expand(offsets - away, everywhere).slope
        by_offset = (below - above) / (2.0 * APART) + precision * root[:, :, a]
        measured[:, a] = np.einsum("gab,ga->gb", root, by_offset)
    measured = np.nan_to_num(0.5 * (measured + np.swapaxes(measured, 1, 2)))
    size, axes = np.linalg.eigh(measured)
    narrower = np.clip(size, WIDEST**-2, NARROWEST**-2) ** -0.5
    # The symmetric root: axes turn at once where the density is about as wide along all of them.
    return root @ np.einsum("gac,gc,gbc->gab", axes, narrower, axes)


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
    rule = rule_of(center.shape[1])
    offsets = modes.offsets + np.einsum("gab,nb->nga", modes.root, rule.nodes)
    log_volume = np.linalg.slogdet(modes.root)[1]
    log_prior = -0.5 * np.sum((offsets - center) ** 2, axis=2) / deviation**2
    return Nodes(offsets, log_prior + log_volume + log_weights_of(rule, deviation)[:, None])


def log_weights_of(rule: Rule, deviation: float) -> np.ndarray:
    """Log weights of the nodes for any density of offsets, with the normaliser of their prior.

    Parameters
    ----------
    rule : Rule
        Nodes and their weights for a normal density.
    deviation : float
        Prior deviation along each contrast.
    """
    of_rule = np.log(rule.weights) + 0.5 * np.sum(rule.nodes**2, axis=1)
    found: np.ndarray = of_rule - rule.nodes.shape[1] * math.log(deviation)
    return found
