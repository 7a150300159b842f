"""To the posterior's peak by Newton's steps: a start for chains, and an estimate of a kernel's evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from disaggregate.sampler.blocks.answers import Question
from disaggregate.sampler.blocks.model import BlockProblem, posterior_curvature
from disaggregate.sampler.model import LOG_SCALE_BOUND

_MOST_STEPS = 40

# A step that would gain less than this of the log density, and change log delta2 by less than that, is the last.
_NEAR = 0.1
_SAME_SCALE = 0.03

_LEAST_DAMPING, _FIRST_DAMPING = 1e-8, 1e-3
_LARGEST_CHANGE = 1.5


@dataclass(frozen=True)
class Peak:
    """Where the climb ended.

    Attributes
    ----------
    position : ndarray of shape (n_replicas, n_columns + 1)
        Standard weights at their peak given log delta2, and log delta2 at the peak of its own density.
    curvature : ndarray of shape (n_replicas, n_columns + 1, n_columns + 1)
        Of minus the log density there.
    log_evidence : ndarray of shape (n_replicas,)
        Log marginal likelihood if the posterior were normal (Laplace), in units of the largest likelihood of each
        report.
    """

    position: np.ndarray
    curvature: np.ndarray
    log_evidence: np.ndarray


def climb(problem: BlockProblem, position: np.ndarray, rungs: np.ndarray) -> Peak:
    """Climb from some positions at once, each to the peak of its own rung's posterior.

    Steps are Newton's on the weights given delta2, damped where they would lead down. After each one delta2 moves
    to its most probable value given what the weights would be on average around their peak (the EM step for a
    variance): the joint peak of both would be far from where the posterior has its mass.

    Parameters
    ----------
    problem : BlockProblem
        Data and hyper-parameters.
    position : ndarray of shape (n_replicas, n_columns + 1)
        Where to start.
    rungs : ndarray of int, shape (n_replicas,)
        Whose evidence to climb on.
    """
    here = _look(problem, position.copy(), rungs)
    damping = np.full(len(position), _FIRST_DAMPING)
    for _ in range(_MOST_STEPS):
        step, gain = _newton(here, damping)
        there = _look(problem, np.column_stack([here.position[:, :-1] + step, here.position[:, -1]]), rungs)
        is_up = there.energy <= here.energy
        damping = np.where(is_up, np.maximum(damping / 10.0, _LEAST_DAMPING), damping * 10.0)
        here = here.where(is_up, there)
        moved = here.rescaled(problem, is_up)
        if ((gain < _NEAR) & (np.abs(moved.position[:, -1] - here.position[:, -1]) < _SAME_SCALE)).all():
            break
        here = moved
    curvature = posterior_curvature(problem, here.position, here.information)
    return Peak(here.position, curvature, _laplace(problem, here))


@dataclass(frozen=True)
class _View:
    """What is seen from some positions: the information and the pull are of the weights, not of the positions."""

    position: np.ndarray
    log_likelihood: np.ndarray
    pull: np.ndarray
    information: np.ndarray
    force: np.ndarray
    curvature: np.ndarray

    @property
    def energy(self) -> np.ndarray:
        """Minus the log density of the weights given delta2."""
        energy = 0.5 * np.sum(self.position[:, :-1] ** 2, axis=1) - self.log_likelihood
        return np.where(np.isfinite(energy), energy, np.inf)

    def where(self, chosen: np.ndarray, other: _View) -> _View:
        """Take some rows from another view."""
        return _View(
            *(
                np.where(chosen.reshape(-1, *[1] * (mine.ndim - 1)), theirs, mine)
                for mine, theirs in zip(self._parts(), other._parts(), strict=True)
            )
        )

    def rescaled(self, problem: BlockProblem, chosen: np.ndarray) -> _View:
        """Move log delta2 of some rows, with the weights themselves as they are, so that f does not change."""
        n_columns = len(problem.deviation)
        inverse = np.linalg.inv(self.curvature)
        squares = np.sum(self.position[:, :-1] ** 2, axis=1) + np.trace(inverse, axis1=1, axis2=2)
        scale = np.exp(self.position[:, -1])
        best = np.log((problem.prior.nu + squares * scale) / (problem.prior.mu + n_columns))
        change = np.where(chosen, np.clip(best - self.position[:, -1], -_LARGEST_CHANGE, _LARGEST_CHANGE), 0.0)
        position = self.position * np.exp(-0.5 * change[:, None])
        bound = LOG_SCALE_BOUND - 1.0
        position[:, -1] = np.clip(self.position[:, -1] + change, -bound, bound)
        return _seen(problem, position, self.log_likelihood, self.pull, self.information)

    def _parts(self) -> tuple[np.ndarray, ...]:
        return self.position, self.log_likelihood, self.pull, self.information, self.force, self.curvature


def _look(problem: BlockProblem, position: np.ndarray, rungs: np.ndarray) -> _View:
    scale = np.exp(0.5 * position[:, -1:]) * problem.deviation
    question = Question(np.ascontiguousarray(position[:, :-1] * scale), rungs)
    found = problem.sums.approach(question)
    information = problem.sums.information(question, hold=False)
    return _seen(problem, position, *found, information)


def _seen(
    problem: BlockProblem,
    position: np.ndarray,
    log_likelihood: np.ndarray,
    pull: np.ndarray,
    information: np.ndarray,
) -> _View:
    scale = np.exp(0.5 * position[:, -1:]) * problem.deviation
    force = pull * scale - position[:, :-1]
    curvature = posterior_curvature(problem, position, information)[:, :-1, :-1]
    return _View(position, log_likelihood, pull, information, force, curvature)


def _newton(view: _View, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the damped step, and by how much the log density would grow on it."""
    diagonal = np.diagonal(view.curvature, axis1=1, axis2=2)
    damped = view.curvature + damping[:, None, None] * diagonal[:, :, None] * np.eye(diagonal.shape[1])
    step = np.linalg.solve(damped, view.force[:, :, None])[:, :, 0]
    return step, 0.5 * np.sum(step * view.force, axis=1)


def _laplace(problem: BlockProblem, view: _View) -> np.ndarray:
    """Integrate a normal density around the peak, over the weights and over log delta2."""
    mu, nu = problem.prior.mu, problem.prior.nu
    log_scale = view.position[:, -1]
    log_prior = (
        0.5 * mu * np.log(0.5 * nu) - gammaln(0.5 * mu) - 0.5 * mu * log_scale - 0.5 * nu * np.exp(-log_scale)
    )
    inverse = np.linalg.inv(view.curvature)
    n_told = view.force.shape[1] - np.trace(inverse, axis1=1, axis2=2)
    width = 2.0 / (mu + np.maximum(n_told, 0.0))  # variance of log delta2, of which so many weights tell
    return log_prior - view.energy - 0.5 * np.linalg.slogdet(view.curvature)[1] + 0.5 * np.log(2.0 * np.pi * width)
