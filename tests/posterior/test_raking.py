"""Raked probabilities have the means that were reported, and keep the order of people."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit, ndtri

from disaggregate.posterior import blocks
from disaggregate.posterior.raking import raked
from tests.posterior.predictors import of_table

GROUPS = np.array(list("abcabcabcaad"))
SHARES = {"a": 0.73, "b": 0.02, "c": 0.999}
EVERYBODY = slice(0, len(GROUPS))


@pytest.fixture
def draws(rng):
    return rng.uniform(0.001, 0.999, (20, len(GROUPS)))


@pytest.mark.parametrize("scale", ["probit", "logit"])
@pytest.mark.parametrize("weighted", [False, True])
def test_means_hit_the_shares_in_every_draw(draws, rng, scale, weighted):
    weights = rng.gamma(1.0, size=len(GROUPS)) if weighted else None
    found = raked(of_table(draws), GROUPS, SHARES, weights, scale=scale)(EVERYBODY)
    for group, share in SHARES.items():
        inside = group == GROUPS
        mean = np.average(found[:, inside], axis=1, weights=weights[inside] if weighted else None)
        assert_allclose(mean, share, atol=1e-10)


@pytest.mark.parametrize(("scale", "to_score"), [("probit", ndtri), ("logit", logit)])
def test_all_of_a_group_move_by_one_constant(draws, scale, to_score):
    found = raked(of_table(draws), GROUPS, SHARES, scale=scale)(EVERYBODY)
    moves = (to_score(found) - to_score(draws))[:, GROUPS == "a"]
    assert np.ptp(moves, axis=1).max() < 1e-6
    assert np.ptp(moves[:, 0]) > 0.01


def test_groups_without_a_share_stay(draws):
    found = raked(of_table(draws), GROUPS, pd.Series({"a": 0.5, "b": np.nan, "z": 0.1}))(EVERYBODY)
    assert_array_equal(found[:, GROUPS != "a"], draws[:, GROUPS != "a"])


def test_any_rows_may_be_asked_for(draws):
    probability = raked(of_table(draws), GROUPS, SHARES)
    whole = probability(EVERYBODY)
    for rows in (slice(3, 7), np.array([11, 0, 5]), np.array([11])):
        assert_allclose(probability(rows), whole[:, rows], rtol=1e-12)


def test_shares_of_nobody_and_of_everybody():
    draws = np.array([[0.2, 0.0, 0.7, 1.0]])
    found = raked(of_table(draws), [0, 0, 1, 1], {0: 1.0, 1: 0.0})(slice(0, 4))
    assert_array_equal(found, [[1, 1, 0, 0]])


def test_saturated_probabilities_can_still_move():
    draws = np.array([[0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1e-30]])
    found = raked(of_table(draws), [0] * 4, {0: 0.4})(slice(0, 4))
    assert_allclose(found.mean(axis=1), 0.4, atol=1e-8)


def test_a_large_group_is_never_held_whole(rng, monkeypatch):
    monkeypatch.setattr(blocks, "_VALUES_AT_ONCE", 5 * 30)
    draws = rng.uniform(0.05, 0.95, (5, 200))
    probability = of_table(draws)
    found = raked(probability, np.zeros(200, int), {0: 0.31})
    assert max(map(len, probability.asked)) <= 30
    assert sum(map(len, probability.asked)) <= 1 + 8 * 200  # Newton's steps are few
    assert_allclose(found(slice(0, 200)).mean(axis=1), 0.31, atol=1e-10)


def test_bad_input_is_explained(draws):
    with pytest.raises(ValueError, match=r"such as \['a', 'b', 'c'\], but got \['x'\]"):
        raked(of_table(draws), GROUPS, {"x": 0.5})
    with pytest.raises(ValueError, match=r"share of group 'a' must lie between 0 and 1, got 73"):
        raked(of_table(draws), GROUPS, {"a": 73})
    with pytest.raises(ValueError, match='scale must be "probit" or "logit"'):
        raked(of_table(draws), GROUPS, SHARES, scale="log")
    with pytest.raises(ValueError, match="a member with a weight above 0"):
        raked(of_table(draws), GROUPS, SHARES, (GROUPS != "a").astype(float))
