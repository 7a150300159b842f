"""What weights mean: scores, energies and forces, and draws from the prior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from disaggregate.model.components import (
    FIXED,
    draw_from_prior,
    energy_and_force,
    make_components,
    scale_coordinates,
    scale_factors,
    scores_at,
    within_bounds,
)
from disaggregate.model.priors import LOG_SCALE_BOUND, half_normal, inverse_gamma
from disaggregate.sampler.dense.target import Target
from tests.helpers.dense_problems import CASES, PlainLikelihood, columns_for, components_for, positions, reports_of

SHAPES = {
    "individual alone": {"context": False, "places": False},
    "context": {"context": True, "places": False},
    "places": {"context": False, "places": True},
    "all": {"context": True, "places": True},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["fractions", "samples and counts"])
def test_force_is_minus_the_gradient_of_the_energy(name: str, shape: str, rng: np.random.Generator) -> None:
    data, reports = reports_of(CASES[name], rng, 3)
    components = components_for(data, rng, **SHAPES[shape])
    assert components.n_errors == int("samples" in name)
    target = Target(components, PlainLikelihood(columns_for(data, rng), reports), reports.powers)
    position, rungs, h = positions(components, 3, rng), np.array([0, 1, 0]), 1e-5
    energy, force = target.evaluate(position, rungs)
    tolerance = 1e-4 if components.n_places else 2e-6  # integrals over intercepts are a few nodes
    assert np.isfinite(energy).all()
    for coordinate in range(components.n_coordinates):
        step = np.zeros(components.n_coordinates)
        step[coordinate] = h
        ahead, behind = (target.evaluate(position + sign * step, rungs)[0] for sign in (1.0, -1.0))
        scale = 1.0 + np.abs(force[:, coordinate])
        np.testing.assert_allclose(
            force[:, coordinate] / scale,
            (behind - ahead) / (2.0 * h) / scale,
            atol=tolerance,
            err_msg=str(coordinate),
        )


def test_energy_is_the_prior_where_nothing_is_reported(rng: np.random.Generator) -> None:
    data, _ = reports_of(CASES["samples"], rng)
    components = components_for(data, rng)
    position = positions(components, 5, rng)
    nothing = [np.zeros((5, n)) for n in (components.n_columns, components.n_groups)]
    scores = scores_at(components, position)
    energy, force = energy_and_force(components, position, scores, np.zeros(5), *nothing, np.zeros(5), np.zeros(5))
    weights, log_scales = position[:, : components.n_weights], position[:, components.n_weights : -1]
    expected = -0.5 * (weights**2).sum(axis=1) - 0.5 * position[:, -1] ** 2
    for s, prior in enumerate(components.scale_priors):
        expected = expected + prior.log_density(log_scales[:, s])
    np.testing.assert_allclose(energy, -expected)
    np.testing.assert_allclose(force[:, : components.n_weights], -weights)
    np.testing.assert_allclose(force[:, -1], -position[:, -1])


def test_scores_have_the_scales_of_their_own_components(rng: np.random.Generator) -> None:
    context = rng.standard_normal((3, 2))
    components = make_components(
        3, np.array([2.0, 0.5]), 1, 1.5, inverse_gamma(3, 3), context, half_normal(1), 3, half_normal(1), 3, True
    )
    assert components.scale_of.tolist() == [FIXED, 0, 0, 1, 1]
    assert components.has_level
    assert components.n_coordinates == 5 + 3 + 1
    assert scale_coordinates(components).tolist() == [5, 6]  # intercepts, and so their scale, are not fixed
    standard = rng.standard_normal(5)
    delta2 = np.array([4.0, 9.0, 0.25])
    position = np.concatenate([standard, np.log(delta2), [0.3]])[None]
    scores = scores_at(components, position)
    deviation = np.array([1.5, 2.0 * 2.0, 2.0 * 0.5, 3.0, 3.0])
    np.testing.assert_allclose(scale_factors(components, position)[0], deviation)
    np.testing.assert_allclose(scores.weights[0, 1:], (standard * deviation)[1:])
    np.testing.assert_allclose(scores.group[0], context @ (3.0 * standard[3:]))
    assert scores.deviation[0] == pytest.approx(0.5)
    assert scores.error[0] == 0.3


def test_the_constant_follows_the_variance_of_the_scores(rng: np.random.Generator) -> None:
    """So that the average probability is about that of the constant's own weight, whatever the scales are."""
    n_groups, n_columns = 400, 30
    context = rng.standard_normal((n_groups, 2))
    columns = 0.8 * rng.standard_normal((n_columns, 50 * n_groups))
    columns[0] = 1.0
    components = make_components(
        n_columns, np.ones(n_columns - 1), 1, 1.5, inverse_gamma(3, 3), context, half_normal(1), n_groups,
        half_normal(1), n_groups, False, column_square=0.64,
    )  # fmt: skip
    position = rng.standard_normal((4, components.n_coordinates))
    position[:, 0] = 0.4
    position[:, -3:] = np.log([[1e-6, 1e-6, 1e-6], [0.2, 1.0, 0.5], [0.01, 0.02, 4.0], [0.01, 3.0, 0.01]])
    scores = scores_at(components, position)
    for weights, group, deviation in zip(*scores[:3], strict=True):
        offsets = group + deviation * rng.standard_normal(n_groups)
        f = weights[:n_columns] @ columns + np.repeat(offsets, 50)
        assert weights[0] == pytest.approx(0.4 * 1.5 * np.sqrt(1.0 + f.var()), rel=0.1)
        assert ndtr(f).mean() == pytest.approx(ndtr(0.4 * 1.5), abs=0.03)
    assert scores.weights[1, 0] > 1.5 * scores.weights[0, 0]


