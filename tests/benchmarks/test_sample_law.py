from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks.sample_law import LAWS, POPULATION, RATES, judged, rate_draws, report, simulate, unequal_sample


def test_nobody_is_sampled_twice_and_everybody_as_often_as_is_reported(rng):
    liking = np.array([1.0, 1.0, 3.0, 3.0, 2.0, 2.0])
    times = np.zeros(6)
    for _ in range(4000):
        chosen, chance = unequal_sample(rng, liking, 2)
        assert len(set(chosen)) == 2
        assert_allclose(chance, 2.0 * liking[chosen] / liking.sum())
        times[chosen] += 1.0
    assert_allclose(times / 4000, 2.0 * liking / liking.sum(), atol=0.03)


def test_weights_make_up_for_unequal_probabilities(rng):
    data = simulate(rng, LAWS["60 rows, weights"], n_groups=200)
    plain = simulate(rng, LAWS["60 rows"], n_groups=200)
    assert plain.weights is None
    assert data.counts.sum() == plain.counts.sum() == 200 * 60
    assert np.average(data.X[:, 0], weights=data.counts) > 0.65
    assert np.average(data.X[:, 0], weights=data.counts * data.weights) == pytest.approx(0.5, abs=0.06)
    assert data.counts @ data.weights == pytest.approx(200 * POPULATION, rel=0.05)


def test_reports_are_the_shares_of_the_populations(rng):
    data = simulate(rng, LAWS["20 rows, no size"], n_groups=300)
    shares = [one.share for one in data.reports.values()]
    assert np.mean(shares) == pytest.approx(np.mean(RATES), abs=0.01)
    assert {one.size for one in data.reports.values()} == {None}
    # The share follows the frequency of the feature, of which 20 rows tell something.
    frequency = np.bincount(data.groups, data.counts * data.X[:, 0]) / 20
    assert np.corrcoef(frequency, shares)[0, 1] > 0.6


def test_all_rows_sample_the_same_populations():
    some, more = (
        simulate(np.random.default_rng(1), LAWS[name], n_groups=5) for name in ("5 rows", "60 rows, weights")
    )
    assert some.reports == more.reports


def test_rates_are_averages_over_groups(rng):
    def predict_draws(X, groups):
        return np.broadcast_to(0.1 + 0.2 * X[:, 0] + 0.01 * groups, (2, 3, len(groups)))

    draws = rate_draws(SimpleNamespace(predict_draws=predict_draws), np.array([0, 0, 1, 2]))
    assert draws.shape == (6, 2)
    assert_allclose(draws, [[0.11, 0.31]] * 6)


def test_estimates_are_held_against_the_truth(rng):
    noise = 0.01 * rng.standard_normal((4000, 2))
    found = judged(np.array([0.1, 0.4]) + noise - noise.mean(axis=0))
    assert (found["covered_0"], found["covered_1"]) == (1.0, 0.0)
    assert found["estimate_1"] == pytest.approx(0.4)
    assert found["width_0"] == pytest.approx(2.0 * 1.645 * 0.01, rel=0.05)
    rows = pd.DataFrame([{"case": "5 rows", "seed": seed, **found, "seconds": 1.0} for seed in range(2)])
    assert report(rows).splitlines()[-1].startswith("| 5 | size of the population | 2 | 0.30 | 0.4000 | +0.1000 ±")
