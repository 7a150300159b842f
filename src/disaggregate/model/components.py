"""Score components: f = individual part, one value per row, + context and place, one offset per group.

Each component is a linear map of standard normal weights, times the square root of its own scale delta2:

    individual  u = sum over columns of w_k column_k        (kernels, as principal directions)
    context     o = group averages of the features times w  (people differ by the make-up of their group)
    place       o = w_j                                     (an intercept per group)

A position holds the standard weights, a priori N(0, 1) each, then the logarithms of the scales, and last, where
rows are samples of populations, the error z of :mod:`disaggregate.model.populations`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.model.priors import LOG_SCALE_BOUND, ScalePrior

FIXED = -1  # in ``scale_of``: a weight whose prior deviation is known


class Components(NamedTuple):
    """What weights mean; nothing in it changes.

    Attributes
    ----------
    n_columns : int
        Columns of the individual part; their weights come first.
    context : ndarray of shape (n_groups, n_context)
        Context of each group; no columns without that component.
    n_places : int
        Number of groups, or 0 without the place component.
    deviation : ndarray of shape (n_weights,)
        Prior standard deviation of each weight, in units of its component's delta.
    scale_of : ndarray of int, shape (n_weights,)
        Which scale each weight has, or FIXED.
    priors : ndarray of shape (n_scales, 4)
        Priors of the scales: power, rate and inverse rate as in :class:`ScalePrior`, and log normaliser.
    n_errors : int
        1 where rows are samples of populations, else 0.
    """

    n_columns: int
    context: np.ndarray
    n_places: int
    deviation: np.ndarray
    scale_of: np.ndarray
    priors: np.ndarray
    n_errors: int

    @property
    def n_weights(self) -> int:
        """Number of weights of all components."""
        return len(self.deviation)

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates of a position."""
        return len(self.deviation) + len(self.priors) + self.n_errors

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.context)

    @property
    def scale_priors(self) -> list[ScalePrior]:
        """Priors of the scales."""
        return [ScalePrior(*row[:3]) for row in self.priors.tolist()]


class Scores(NamedTuple):
    """Weights of some positions, and the offset of each group that follows.

    Attributes
    ----------
    weights : ndarray of shape (n_positions, n_weights)
        Of all components.
    group : ndarray of shape (n_positions, n_groups)
        Offset of each group.
    error : ndarray of shape (n_positions,)
        Error z of the ratio of variances.
    """

    weights: np.ndarray
    group: np.ndarray
    error: np.ndarray


def scale_factors(components: Components, position: np.ndarray) -> np.ndarray:
    """Prior standard deviation of each weight at some positions, shape (n_positions, n_weights)."""
    n_weights, n_scales = components.n_weights, len(components.priors)
    scales = np.ones((len(position), n_scales + 1))
    with np.errstate(over="ignore"):
        scales[:, :n_scales] = np.exp(0.5 * position[:, n_weights : n_weights + n_scales])
    return scales[:, components.scale_of] * components.deviation  # FIXED, -1, is the last


def scores_at(components: Components, position: np.ndarray) -> Scores:
    """Weights and offsets at some positions, shape (n_positions, n_coordinates)."""
    with np.errstate(over="ignore", invalid="ignore"):
        weights = position[:, : components.n_weights] * scale_factors(components, position)
        of_context, of_places = group_weights(components, weights)
        group = of_context @ components.context.T
        if components.n_places:
            group = group + of_places
    error = position[:, -1] if components.n_errors else np.zeros(len(position))
    return Scores(weights, group, error)


