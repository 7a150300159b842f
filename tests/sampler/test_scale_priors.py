"""Draws of a scale from its prior, whose support is bounded: compiled ones are the plain ones to the last bit."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from disaggregate.model.priors import LOG_SCALE_BOUND, half_normal, inverse_gamma
from disaggregate.sampler.compiled.dense import draw_log_scale

PRIORS = {
    "default": inverse_gamma(3.0, 15.0),
    "half normal": half_normal(0.5),
    "no shape": inverse_gamma(1e-9, 15.0),
    "below the support": inverse_gamma(1e9, 1e-9),
    "above the support": inverse_gamma(1e-9, 1e9),
}


@numba.njit
def compiled_draw(priors, rng):
    """Parts of the sampler can be called from compiled code alone."""
    return draw_log_scale(priors, 0, rng)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_every_prior_can_be_drawn_from(prior):
    plain, compiled = np.random.default_rng(0), np.random.default_rng(0)
    drawn = np.array([prior.draw_log(plain) for _ in range(20)])
    assert (np.abs(drawn) <= LOG_SCALE_BOUND).all()
    assert len(np.unique(drawn)) == 20
    twins = [compiled_draw(np.array([prior]), compiled) for _ in range(20)]
    assert_array_equal(twins, drawn)


def test_what_takes_the_place_of_draws_has_their_law():
    """Nearly all mass of this prior is outside its support; inside it is all but flat above the scale of nu."""
    prior, rng = inverse_gamma(1e-9, 15.0), np.random.default_rng(1)
    drawn = np.array([prior.draw_log(rng) for _ in range(400)])
    t = np.linspace(-LOG_SCALE_BOUND, LOG_SCALE_BOUND, 20_001)
    density = np.exp(prior.log_kernel(t))
    mean = np.average(t, weights=density)
    spread = np.sqrt(np.average((t - mean) ** 2, weights=density))
    assert abs(drawn.mean() - mean) < 5.0 * spread / np.sqrt(400)
    assert drawn.std() == pytest.approx(spread, rel=0.15)
