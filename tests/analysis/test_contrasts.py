"""Differences and ratios of subgroups, by hand and with the error of the design."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from disaggregate.analysis.contrasts import contrast
from disaggregate.posterior.subgroups import subgroup_draws
from tests.helpers.predictors import of_table

PEOPLE = pd.DataFrame({"sex": list("ffmm"), "age": [1, 2, 1, 2]})


@pytest.fixture
def draws(rng):
    return rng.uniform(0.1, 0.9, (50, 4))


def test_differences_and_ratios_are_taken_draw_by_draw(draws):
    found = subgroup_draws(of_table(draws), PEOPLE, "sex", [1, 2, 3, 4])
    women, men = found.draws.T
    for kind, values, label in (("difference", women - men, "f - m"), ("ratio", women / men, "f / m")):
        row = contrast(found.only(sex="f"), found.only(sex="m"), kind, level=0.8).iloc[0]
        assert row["contrast"] == label
        assert row["estimate"] == pytest.approx(values.mean())
        assert row["std_error"] == pytest.approx(values.std())
        assert_allclose([row["conf_low"], row["conf_high"]], np.quantile(values, [0.1, 0.9]))
        assert (row["n"], row["weight"]) == (4, 10)


def test_what_both_have_in_common_cancels(rng):
    shared = rng.uniform(0.2, 0.7, (40, 1)) + np.array([0.1, 0.1, 0.0, 0.0])
    found = subgroup_draws(of_table(shared), PEOPLE, "sex")
    row = contrast(found.only(sex="f"), found.only(sex="m")).iloc[0]
    assert_allclose([row["estimate"], row["std_error"]], [0.1, 0.0], atol=1e-12)


def test_one_is_compared_with_all_and_many_in_turn(draws):
    found = subgroup_draws(of_table(draws), PEOPLE, ["sex", "age"])
    against = contrast(found, found.only(sex="m", age=1))
    assert against["contrast"].tolist() == ["f, 1 - m, 1", "f, 2 - m, 1", "m, 1 - m, 1", "m, 2 - m, 1"]
    assert against["estimate"][2] == 0.0
    in_turn = contrast(found.only(sex="f"), found.only(sex="m"))
    assert in_turn["contrast"].tolist() == ["f, 1 - m, 1", "f, 2 - m, 2"]
    assert_allclose(in_turn["estimate"], (draws[:, :2] - draws[:, 2:]).mean(axis=0))


@pytest.mark.parametrize("kind", ["difference", "ratio"])
def test_design_error_is_that_of_the_contrast_under_each_replicate(draws, rng, kind):
    weights, replicates = rng.gamma(3.0, size=4), rng.gamma(3.0, size=(4, 80))
    found = subgroup_draws(of_table(draws), PEOPLE, "sex", weights, replicates)
    row = contrast(found.only(sex="f"), found.only(sex="m"), kind).iloc[0]
    mean = draws.mean(axis=0)

    def compared(w):
        women, men = np.average(mean[:2], weights=w[:2]), np.average(mean[2:], weights=w[2:])
        return women - men if kind == "difference" else women / men

    variance = 4 / 80 * sum((compared(replicates[:, r]) - compared(weights)) ** 2 for r in range(80))
    assert row["std_error_design"] == pytest.approx(np.sqrt(variance))
    assert row["std_error"] == pytest.approx(np.hypot(row["std_error_design"], row["std_error_posterior"]))


def test_bad_input_is_explained(draws):
    found = subgroup_draws(of_table(draws), PEOPLE, ["sex", "age"])
    with pytest.raises(ValueError, match='kind must be "difference" or "ratio"'):
        contrast(found, found, "odds")
    with pytest.raises(ValueError, match="got 4 and 2"):
        contrast(found, found.only(sex="f"))
    with pytest.raises(ValueError, match="same posterior draws, got 50 and 49"):
        contrast(found, subgroup_draws(of_table(draws[1:]), PEOPLE, ["sex", "age"]))
    with pytest.raises(ValueError, match="replicate weights must be the same"):
        contrast(found, subgroup_draws(of_table(draws), PEOPLE, ["sex", "age"], replicates=np.ones((4, 2))))
    none = subgroup_draws(of_table(np.zeros((50, 4))), PEOPLE, ["sex", "age"])
    with pytest.raises(ValueError, match="is 0 in some draws"):
        contrast(found, none, "ratio")