def group_weights(components: Components, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut the weights of context and places out of all of them."""
    first = components.n_columns + components.context.shape[1]
    return weights[:, components.n_columns : first], weights[:, first:]


def energy_and_force(
    components: Components,
    position: np.ndarray,
    scores: Scores,
    log_likelihood: np.ndarray,
    by_columns: np.ndarray,
    by_group: np.ndarray,
    by_error: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Minus log density of some positions, and minus its gradient, from those of the likelihood.

    Parameters
    ----------
    components : Components
        What weights mean.
    position : ndarray of shape (n_positions, n_coordinates)
        Where.
    scores : Scores
        At these positions.
    log_likelihood, by_error : ndarray of shape (n_positions,)
        Of the reports, and its gradient in z.
    by_columns : ndarray of shape (n_positions, n_columns)
        Its gradient in the weights of the individual part.
    by_group : ndarray of shape (n_positions, n_groups)
        Its gradient in the groups' offsets.
    """
    n_weights, n_scales = components.n_weights, len(components.priors)
    with np.errstate(over="ignore", invalid="ignore"):
        by_weight = np.hstack([by_columns, by_group @ components.context])
        if components.n_places:
            by_weight = np.hstack([by_weight, by_group])
        standard, log_scales = position[:, :n_weights], position[:, n_weights : n_weights + n_scales]
        energy = 0.5 * np.sum(standard**2, axis=1) - log_likelihood
        force = np.empty_like(position)
        force[:, :n_weights] = by_weight * scale_factors(components, position) - standard
        for s, prior in enumerate(components.scale_priors):
            own = components.scale_of == s
            energy = energy - prior.log_density(log_scales[:, s])
            by_scale = 0.5 * np.sum(by_weight[:, own] * scores.weights[:, own], axis=1)
            force[:, n_weights + s] = by_scale + prior.slope(log_scales[:, s])
        if components.n_errors:
            energy = energy + 0.5 * position[:, -1] ** 2
            force[:, -1] = by_error - position[:, -1]
    return energy, force


def draw_from_prior(components: Components, rng: np.random.Generator) -> np.ndarray:
    """Draw a position from the prior."""
    position = rng.standard_normal(components.n_coordinates)
    for s, prior in enumerate(components.scale_priors):
        position[components.n_weights + s] = prior.draw_log(rng)
    return position


def within_bounds(components: Components, position: np.ndarray) -> np.ndarray:
    """Move the scales of some positions inside their support, a little from its ends."""
    scales = slice(components.n_weights, components.n_weights + len(components.priors))
    position = position.copy()
    position[..., scales] = np.clip(position[..., scales], 1.0 - LOG_SCALE_BOUND, LOG_SCALE_BOUND - 1.0)
    return position


def make_components(
    n_columns: int,
    column_deviation: np.ndarray,
    n_fixed: int,
    fixed_deviation: float,
    individual: ScalePrior,
    context: np.ndarray | None,
    context_prior: ScalePrior,
    n_places: int,
    place_prior: ScalePrior,
    n_groups: int,
    has_samples: bool,
) -> Components:
    """Put the components together.

    Parameters
    ----------
    n_columns : int
        Columns of the individual part, the fixed ones included.
    column_deviation : ndarray of shape (n_columns - n_fixed,)
        Prior standard deviation of the others' weights in units of delta.
    n_fixed : int
        Leading columns whose weights have a known deviation: a constant, or none.
    fixed_deviation : float
        That deviation.
    individual, context_prior, place_prior : ScalePrior
        Priors of the scales.
    context : ndarray of shape (n_groups, n_context) or None
        Context of each group.
    n_places : int
        Number of groups, or 0 without the place component.
    n_groups : int
        Number of groups.
    has_samples : bool
        Whether rows are samples of populations.
    """
    n_context = 0 if context is None else context.shape[1]
    deviation = [np.full(n_fixed, fixed_deviation), column_deviation, np.ones(n_context + n_places)]
    scale_of = [np.full(n_fixed, FIXED), np.zeros(len(column_deviation), dtype=np.int64)]
    priors = [individual]
    for size, prior in ((n_context, context_prior), (n_places, place_prior)):
        if size:
            scale_of.append(np.full(size, len(priors)))
            priors.append(prior)
    return Components(
        n_columns=n_columns,
        context=np.zeros((n_groups, 0)) if context is None else np.ascontiguousarray(context, dtype=np.float64),
        n_places=n_places,
        deviation=np.concatenate(deviation),
        scale_of=np.concatenate(scale_of).astype(np.int64),
        priors=np.array([[*prior, prior.log_normaliser] for prior in priors], dtype=np.float64),
        n_errors=int(has_samples),
    )
