"""Survey weights in the fit: a group's share is the weighted share of its members."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from tests.helpers.small import small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

GROUPS = np.repeat(["a", "b", "c"], [6, 5, 4])
SHARES = {"a": 0.7, "b": 0.25, "c": 1.0}


@pytest.fixture
def X(rng):
    return rng.standard_normal((15, 2))


@pytest.mark.parametrize(
    "settings", [{"prior": "gaussian_process"}, {"prior": "spike_slab"}, dg.published_settings()]
)
@pytest.mark.parametrize("weight", [1.0, 0.37])
def test_equal_weights_give_the_draws_of_none(settings, weight, X):
    plain = small_model(**settings).fit(X, SHARES, groups=GROUPS)
    weighted = small_model(**settings).fit(X, SHARES, groups=GROUPS, sample_weight=np.full(15, weight))
    assert_array_equal(plain.predict_draws(X), weighted.predict_draws(X))
    assert_array_equal(plain.label_proba_, weighted.label_proba_)
    assert plain.score(X, SHARES, groups=GROUPS) == weighted.score(
        X, SHARES, groups=GROUPS, sample_weight=np.full(15, 2.0)
    )


@pytest.mark.parametrize("weights", ["dense", "sparse"])
def test_the_weighted_share_is_met(weights, rng):
    """One member holds three quarters of the weight, so that only it can make the share of its group."""
    X = rng.standard_normal((8, 1))
    groups = np.repeat(["a", "b"], 4)
    weight = np.array([9.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0, 1.0])
    model = small_model(weights=weights, n_draws=200, n_burn=100)
    model.fit(X, {"a": 0.75, "b": 0.25}, groups=groups, sample_weight=weight)
    # Labels are expected and not drawn: what is all but impossible has its tiny share in them.
    assert_allclose(model.label_proba_, [1, 0, 0, 0, 0, 1, 1, 1], atol=1e-6)
    assert_allclose(model.group_table()["implied"], [0.75, 0.25])


def test_labels_follow_enumeration_when_features_tell_nothing(rng):
    """With a constant feature all members are alike but for their weights."""
    weight, share = np.array([1.0, 2.0, 3.0]), dg.evidence.Fraction(0.5, 20.0)
    model = small_model(
        kernel="linear", intercept=False, n_draws=4000, n_burn=200, prior=dg.GaussianProcess(nu=1e-3, mu=10.0)
    )
    model.fit(np.zeros((3, 1)), {"a": share}, groups=["a"] * 3, sample_weight=weight)
    labels = np.array([[i >> bit & 1 for bit in range(3)] for i in range(8)])
    likelihood = np.exp(share.log_likelihood(6))[labels @ weight.astype(int)]
    assert_allclose(model.label_proba_, likelihood @ labels / likelihood.sum(), atol=0.03)


def test_rounding_is_stated(X, rng):
    weight = rng.lognormal(0.0, 0.5, 15)
    model = small_model().fit(X, SHARES, groups=GROUPS, sample_weight=weight)
    assert 0.0 < model.diagnostics_.rounding_error < 0.02
    assert "survey weights" in str(model.diagnostics_)
    plain = small_model().fit(X, SHARES, groups=GROUPS)
    assert plain.diagnostics_.rounding_error == 0.0
    assert "survey weights" not in str(plain.diagnostics_)


def test_weights_come_as_lists_and_series_and_with_every_form_of_y(X):
    weight = np.arange(1.0, 16.0)
    expected = small_model().fit(X, SHARES, groups=GROUPS, sample_weight=weight).label_proba_
    for given in (weight.tolist(), pd.Series(weight)):
        assert_array_equal(small_model().fit(X, SHARES, groups=GROUPS, sample_weight=given).label_proba_, expected)
    target = dg.group_target(GROUPS, SHARES)
    assert_array_equal(small_model().fit(X, target, sample_weight=weight).label_proba_, expected)


def test_a_saved_model_keeps_its_weighted_groups(X, tmp_path):
    model = small_model().fit(X, SHARES, groups=GROUPS, sample_weight=np.arange(1.0, 16.0))
    model.save(tmp_path / "m.dgz")
    again = dg.load(tmp_path / "m.dgz")
    pd.testing.assert_frame_equal(again.group_table(), model.group_table())
    assert again.diagnostics_.rounding_error == model.diagnostics_.rounding_error


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(14), "14 numbers but X has 15 rows"),
        (np.ones((15, 1)), "one number per row"),
        (np.r_[np.ones(14), 0.0], "above zero, got 0.0 in row 14"),
        (np.r_[np.nan, np.ones(14)], "got nan in row 0"),
        (np.r_[np.ones(14), np.inf], "got inf in row 14"),
        (["heavy"] * 15, "must hold numbers"),
    ],
)
def test_bad_weights_are_refused(weight, message, X):
    with pytest.raises(ValueError, match=message):
        small_model().fit(X, SHARES, groups=GROUPS, sample_weight=weight)


def test_counts_of_members_are_refused_with_the_group(X):
    reports = {"a": dg.evidence.Count(3), "b": 0.25, "c": 1.0}
    with pytest.raises(ValueError, match=r"group 'a': Count counts members"):
        small_model().fit(X, reports, groups=GROUPS, sample_weight=np.arange(1.0, 16.0))


def test_unequal_weights_mean_nothing_beside_labels(X):
    with pytest.raises(ValueError, match="groups of one"):
        small_model().fit(X, np.arange(15) % 2, sample_weight=np.arange(1.0, 16.0))


def test_an_anonymised_model_keeps_no_ones_weight(X, tmp_path):
    weight = np.arange(1.0, 16.0)
    model = small_model(centers=np.zeros((1, 2))).fit(X, SHARES, groups=GROUPS, sample_weight=weight)
    model.save(tmp_path / "m.dgz", anonymise=True, min_group_size=3)
    again = dg.load(tmp_path / "m.dgz")
    assert_allclose(again.group_table()["implied"], model.group_table()["implied"])
    assert not np.array_equal(np.sort(again._data.units), np.sort(model._data.units))
