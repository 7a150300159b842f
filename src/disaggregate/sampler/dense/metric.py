"""The mass of Hamiltonian trajectories: how narrow the posterior is along every direction.

Given everything else, the intercepts of different places are independent, as each touches its own group alone.
Their block of the mass matrix is therefore diagonal, and with the places first its Cholesky factor is

    [ D      0 ]
    [ K      L ]

so that thousands of places cost no more than their number times that of the other coordinates.

Where the reports tell the weights well, a scale and its weights lie on a curve that no mass matrix follows. So
there are two kinds of trajectories: free ones, and ones that hold the scales, along which the density is nearly
normal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.model.components import Components, scale_factors


class Curvature(NamedTuple):
    """Of minus the log density, at some positions: the other coordinates, the places, and both.

    Attributes
    ----------
    rest : ndarray of shape (n_positions, n_rest, n_rest)
        Of all coordinates but the places.
    coupling : ndarray of shape (n_positions, n_rest, n_places)
        Between these and the places.
    place : ndarray of shape (n_positions, n_places)
        Of the places, whose block is diagonal.
    """

    rest: np.ndarray
    coupling: np.ndarray
    place: np.ndarray


class Metric(NamedTuple):
    """Steps and masses of Hamiltonian trajectories: a set per rung for free ones, then one for held scales.

    Attributes
    ----------
    step : ndarray of shape (n_sets,)
        Step of each set.
    place : ndarray of shape (n_sets, n_places)
        D above.
    coupling : ndarray of shape (n_sets, n_rest, n_places)
        K; zero for held scales.
    factor : ndarray of shape (n_sets, n_rest, n_rest)
        L.
    inverse : ndarray of shape (n_sets, n_rest, n_rest)
        The inverse of L L'; zero for held scales, which so have no velocity.
    """

    step: np.ndarray
    place: np.ndarray
    coupling: np.ndarray
    factor: np.ndarray
    inverse: np.ndarray


class Information(NamedTuple):
    """Expected curvature of minus the log likelihood, as pieces that each tell of one sum.

    Attributes
    ----------
    columns : ndarray of shape (n_columns + n_errors, n_columns + n_errors)
        In the weights of the individual part, and in z.
    cross : ndarray of shape (n_columns + n_errors, n_groups)
        Between these and the groups' offsets.
    group : ndarray of shape (n_groups,)
        In the offsets.
    """

    columns: np.ndarray
    cross: np.ndarray
    group: np.ndarray


# Scales whose prior and data tell next to nothing still have a width.
_LEAST_SCALE_CURVATURE = 0.15


def rest_of(components: Components) -> np.ndarray:
    """Coordinates that are no places, in their order."""
    places = first_place(components) + np.arange(components.n_places)
    return np.setdiff1d(np.arange(components.n_coordinates), places)


def first_place(components: Components) -> int:
    """Coordinate of the first place."""
    return components.n_columns + components.context.shape[1]


def posterior_curvature(components: Components, position: np.ndarray, information: list[Information]) -> Curvature:
    """Curvature of minus the log density, from that of the likelihood.

    Parameters
    ----------
    components : Components
        What weights mean.
    position : ndarray of shape (n_positions, n_coordinates)
        Where.
    information : list of Information
        At each of these positions.
    """
    parts = [_one_curvature(components, *pair) for pair in zip(position, information, strict=True)]
    return Curvature(*(np.stack(arrays) for arrays in zip(*parts, strict=True)))


def _one_curvature(
    components: Components, position: np.ndarray, information: Information
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    by_columns, by_group = _jacobians(components, position)
    scaled = information.columns @ by_columns
    crossed = by_columns.T @ information.cross  # (rest, groups)
    rest = by_columns.T @ scaled + crossed @ by_group + (crossed @ by_group).T
    rest += by_group.T @ (information.group[:, None] * by_group)
    diagonal = np.ones(len(rest))
    first, n_scales = first_place(components), len(components.priors)
    log_scales = position[components.n_weights : components.n_weights + n_scales]
    for s, prior in enumerate(components.scale_priors):
        diagonal[first + s] = max(prior.curvature(log_scales[s]), _LEAST_SCALE_CURVATURE)
    rest[np.arange(len(rest)), np.arange(len(rest))] += diagonal
    deviation = scale_factors(components, position[None])[0, first:]
    if not components.n_places:
        return rest, np.zeros((len(rest), 0)), np.zeros(0)
    coupling = (crossed + by_group.T * information.group) * deviation
    return rest, coupling, 1.0 + information.group * deviation**2


def _jacobians(components: Components, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differentiate the columns' weights (and z), and the offsets, in all coordinates but the places."""
    n_columns = components.n_columns
    n_scales, n_errors, first = len(components.priors), components.n_errors, first_place(components)
    n_rest = first + n_scales + n_errors
    deviation = scale_factors(components, position[None])[0]
    weights = position[: components.n_weights] * deviation
    by_columns = np.zeros((n_columns + n_errors, n_rest))
    by_group = np.zeros((components.n_groups, n_rest))
    by_columns[np.arange(n_columns), np.arange(n_columns)] = deviation[:n_columns]
    by_group[:, n_columns:first] = components.context * deviation[n_columns:first]
    for s in range(n_scales):
        own = components.scale_of == s
        by_columns[:n_columns, first + s] = 0.5 * np.where(own[:n_columns], weights[:n_columns], 0.0)
        of_context = np.where(own[n_columns:first], weights[n_columns:first], 0.0)
        by_group[:, first + s] = 0.5 * (components.context @ of_context)
        if components.n_places and own[-1]:
            by_group[:, first + s] += 0.5 * weights[first:]
    if n_errors:
        by_columns[-1, -1] = 1.0
    return by_columns, by_group


