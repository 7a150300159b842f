"""Modes of the posterior by Newton's steps: starts for chains, and an estimate of a kernel's evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disaggregate.model.components import Components, scale_coordinates, within_bounds
from disaggregate.sampler.dense.metric import (
    Information,
    Metric,
    factored,
    fix_scales,
    posterior_curvature,
    solved,
    variances,
)
from disaggregate.sampler.dense.target import Target

_MOST_STEPS = 60

# A step that would gain less than this of the log density, and change log scales by less than that, is the last.
_NEAR = 0.1
_SAME_SCALE = 0.03

_LEAST_DAMPING, _FIRST_DAMPING, _MOST_DAMPING = 1e-8, 1e-3, 1e12
_LARGEST_CHANGE = 1.5

# While a step would gain more than this, scales are left alone; and the longest step of a weight meanwhile.
_FAR = 1000.0
_LONGEST_OF_FAR = 3.0

# No standard weight moves farther than this in one step: a long step may pass over the mode that is nearest.
_LONGEST = 0.7


@dataclass(frozen=True)
class Mode:
    """Where the search ended.

    Attributes
    ----------
    position : ndarray of shape (n_coordinates,)
        Standard weights at their mode given the scales, and log scales at the mode of their own density.
    metric : Metric
        Of one rung: the curvature of minus the log density there, factored.
    log_evidence : float
        Log marginal likelihood if the posterior were normal (Laplace), in units of the largest likelihood of each
        report.
    """

    position: np.ndarray
    metric: Metric
    log_evidence: float


def find_mode(target: Target, position: np.ndarray, rung: int = 0) -> Mode:
    """Search from a position for a mode of one rung's posterior.

    Steps are Newton's on the weights given the scales, damped where they would lead down. After each one every
    scale moves to its most probable value given as many of its weights as the reports determine (MacKay's step for
    a variance): the joint mode of both would be far from where the posterior has its mass. The scale of the place
    component, whose intercepts are integrated out, moves with the weights.

    Parameters
    ----------
    target : Target
        Densities.
    position : ndarray of shape (n_coordinates,)
        Where to start.
    rung : int, default=0
        Whose evidence counts.
    """
    components, scales = target.components, scale_coordinates(target.components)
    view = _View.at(target, within_bounds(components, position), rung)
    if view.information.group.ndim > 1 and not components.n_places:
        # Intercepts are weights: large groups start far from their reports.
        view = with_converged_weights(target, view, rung)
    damping = _FIRST_DAMPING
    for _ in range(_MOST_STEPS):
        step, gain = _newton(components, view.curvature, view.force, damping)
        there = view.position + step * min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-300))
        energy, force = _energy_and_force(target, there, rung)
        if not energy <= view.energy:
            damping *= 10.0
            if gain < _NEAR or damping > _MOST_DAMPING:
                break
            continue
        damping = max(damping / 10.0, _LEAST_DAMPING)
        view = _View.at(target, there, rung, (energy, force))
        moved = _rescaled(components, there, view.curvature)
        change = float(np.abs(moved[scales] - there[scales]).max(initial=0.0))
        view = view.rescaled(target, moved, rung)
        if gain < _NEAR and change < _SAME_SCALE:
            break
    metric = factored(np.ones(1), view.curvature)
    return Mode(view.position, metric, _laplace(components, view.position, view.energy, metric))


def with_converged_weights(target: Target, view: _View, rung: int) -> _View:
    """Move the weights with the scales fixed, until little is left to gain.

    Scales would adapt to weights that explain nothing yet. A step that is too long is damped, not cut short: a
    shortened step goes along the directions that the reports determine least.

    Parameters
    ----------
    target : Target
        Densities.
    view : _View
        Where to start.
    rung : int
        Whose evidence counts.
    """
    damping = _FIRST_DAMPING
    for _ in range(2 * _MOST_STEPS):
        step, gain = _newton(target.components, view.curvature, view.force, damping)
        if gain < (_FAR if damping <= _FIRST_DAMPING else _NEAR):
            break
        if float(np.abs(step).max()) <= _LONGEST_OF_FAR:
            there = view.position + step
            energy, force = _energy_and_force(target, there, rung)
            if energy <= view.energy:
                view = _View.at(target, there, rung, (energy, force))
                damping = max(damping / 10.0, _LEAST_DAMPING)
                continue
        damping *= 10.0
        if damping > _MOST_DAMPING:
            break
    return view


@dataclass(frozen=True)
class _View:
    """What is known at a position: energy of the weights given the scales, force, information and curvature."""

    position: np.ndarray
    energy: float
    force: np.ndarray
    information: Information
    curvature: np.ndarray

    @classmethod
    def at(
        cls, target: Target, position: np.ndarray, rung: int, known: tuple[float, np.ndarray] | None = None
    ) -> _View:
        energy, force = _energy_and_force(target, position, rung) if known is None else known
        [information] = target.information(position[None], np.array([rung]))
        return cls(position, energy, force, information, _curvature(target, position, information))

    def rescaled(self, target: Target, position: np.ndarray, rung: int) -> _View:
        """Look from a position with other scales but the same scores: the information does not change."""
        energy, force = _energy_and_force(target, position, rung)
        return _View(position, energy, force, self.information, _curvature(target, position, self.information))


def _curvature(target: Target, position: np.ndarray, information: Information) -> np.ndarray:
    return posterior_curvature(target.components, position[None], [information])


def _energy_and_force(target: Target, position: np.ndarray, rung: int) -> tuple[float, np.ndarray]:
    """Energy given the scales whose weights are there too, and force."""
    with np.errstate(over="ignore", invalid="ignore"):
        energy, force = target.evaluate(position[None], np.array([rung]))
        value = float(energy[0]) + _log_prior_of_scales(target.components, position)
    return (value if np.isfinite(value) else np.inf), force[0]


def _log_prior_of_scales(components: Components, position: np.ndarray) -> float:
    scales = position[scale_coordinates(components)]
    pairs = zip(components.scale_priors, scales, strict=False)  # that of the place component is the last
    return sum(float(prior.log_density(log_scale)) for prior, log_scale in pairs)


def _newton(
    components: Components, curvature: np.ndarray, force: np.ndarray, damping: float
) -> tuple[np.ndarray, float]:
    """Return the damped step of everything but those scales, and by how much the log density would grow on it."""
    fixed = fix_scales(components, curvature)
    diagonal = np.arange(fixed.shape[1])
    fixed[0, diagonal, diagonal] *= 1.0 + damping
    slope = np.nan_to_num(force)
    slope[scale_coordinates(components)] = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        step = solved(fixed[0], slope)
    return step, 0.5 * float(step @ slope)


def _rescaled(components: Components, position: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Move the log scales, with the weights themselves as they are, so that no score changes."""
    spread = weight_variances(components, curvature)
    result = position.copy()
    for s, (prior, scale) in enumerate(zip(components.scale_priors, scale_coordinates(components), strict=False)):
        own = np.flatnonzero(components.scale_of == s)
        t = position[scale]
        inverse_part = max(0.5 * np.exp(t) * float(np.sum(position[own] ** 2)) + prior.inverse_rate, 1e-300)
        half = 0.5 * float(np.sum(1.0 - spread[own])) - prior.power
        if prior.rate > 0.0:
            best = np.log(
                max((np.sqrt(half**2 + 4.0 * prior.rate * inverse_part) - half) / (2.0 * prior.rate), 1e-300)
            )
        else:
            best = np.log(inverse_part / half)
        change = float(np.clip(best - t, -_LARGEST_CHANGE, _LARGEST_CHANGE))
        result[own] = position[own] * np.exp(-0.5 * change)
        result[scale] = t + change
    return within_bounds(components, result)


def weight_variances(components: Components, curvature: np.ndarray) -> np.ndarray:
    """Variance of each standard weight if the posterior were normal, given the scales."""
    weights = np.setdiff1d(np.arange(components.n_coordinates), scale_coordinates(components))
    return variances(curvature[0][np.ix_(weights, weights)])[: components.n_weights]


def _laplace(components: Components, position: np.ndarray, energy: float, metric: Metric) -> float:
    """Integrate a normal density around the mode, over the weights and over the log scales."""
    value = -energy - float(np.log(np.diagonal(metric.factor[0])).sum())
    value += 0.5 * np.log(2.0 * np.pi) * len(components.priors)
    return value + _log_prior_of_scales(components, position)
