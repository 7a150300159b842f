"""The mass of Hamiltonian trajectories: how narrow the posterior is along every direction.

Where the reports determine the weights well, a scale and its weights lie on a curve that no mass matrix follows.
So there are two kinds of trajectories: free ones, and ones with those scales fixed, along which the density is
nearly normal. The scales of the place component, whose intercepts are integrated out, of cells and of the reports'
noise are never fixed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from disaggregate.model.components import Components, scale_coordinates, scale_factors


class Metric(NamedTuple):
    """Steps and masses of Hamiltonian trajectories: a set per rung for free ones, then one for fixed scales.

    Attributes
    ----------
    step : ndarray of shape (n_sets,)
        Step of each set.
    factor : ndarray of shape (n_sets, n_coordinates, n_coordinates)
        Cholesky factor of the mass.
    inverse : ndarray of shape (n_sets, n_coordinates, n_coordinates)
        Inverse of the mass; zero for fixed scales, which so have no velocity.
    """

    step: np.ndarray
    factor: np.ndarray
    inverse: np.ndarray


class Information(NamedTuple):
    """Expected curvature of minus the log likelihood, with intercepts of groups integrated out.

    Attributes
    ----------
    columns : ndarray of shape (n_columns + n_errors, n_columns + n_errors)
        In the weights of the individual component, and in z.
    cross : ndarray of shape (n_columns + n_errors, n_groups)
        Between these and the centres of the groups' offsets.
    group : ndarray of shape (n_groups,) or (n_groups, n_scores, n_scores)
        In the centres; a matrix per group where there are several scores, whose centres follow each other.
    scale : float
        In the log scale of the place component.
    noise : float
        In the log scale of the reports' noise, where that is learned.
    cell : float
        In the log scale of cells.
    """

    columns: np.ndarray
    cross: np.ndarray
    group: np.ndarray
    scale: float
    noise: float = 0.0
    cell: float = 0.0


# Scales about which prior and data say almost nothing still have a width.
_LEAST_SCALE_CURVATURE = 0.15


def posterior_curvature(
    components: Components, position: np.ndarray, information: list[Information]
) -> np.ndarray:
    """Curvature of minus the log density, from that of the likelihood, shape (n_positions, n, n).

    Parameters
    ----------
    components : Components
        What weights mean.
    position : ndarray of shape (n_positions, n_coordinates)
        Where.
    information : list of Information
        At each of these positions.
    """
    pairs = zip(position, information, strict=True)
    return np.stack([_one_curvature(components, *pair) for pair in pairs])


def _one_curvature(components: Components, position: np.ndarray, information: Information) -> np.ndarray:
    by_columns, by_group = _jacobians(components, position)
    curvature = by_columns.T @ information.columns @ by_columns
    moving = np.flatnonzero(by_group.any(axis=0))  # few coordinates move the centres of groups, if any
    if len(moving):
        by_group = np.ascontiguousarray(by_group[:, moving])
        crossed = by_columns.T @ (information.cross @ by_group)
        curvature[:, moving] += crossed
        curvature[moving, :] += crossed.T
        curvature[np.ix_(moving, moving)] += by_group.T @ _times_groups(information.group, by_group)
    diagonal = np.ones(components.n_coordinates)
    n_scales = len(components.priors)
    for s, prior in enumerate(components.scale_priors):
        log_scale = position[components.n_weights + s]
        diagonal[components.n_weights + s] = max(prior.curvature(log_scale), _LEAST_SCALE_CURVATURE)
    if components.n_places:
        diagonal[components.n_weights + n_scales - 1] += information.scale
    if components.n_noises:
        diagonal[components.noise_coordinate] += information.noise
    if components.n_cells:
        diagonal[components.cell_coordinate] += information.cell
    curvature[np.arange(len(diagonal)), np.arange(len(diagonal))] += diagonal
    return curvature


def _times_groups(group: np.ndarray, by_group: np.ndarray) -> np.ndarray:
    """Multiply the information on the centres with their slopes, shape (n_centres, n_coordinates)."""
    if group.ndim == 1 or not len(group):
        return group.reshape(len(by_group), 1) * by_group
    of_scores = by_group.reshape(-1, len(group), by_group.shape[1])
    found: np.ndarray = np.einsum("gab,bgm->agm", group, of_scores).reshape(by_group.shape)
    return found


def _jacobians(components: Components, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differentiate the columns' weights (and z), and the centres of the offsets, in all coordinates."""
    n_columns, n_weights = components.n_columns, components.n_weights
    deviation = scale_factors(components, position[None])[0]
    weights = position[:n_weights] * deviation
    by_columns = np.zeros((n_columns + components.n_errors, components.n_coordinates))
    by_group = np.zeros((components.n_groups, components.n_coordinates))
    by_columns[np.arange(n_columns), np.arange(n_columns)] = deviation[:n_columns]
    by_group[:, n_columns:n_weights] = components.context * deviation[n_columns:]
    for s in range(len(components.priors)):
        own = np.where(components.scale_of == s, weights, 0.0)
        by_columns[:n_columns, n_weights + s] = 0.5 * own[:n_columns]
        by_group[:, n_weights + s] = 0.5 * (components.context @ own[n_columns:])
    if components.has_level:
        index = n_weights + len(components.priors) - 1
        of_places = np.exp(position[index]) if components.n_places else 0.0
        variance = 1.0 + components.spread @ weights**2 + of_places
        by_weight = weights[0] / np.sqrt(variance) * components.spread * weights
        by_columns[0, 0] *= np.sqrt(variance)
        by_columns[0, 1:n_weights] += by_weight[1:] * deviation[1:]
        for s in range(len(components.priors)):
            by_columns[0, n_weights + s] += 0.5 * float((by_weight * weights)[components.scale_of == s].sum())
        by_columns[0, index] += 0.5 * weights[0] / np.sqrt(variance) * of_places
    if components.n_errors:
        by_columns[-1, -1] = 1.0
    return by_columns, by_group


