"""Modes of the posterior by Newton's steps: starts for chains, and an estimate of a kernel's evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disaggregate.model.components import Components, within_bounds
from disaggregate.sampler.dense.metric import (
    Curvature,
    Information,
    Metric,
    factored,
    first_place,
    hold_scales,
    posterior_curvature,
    velocity_of,
)
from disaggregate.sampler.dense.target import Target

_MOST_STEPS = 60

# A step that would gain less than this of the log density, and change log scales by less than that, is the last.
_NEAR = 0.1
_SAME_SCALE = 0.03

_LEAST_DAMPING, _FIRST_DAMPING, _MOST_DAMPING = 1e-8, 1e-3, 1e12
_LARGEST_CHANGE = 1.5

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
    scale moves to its most probable value given as many of its weights as the reports tell (MacKay's step for a
    variance): the joint mode of both would be far from where the posterior has its mass.

    Parameters
    ----------
    target : Target
        Densities.
    position : ndarray of shape (n_coordinates,)
        Where to start.
    rung : int, default=0
        Whose evidence counts.
    """
    components, scales = target.components, _scales(target.components)
    view = _View.at(target, within_bounds(components, position), rung)
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


@dataclass(frozen=True)
class _View:
    """What is seen from a position: energy of the weights given the scales, force, information and curvature."""

    position: np.ndarray
    energy: float
    force: np.ndarray
    information: Information
    curvature: Curvature

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


def _curvature(target: Target, position: np.ndarray, information: Information) -> Curvature:
    return posterior_curvature(target.components, position[None], [information])


def _scales(components: Components) -> slice:
    return slice(components.n_weights, components.n_weights + len(components.priors))


def _energy_and_force(target: Target, position: np.ndarray, rung: int) -> tuple[float, np.ndarray]:
    """Energy of the weights given the scales, and force."""
    with np.errstate(over="ignore", invalid="ignore"):
        energy, force = target.evaluate(position[None], np.array([rung]))
        value = float(energy[0])
        for prior, log_scale in zip(
            target.components.scale_priors, position[_scales(target.components)], strict=True
        ):
            value += float(prior.log_density(log_scale))
    return (value if np.isfinite(value) else np.inf), force[0]


def _newton(
    components: Components, curvature: Curvature, force: np.ndarray, damping: float
) -> tuple[np.ndarray, float]:
    """Return the damped step of everything but the scales, and by how much the log density would grow on it."""
    held = hold_scales(components, curvature)
    diagonal = np.arange(held.rest.shape[1])
    held.rest[0, diagonal, diagonal] *= 1.0 + damping
    damped = factored(np.ones(1), held._replace(place=(1.0 + damping) * held.place))
    pull = force.copy()
    pull[_scales(components)] = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        step = velocity_of(components, damped, np.zeros(1, dtype=np.int64), np.nan_to_num(pull)[None])[0]
    return step, 0.5 * float(step @ np.nan_to_num(pull))


def _rescaled(components: Components, position: np.ndarray, curvature: Curvature) -> np.ndarray:
    """Move the log scales, with the weights themselves as they are, so that no score changes."""
    spread = weight_variances(components, curvature)
    result, scales = position.copy(), _scales(components)
    for s, prior in enumerate(components.scale_priors):
        own = np.flatnonzero(components.scale_of == s)
        t = position[scales.start + s]
        told = max(0.5 * np.exp(t) * float(np.sum(position[own] ** 2)) + prior.inverse_rate, 1e-300)
        half = 0.5 * float(np.sum(1.0 - spread[own])) - prior.power
        if prior.rate > 0.0:
            best = np.log(max((np.sqrt(half**2 + 4.0 * prior.rate * told) - half) / (2.0 * prior.rate), 1e-300))
        else:
            best = np.log(told / half)
        change = float(np.clip(best - t, -_LARGEST_CHANGE, _LARGEST_CHANGE))
        result[own] = position[own] * np.exp(-0.5 * change)
        result[scales.start + s] = t + change
    return within_bounds(components, result)


def weight_variances(components: Components, curvature: Curvature) -> np.ndarray:
    """Variance of each standard weight if the posterior were normal, given the scales."""
    first, n_scales = first_place(components), len(components.priors)
    weights = np.setdiff1d(np.arange(curvature.rest.shape[1]), first + np.arange(n_scales))
    rest = curvature.rest[:, weights][:, :, weights]
    metric = factored(np.ones(1), Curvature(rest, curvature.coupling[:, weights], curvature.place))
    inverse = metric.inverse[0]
    result = np.empty(components.n_weights)
    result[:first] = np.diagonal(inverse)[:first]
    if components.n_places:
        coupling = metric.coupling[0]
        result[first:] = (1.0 + np.sum(coupling * (inverse @ coupling), axis=0)) / metric.place[0] ** 2
    return result


def _laplace(components: Components, position: np.ndarray, energy: float, metric: Metric) -> float:
    """Integrate a normal density around the mode, over the weights and over the log scales."""
    value = -energy - float(np.log(np.diagonal(metric.factor[0])).sum() + np.log(metric.place[0]).sum())
    scales = position[_scales(components)]
    for prior, log_scale in zip(components.scale_priors, scales, strict=True):
        value += float(prior.log_density(log_scale)) + 0.5 * np.log(2.0 * np.pi)
    return value
