"""Score components: f = individual component, one value per row, + context and place, one offset per group.

Each component has its own scale delta2, and is normal with it:

    individual  u = sum over columns of w_k column_k        (kernels, as principal directions)
    context     c = group averages of the features times w  (effect of the composition of the group)
    place       o ~ N(c, delta2)                            (an intercept per group, centred at the context)

Intercepts are integrated out (:mod:`disaggregate.model.places`), so a position holds the standard weights of the
first two, a priori N(0, 1) each, then the logarithms of all scales, last those of the noise of reports, where it
is learned (:mod:`disaggregate.model.report_noise`), and of the place component, and at the end, where rows are
samples of populations, the error z of :mod:`disaggregate.model.populations`. Before the scale of places comes
that of cells (:mod:`disaggregate.model.cells`), where there are any.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.model.cells import correlation_of
from disaggregate.model.priors import LOG_SCALE_BOUND, ScalePrior

FIXED = -1  # in ``scale_of``: a weight whose prior deviation is known


class Components(NamedTuple):
    """Layout, scales and priors of the weights; constant during a fit.

    Attributes
    ----------
    n_columns : int
        Columns of the individual component; their weights come first.
    context : ndarray of shape (n_groups, n_context)
        Context of each group; no columns without that component.
    n_places : int
        Number of groups, or 0 without the place component, whose scale is the last.
    deviation : ndarray of shape (n_weights,)
        Prior standard deviation of each weight, in units of its component's delta.
    scale_of : ndarray of int, shape (n_weights,)
        Which scale each weight has, or FIXED.
    priors : ndarray of shape (n_scales, 4)
        Priors of the scales: power, rate and inverse rate as in :class:`ScalePrior`, and log normaliser.
    spread : ndarray of shape (n_weights,)
        How much the square of each weight adds to the variance of f over individuals. Where the first column is a
        constant outside the scales, its weight is b = x sqrt(1 + variance of f) times its deviation: the average
        probability then depends on x alone, about, and not on how far individuals differ. Otherwise zeros.
    n_errors : int
        1 where rows are samples of populations, else 0.
    n_noises : int
        1 where it is learned how exact reports are (:mod:`disaggregate.model.report_noise`), else 0. Its scale,
        1 / chi, comes after those of weights.
    n_cells : int
        1 where rows are cells whose people are more alike than their features say
        (:mod:`disaggregate.model.cells`), else 0. Its scale comes before that of places.
    """

    n_columns: int
    context: np.ndarray
    n_places: int
    deviation: np.ndarray
    scale_of: np.ndarray
    priors: np.ndarray
    spread: np.ndarray
    n_errors: int
    n_noises: int = 0
    n_cells: int = 0

    @property
    def n_weights(self) -> int:
        """Number of weights of the individual component and of context."""
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
    def noise_coordinate(self) -> int:
        """Coordinate of the logarithm of 1 / chi, where that is learned."""
        return self.cell_coordinate - self.n_cells

    @property
    def cell_coordinate(self) -> int:
        """Coordinate of the logarithm of the scale of cells, where there are any."""
        return self.n_weights + len(self.priors) - 1 - bool(self.n_places)

    @property
    def scale_priors(self) -> list[ScalePrior]:
        """Priors of the scales."""
        return [ScalePrior(*row[:3]) for row in self.priors.tolist()]

    @property
    def has_level(self) -> bool:
        """Whether the first weight is that of a constant outside the scales."""
        return bool(len(self.scale_of) and self.scale_of[0] == FIXED)


class Scores(NamedTuple):
    """Weights of some positions, and what follows for the groups.

    Attributes
    ----------
    weights : ndarray of shape (n_positions, n_weights)
        Of the individual component and of context.
    group : ndarray of shape (n_positions, n_groups)
        Centre of each group's offset.
    deviation : ndarray of shape (n_positions,)
        Standard deviation of the offsets around their centres; 0 without the place component.
    error : ndarray of shape (n_positions,)
        Error z of the ratio of variances.
    noise : ndarray of shape (n_positions,)
        Logarithm of 1 / chi, where it is learned how exact reports are; else 0.
    correlation : ndarray of shape (n_positions,)
        How alike people of one cell are; see :mod:`disaggregate.model.cells`.
    """

    weights: np.ndarray
    group: np.ndarray
    deviation: np.ndarray
    error: np.ndarray
    noise: np.ndarray
    correlation: np.ndarray


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
        group = weights[:, components.n_columns :] @ components.context.T
        last_scale = position[:, components.n_weights + len(components.priors) - 1]
        deviation = np.exp(0.5 * last_scale) if components.n_places else np.zeros(len(position))
        if components.has_level:
            weights[:, 0] *= np.sqrt(1.0 + weights**2 @ components.spread + deviation**2)
    # A contiguous copy: strided arrays have another type, for which compiled code would be compiled again.
    error = position[:, -1].copy() if components.n_errors else np.zeros(len(position))
    noise = position[:, components.noise_coordinate] if components.n_noises else np.zeros(len(position))
    correlation = np.zeros(len(position))
    if components.n_cells:
        correlation = correlation_of(position[:, components.cell_coordinate])
    return Scores(weights, group, deviation, error, noise, correlation)


def scale_coordinates(components: Components) -> np.ndarray:
    """Coordinates of the log scales whose weights are coordinates too: those of individuals and of context."""
    n_scales = len(components.priors) - bool(components.n_places) - components.n_noises - components.n_cells
    return components.n_weights + np.arange(n_scales)


def energy_and_force(
    components: Components,
    position: np.ndarray,
    scores: Scores,
    log_likelihood: np.ndarray,
    by_columns: np.ndarray,
    by_group: np.ndarray,
    by_error: np.ndarray,
    by_scale: np.ndarray,
    by_noise: np.ndarray | float = 0.0,
    by_correlation: np.ndarray | float = 0.0,
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
    log_likelihood, by_error, by_scale, by_noise : ndarray of shape (n_positions,)
        Of the reports, and its gradient in z, in the log scale of the place component, and in that of reports.
    by_correlation : ndarray of shape (n_positions,)
        Its gradient in the overdispersion of cells.
    by_columns : ndarray of shape (n_positions, n_columns)
        Its gradient in the weights of the individual component.
    by_group : ndarray of shape (n_positions, n_groups)
        Its gradient in the centres of the groups' offsets.
    """
    n_weights, n_scales = components.n_weights, len(components.priors)
    with np.errstate(over="ignore", invalid="ignore"):
        by_weight = by_columns
        if components.n_columns < n_weights:
            by_weight = np.concatenate([by_columns, by_group @ components.context], axis=1)
        standard, log_scales = position[:, :n_weights], position[:, n_weights : n_weights + n_scales]
        factors = scale_factors(components, position)
        if components.has_level:
            variance = 1.0 + (scores.weights**2) @ components.spread + scores.deviation**2
            by_variance = (by_weight[:, 0] * scores.weights[:, 0] / variance)[:, None]
            factors[:, 0] *= np.sqrt(variance)
            by_weight = by_weight + by_variance * components.spread * scores.weights
            by_scale = by_scale + 0.5 * by_variance[:, 0] * scores.deviation**2
        log_density, slope = _log_scale_densities(components.priors, log_scales)
        energy = 0.5 * (standard**2).sum(axis=1) - log_likelihood - log_density
        force = np.empty_like(position)
        force[:, :n_weights] = by_weight * factors - standard
        own = components.scale_of[:, None] == np.arange(n_scales)
        force[:, n_weights : n_weights + n_scales] = 0.5 * ((by_weight * scores.weights) @ own) + slope
        if components.n_places:
            force[:, n_weights + n_scales - 1] += by_scale
        if components.n_noises:
            force[:, components.noise_coordinate] += by_noise
        if components.n_cells:
            of_log_scale = scores.correlation * (1.0 - scores.correlation)
            force[:, components.cell_coordinate] += by_correlation * of_log_scale
        if components.n_errors:
            energy = energy + 0.5 * position[:, -1] ** 2
            force[:, -1] = by_error - position[:, -1]
    return energy, force