def test_without_a_separate_constant_no_weight_follows_another(rng: np.random.Generator) -> None:
    components = make_components(
        3, np.ones(3), 0, 1.5, inverse_gamma(3, 3), rng.standard_normal((4, 1)), half_normal(1), 4, half_normal(1),
        4, False, column_square=0.64,
    )  # fmt: skip
    assert not components.has_level
    assert not components.spread.any()
    position = rng.standard_normal((2, components.n_coordinates))
    scores = scores_at(components, position)
    np.testing.assert_allclose(scores.weights, position[:, :4] * scale_factors(components, position))


def test_without_samples_there_is_no_error(rng: np.random.Generator) -> None:
    components = make_components(
        2, np.ones(2), 0, 1.0, inverse_gamma(3, 3), None, half_normal(1), 0, half_normal(1), 4, False
    )
    assert components.n_coordinates == 3
    scores = scores_at(components, rng.standard_normal((2, 3)))
    assert np.all(scores.error == 0.0)
    assert np.all(scores.group == np.zeros((2, 4)))
    assert np.all(scores.deviation == 0.0)


def test_draws_from_the_prior(rng: np.random.Generator) -> None:
    data, _ = reports_of(CASES["samples"], rng)
    components = components_for(data, rng)
    drawn = np.array([draw_from_prior(components, rng) for _ in range(3000)])
    n_weights, n_scales = components.n_weights, len(components.priors)
    for coordinate in (0, n_weights - 1, drawn.shape[1] - 1):
        assert stats.kstest(drawn[:, coordinate], "norm").pvalue > 1e-3
    scales = np.exp(drawn[:, n_weights : n_weights + n_scales])
    laws = (
        stats.invgamma(3.0, scale=4.0),
        stats.gamma(0.5, scale=2.0 * 0.64),
        stats.geninvgauss(0.5, 0.05 / 0.5, scale=0.05 * 0.5),
    )
    for s, law in enumerate(laws):
        assert stats.kstest(scales[:, s], law.cdf).pvalue > 1e-3
        assert stats.kstest(scales[:, s], laws[s - 1].cdf).pvalue < 1e-6  # scales are not mixed up


def test_weights_far_away_do_not_warn(rng: np.random.Generator) -> None:
    data, _ = reports_of(CASES["fractions"], rng)
    components = components_for(data, rng)
    position = np.full((1, components.n_coordinates), 2000.0)
    assert not np.isfinite(scores_at(components, position).weights).all()


def test_scales_are_moved_inside_their_support(rng: np.random.Generator) -> None:
    data, _ = reports_of(CASES["samples"], rng)
    components = components_for(data, rng)
    position = np.full(components.n_coordinates, 100.0)
    moved = within_bounds(components, position)
    scales = slice(components.n_weights, components.n_weights + len(components.priors))
    assert np.all(moved[scales] == LOG_SCALE_BOUND - 1.0)
    assert np.all(np.delete(moved, np.arange(scales.start, scales.stop)) == 100.0)
    assert np.all(position == 100.0)