def metric_of(components: Components, step: np.ndarray, curvature: Curvature) -> Metric:
    """Factor the curvature of each rung, for free trajectories and for held scales; ``step`` has both."""
    held = hold_scales(components, curvature)
    both = Curvature(*(np.concatenate(parts) for parts in zip(curvature, held, strict=True)))
    metric = factored(step, both)
    scales, n_rungs = first_place(components) + np.arange(len(components.priors)), len(curvature.rest)
    metric.inverse[n_rungs:, scales, :] = 0.0
    metric.inverse[n_rungs:, :, scales] = 0.0
    return metric


def hold_scales(components: Components, curvature: Curvature) -> Curvature:
    """Take the scales out: what is left of them is a unit curvature without ties to anything."""
    scales = first_place(components) + np.arange(len(components.priors))
    rest, coupling = curvature.rest.copy(), curvature.coupling.copy()
    rest[:, scales, :] = 0.0
    rest[:, :, scales] = 0.0
    rest[:, scales, scales] = 1.0
    coupling[:, scales] = 0.0
    return Curvature(rest, coupling, curvature.place)


def factored(step: np.ndarray, curvature: Curvature) -> Metric:
    """Factor some curvatures as they are."""
    place = np.sqrt(curvature.place)
    coupling = curvature.coupling / np.where(place > 0.0, place, 1.0)[:, None, :]
    schur = curvature.rest - coupling @ coupling.transpose(0, 2, 1)
    factor = np.stack([_cholesky(matrix) for matrix in schur])
    unfactor = np.linalg.inv(factor)
    inverse = unfactor.transpose(0, 2, 1) @ unfactor
    return Metric(*(np.ascontiguousarray(part) for part in (step, place, coupling, factor, inverse)))


def _cholesky(matrix: np.ndarray) -> np.ndarray:
    """Factor a matrix that is positive definite but for rounding."""
    jitter = 0.0
    scale = float(np.abs(np.diagonal(matrix)).max(initial=0.0))
    while True:
        try:
            return np.linalg.cholesky(matrix + jitter * np.eye(len(matrix)))
        except np.linalg.LinAlgError:
            jitter = max(10.0 * jitter, 1e-12 * scale)


def momentum_from(components: Components, metric: Metric, sets: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Turn standard normal noise, shape (n_positions, n_coordinates), into momentum: F noise."""
    rest, places = rest_of(components), _places(components)
    momentum = np.empty_like(noise)
    momentum[:, places] = metric.place[sets] * noise[:, places]
    momentum[:, rest] = _times(metric.factor[sets], noise[:, rest]) + _times(
        metric.coupling[sets], noise[:, places]
    )
    return momentum


def velocity_of(components: Components, metric: Metric, sets: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    """Inverse mass times momentum."""
    rest, places = rest_of(components), _places(components)
    velocity = np.empty_like(momentum)
    of_places = momentum[:, places] / metric.place[sets]
    velocity[:, rest] = _times(metric.inverse[sets], momentum[:, rest] - _times(metric.coupling[sets], of_places))
    back = _times(metric.coupling[sets].transpose(0, 2, 1), velocity[:, rest])
    velocity[:, places] = (of_places - back) / metric.place[sets]
    return velocity


def kinetic_energy(components: Components, metric: Metric, sets: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    """Half of momentum times velocity."""
    return 0.5 * np.sum(momentum * velocity_of(components, metric, sets, momentum), axis=1)


def displaced(components: Components, metric: Metric, sets: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Turn standard normal noise into a displacement with the inverse mass as covariance: F'^-1 noise."""
    rest, places = rest_of(components), _places(components)
    result = np.empty_like(noise)
    factor = metric.factor[sets].transpose(0, 2, 1)
    result[:, rest] = np.linalg.solve(factor, noise[:, rest][:, :, None])[:, :, 0]
    back = _times(metric.coupling[sets].transpose(0, 2, 1), result[:, rest])
    result[:, places] = (noise[:, places] - back) / metric.place[sets]
    return result


def _places(components: Components) -> np.ndarray:
    return first_place(components) + np.arange(components.n_places)


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.matmul(matrices, vectors[:, :, None])[:, :, 0]