def _log_scale_densities(priors: np.ndarray, log_scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log density of all scales of each position, and its gradient; all of :class:`ScalePrior` at once."""
    power, rate, inverse_rate, log_normaliser = priors.T
    rising, falling = rate * np.exp(log_scales), inverse_rate * np.exp(-log_scales)
    value = power * log_scales - rising - falling - log_normaliser
    return np.where(np.abs(log_scales) <= LOG_SCALE_BOUND, value, -np.inf).sum(axis=1), power - rising + falling


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
    column_square: float = 0.0,
    report_prior: ScalePrior | None = None,
    cell_prior: ScalePrior | None = None,
) -> Components:
    """Put the components together.

    Parameters
    ----------
    n_columns : int
        Columns of the individual component, the fixed ones included.
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
    column_square : float, default=0.0
        Mean square of the columns that are not constant.
    report_prior : ScalePrior, optional
        Prior of 1 / chi, where it is learned how exact reports are.
    cell_prior : ScalePrior, optional
        Prior of the scale of cells, where people of one cell are more alike than their features say.
    """
    n_context = 0 if context is None else context.shape[1]
    deviation = [np.full(n_fixed, fixed_deviation), column_deviation, np.ones(n_context)]
    scale_of = [np.full(n_fixed, FIXED), np.zeros(len(column_deviation), dtype=np.int64)]
    priors = [individual]
    if n_context:
        scale_of.append(np.full(n_context, len(priors)))
        priors.append(context_prior)
    if report_prior is not None:
        priors.append(report_prior)
    if cell_prior is not None:
        priors.append(cell_prior)
    if n_places:
        priors.append(place_prior)
    spread = np.zeros(n_columns + n_context)
    if n_fixed:
        spread[n_fixed:n_columns] = column_square
        if context is not None:
            spread[n_columns:] = np.mean(context**2, axis=0)
    return Components(
        n_columns=n_columns,
        context=np.zeros((n_groups, 0)) if context is None else np.ascontiguousarray(context, dtype=np.float64),
        n_places=n_places,
        deviation=np.concatenate(deviation),
        scale_of=np.concatenate(scale_of).astype(np.int64),
        priors=np.array([[*prior, prior.log_normaliser] for prior in priors], dtype=np.float64),
        spread=spread,
        n_errors=int(has_samples),
        n_noises=int(report_prior is not None),
        n_cells=int(cell_prior is not None),
    )
