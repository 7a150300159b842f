"""Priors of the scales: what they integrate to, their derivatives, and draws from them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from disaggregate.model.priors import LOG_SCALE_BOUND, ScalePrior, half_normal, inverse_gamma

PRIORS = {
    "inverse gamma": inverse_gamma(3.0, 15.0),
    "sharp inverse gamma": inverse_gamma(40.0, 2.0),
    "half normal": half_normal(0.5),
    "wide half normal": half_normal(20.0),
    "half normal with a floor": half_normal(0.5, 0.1),
    "both rates": ScalePrior(-2.0, 0.4, 1.5),
}
KNOWN = {
    "inverse gamma": stats.invgamma(1.5, scale=7.5),
    "sharp inverse gamma": stats.invgamma(20.0, scale=1.0),
    "half normal": stats.gamma(0.5, scale=2.0 * 0.25),
    "wide half normal": stats.gamma(0.5, scale=2.0 * 400.0),
    "half normal with a floor": stats.geninvgauss(0.5, 0.1 / 0.5, scale=0.1 * 0.5),
    "both rates": stats.geninvgauss(-2.0, 2.0 * np.sqrt(0.6), scale=np.sqrt(1.5 / 0.4)),
}

names = pytest.mark.parametrize("name", PRIORS)


@names
def test_density_integrates_to_one(name: str) -> None:
    total, error = integrate.quad(
        lambda t: float(np.exp(PRIORS[name].log_density(t))),
        -LOG_SCALE_BOUND,
        LOG_SCALE_BOUND,
        points=[PRIORS[name].center],
        limit=200,
    )
    assert error < 1e-7
    assert total == pytest.approx(1.0, abs=1e-6)  # bounds cut off next to nothing


@names
def test_density_is_that_of_the_named_law(name: str) -> None:
    log_scale = np.linspace(-6.0, 6.0, 25)
    expected = KNOWN[name].logpdf(np.exp(log_scale)) + log_scale
    np.testing.assert_allclose(PRIORS[name].log_density(log_scale), expected, rtol=1e-9, atol=1e-9)


def test_half_normal_is_the_law_of_a_standard_deviation() -> None:
    """Written for delta, not for its square."""
    delta = np.array([0.01, 0.3, 1.0, 2.5])
    expected = stats.halfnorm(scale=0.7).logpdf(delta) + np.log(delta / 2.0)  # d log delta2 = 2 d delta / delta
    np.testing.assert_allclose(half_normal(0.7).log_density(2.0 * np.log(delta)), expected, rtol=1e-10)


@names
def test_slope_and_curvature(name: str) -> None:
    prior, h = PRIORS[name], 1e-4
    t = np.linspace(-4.0, 4.0, 17)
    ahead, here, behind = (prior.log_density(t + shift) for shift in (h, 0.0, -h))
    np.testing.assert_allclose(prior.slope(t), (ahead - behind) / (2.0 * h), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(prior.curvature(t), -(ahead - 2.0 * here + behind) / h**2, rtol=1e-4, atol=1e-3)


@names
def test_draws_follow_the_density(name: str, rng: np.random.Generator) -> None:
    drawn = np.array([PRIORS[name].draw(rng) for _ in range(4000)])
    assert stats.kstest(drawn, KNOWN[name].cdf).pvalue > 1e-3


def test_draws_of_another_law_are_distinguished(rng: np.random.Generator) -> None:
    drawn = np.array([half_normal(0.6).draw(rng) for _ in range(4000)])
    assert stats.kstest(drawn, KNOWN["half normal"].cdf).pvalue < 1e-6


@names
def test_center_is_typical(name: str) -> None:
    assert 0.05 < KNOWN[name].cdf(np.exp(PRIORS[name].center)) < 0.95


def test_below_its_floor_a_half_normal_deviation_has_next_to_no_mass() -> None:
    prior, without = half_normal(0.5, 0.1), half_normal(0.5)
    below, above = 2.0 * np.log(0.02), 2.0 * np.log([0.3, 1.0])
    assert prior.log_density(below) < without.log_density(below) - 10.0
    np.testing.assert_allclose(prior.log_density(above), without.log_density(above), atol=0.25)


def test_a_prior_with_next_to_no_mass_in_the_support(rng: np.random.Generator) -> None:
    """Slices take the place of draws that all fall outside."""
    prior = ScalePrior(50.0, 1e-30, 0.0)
    drawn = np.array([prior.draw_log(rng) for _ in range(50)])
    assert np.all(np.abs(drawn) <= LOG_SCALE_BOUND)
    assert np.all(drawn > LOG_SCALE_BOUND - 1.0)  # the density grows to the upper end


@pytest.mark.parametrize("name", ["inverse gamma", "sharp inverse gamma", "half normal", "wide half normal"])
def test_median(name: str) -> None:
    assert KNOWN[name].cdf(PRIORS[name].median) == pytest.approx(0.5, abs=1e-9)


def test_outside_its_support_the_density_is_zero() -> None:
    prior = half_normal(1.0)
    outside = np.array([-LOG_SCALE_BOUND - 1e-9, LOG_SCALE_BOUND + 1e-9, 1e9])
    assert np.all(prior.log_density(outside) == -np.inf)
    assert np.isfinite(prior.log_density(LOG_SCALE_BOUND))


def test_draws_stay_inside_the_support(rng: np.random.Generator) -> None:
    """A prior with half of its mass outside."""
    prior = ScalePrior(0.02, 1.0, 0.0)
    drawn = np.array([prior.draw_log(rng) for _ in range(300)])
    assert np.all(np.abs(drawn) <= LOG_SCALE_BOUND)
    assert drawn.min() < -20.0
