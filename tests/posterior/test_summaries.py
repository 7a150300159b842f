"""Summaries of draws, alone and with the error of a survey's design."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from disaggregate.posterior.summaries import summarise


def test_without_a_design_they_are_moments_and_quantiles_of_the_draws(rng):
    draws = rng.random((200, 3))
    found = summarise(draws, 0.8)
    assert list(found) == ["estimate", "std_error", "conf_low", "conf_high"]
    assert_allclose(found["estimate"], draws.mean(axis=0))
    assert_allclose(found["std_error"], draws.std(axis=0))
    assert_allclose([found["conf_low"], found["conf_high"]], np.quantile(draws, [0.1, 0.9], axis=0))


def test_errors_add_up_in_squares_and_the_interval_is_that_of_their_sum():
    # Draws at the quantiles of N(0.5, 0.03), blurred by 0.04, are about N(0.5, 0.05).
    draws = norm.ppf((np.arange(2000) + 0.5) / 2000, 0.5, 0.03)[:, None]
    found = summarise(draws, 0.9, np.array([0.04**2]))
    assert_allclose(found["std_error_posterior"], 0.03, rtol=1e-3)
    assert_allclose(found["std_error_design"], 0.04)
    assert_allclose(found["std_error"], 0.05, rtol=1e-3)
    assert_allclose([found["conf_low"], found["conf_high"]], norm.ppf([[0.05], [0.95]], 0.5, 0.05), atol=1e-4)


def test_certain_draws_leave_the_normal_error_of_the_design():
    found = summarise(np.full((7, 1), 0.02), 0.9, np.array([0.03**2]), bounds=(0.0, 1.0))
    assert found["conf_low"] == 0.0
    assert_allclose(found["conf_high"], norm.ppf(0.95, 0.02, 0.03), atol=1e-9)


def test_no_design_error_leaves_the_quantiles(rng):
    draws = rng.random((50, 2))
    assert_allclose(summarise(draws, 0.5, np.zeros(2))["conf_low"], np.quantile(draws, 0.25, axis=0))


def test_what_is_unknown_stays_unknown():
    found = summarise(np.full((4, 1), np.nan), 0.9, np.array([np.nan]))
    assert np.isnan([values[0] for values in found.values()]).all()


def test_level_is_checked():
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        summarise(np.zeros((3, 1)), 90)
