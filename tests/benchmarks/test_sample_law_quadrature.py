import numpy as np
import pandas as pd
import pytest

from benchmarks.sample_law import N_GROUPS, RATES
from benchmarks.sample_law_quadrature import judged, log_density, own_weights, report


def test_rates_are_found_where_shares_have_no_noise(rng):
    frequency = rng.beta(4.0, 4.0, N_GROUPS).round(2)
    found = judged(frequency, RATES[0] + (RATES[1] - RATES[0]) * frequency, 2_000)  # everybody was sampled
    assert [found["estimate_0"], found["estimate_1"]] == pytest.approx(RATES, abs=1e-3)
    assert found["covered_0"] == found["covered_1"] == 1.0


def test_groups_that_are_alike_are_pooled(rng):
    alike, _ = own_weights(rng.binomial(20, 0.5, N_GROUPS) / 20, 20)
    different, _ = own_weights(rng.permutation(np.repeat([0.1, 0.9], N_GROUPS // 2)), 20)
    assert alike.max() < 0.6 < 0.9 < different.min()


def test_the_density_is_that_of_normal_shares():
    own = log_density(np.array([0.1]), np.array([0.3]), 1.0, np.array([0.5, 0.5]), np.array([0.2, 0.25]), 2_000)
    variance = 0.2 * 0.8 / 2_000 + 5e-4**2
    assert own == pytest.approx(-0.5 * 0.05**2 / variance - np.log(variance))


def test_fits_are_compared_on_the_data_that_both_saw():
    found = {f"{name}_{place}": 0.1 for name in ("estimate", "covered", "width") for place in range(2)}
    rows = pd.DataFrame([{"rows": 5, "seed": seed, **found} for seed in range(3)])
    fits = rows.assign(case="5 rows", estimate_0=[0.2, 0.1, 0.1])[1:]
    assert report(rows, fits).splitlines()[-2].endswith("| 2 | +0.0000 (up to 0.0000) |")
    assert report(rows, fits.assign(seed=0)[:1]).splitlines()[-2].endswith("| 1 | +0.0000 (up to 0.0000) |")