def metric_of(components: Components, step: np.ndarray, curvature: np.ndarray) -> Metric:
    """Factor the curvature of each rung, for free trajectories and for fixed scales; ``step`` has both."""
    metric = factored(step, np.concatenate([curvature, fix_scales(components, curvature)]))
    scales, n_rungs = scale_coordinates(components), len(curvature)
    metric.inverse[n_rungs:, scales, :] = 0.0
    metric.inverse[n_rungs:, :, scales] = 0.0
    return metric


def fix_scales(components: Components, curvature: np.ndarray) -> np.ndarray:
    """Take the scales out: what is left of them is a unit curvature without ties to anything."""
    scales = scale_coordinates(components)
    fixed = curvature.copy()
    fixed[:, scales, :] = 0.0
    fixed[:, :, scales] = 0.0
    fixed[:, scales, scales] = 1.0
    return fixed


def factored(step: np.ndarray, curvature: np.ndarray) -> Metric:
    """Factor some curvatures as they are."""
    factor = np.stack([_cholesky(matrix) for matrix in curvature])
    unfactor = np.linalg.inv(factor)
    inverse = unfactor.transpose(0, 2, 1) @ unfactor
    return Metric(*(np.ascontiguousarray(part) for part in (step, factor, inverse)))


def solved(curvature: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Solve for the step of a slope under one curvature."""
    step: np.ndarray = cho_solve((_cholesky(curvature), True), slope, check_finite=False)
    return step


def variances(curvature: np.ndarray) -> np.ndarray:
    """Diagonal of the inverse of one curvature."""
    unfactor = solve_triangular(_cholesky(curvature), np.eye(len(curvature)), lower=True, check_finite=False)
    of_each: np.ndarray = np.sum(unfactor**2, axis=0)
    return of_each


def _cholesky(matrix: np.ndarray) -> np.ndarray:
    """Factor a matrix that is positive definite but for rounding."""
    jitter = 0.0
    scale = float(np.abs(np.diagonal(matrix)).max(initial=0.0))
    while True:
        try:
            return np.linalg.cholesky(matrix + jitter * np.eye(len(matrix)))
        except np.linalg.LinAlgError:
            jitter = max(10.0 * jitter, 1e-12 * scale)


def momentum_from(metric: Metric, sets: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Turn standard normal noise, shape (n_positions, n_coordinates), into momentum: F noise."""
    return _times(metric.factor[sets], noise)


def velocity_of(metric: Metric, sets: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    """Inverse mass times momentum."""
    return _times(metric.inverse[sets], momentum)


def kinetic_energy(metric: Metric, sets: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    """Half of momentum times velocity."""
    return 0.5 * np.sum(momentum * velocity_of(metric, sets, momentum), axis=1)


def displaced(metric: Metric, sets: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Turn standard normal noise into a displacement with the inverse mass as covariance: F'^-1 noise."""
    return np.linalg.solve(metric.factor[sets].transpose(0, 2, 1), noise[:, :, None])[:, :, 0]


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.matmul(matrices, vectors[:, :, None])[:, :, 0]
