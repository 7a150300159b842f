"""Groups with an intercept of their own."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from disaggregate.evidence import Population
from tests.helpers.small import GROUPS, KINDS, SHARES, small_features, small_fit, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
X = small_features()
HAVE_EFFECTS = ["group effects", "population", "counts"]


@pytest.fixture(scope="module", params=HAVE_EFFECTS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(kind):
    return small_fit(kind, X, SHARES, GROUPS)


@pytest.mark.parametrize("kind", KINDS)
def test_auto_is_an_effect_where_rows_are_samples_or_cells(kind):
    model = small_fit(kind, X, SHARES, GROUPS, n_draws=5)
    assert (model.group_effects_ is not None) == (kind in HAVE_EFFECTS)
    assert model.posterior_.has_places == (kind in HAVE_EFFECTS)
    if KINDS[kind].is_dense:
        without = small_fit(kind, X, SHARES, GROUPS, n_draws=5, group_effects=False)
        assert without.group_effects_ is None


def test_known_groups_have_their_own_effect(fitted):
    [part] = fitted.posterior_.parts
    assert fitted.group_effects_.names == ("B", "A", "C", "D")
    assert part.places.shape == (100, 4)
    base = part.weights @ part.basis.columns(X)
    place = np.array([fitted.group_effects_.names.index(group) for group in GROUPS])
    by_hand = ndtr(base + part.places[:, place])
    assert_allclose(fitted.predict_draws(X, GROUPS).reshape(100, 15), by_hand, rtol=1e-10)
    assert_allclose(fitted.predict_proba(X, GROUPS)[:, 1], by_hand.mean(axis=0), rtol=1e-10)
    low, high = fitted.predict_interval(X, groups=GROUPS).T
    assert_allclose(low, np.quantile(by_hand, 0.05, axis=0), rtol=1e-9)
    assert_allclose(high, np.quantile(by_hand, 0.95, axis=0), rtol=1e-9)


def test_the_effect_of_other_groups_is_integrated_over(fitted):
    [part] = fitted.posterior_.parts
    base, scale = part.weights @ part.basis.columns(X), part.place_delta2.reshape(-1, 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    by_hand = sum(w * ndtr(base + np.sqrt(scale) * z) for z, w in zip(nodes, weights, strict=True)) / weights.sum()
    unknown = fitted.predict_draws(X).reshape(100, 15)
    assert_allclose(unknown, by_hand, atol=1e-6)
    assert_array_equal(fitted.predict_draws(X, [f"new {group}" for group in GROUPS]).reshape(100, 15), unknown)
    mixed = np.where(np.arange(15) % 2, GROUPS, "new")
    expected = np.where(np.arange(15) % 2, fitted.predict_draws(X, GROUPS), fitted.predict_draws(X))
    assert_array_equal(fitted.predict_draws(X, mixed), expected)


def test_effects_shrink_to_the_prior_where_nothing_is_known():
    from disaggregate.evidence import Unknown

    model = small_model(group_effects=True, n_draws=400).fit(X, dict.fromkeys("ABCD", Unknown()), groups=GROUPS)
    [part] = model.posterior_.parts
    standard = part.places / np.sqrt(part.place_delta2.reshape(-1, 1))
    assert np.abs(standard.mean(axis=0)).max() < 0.25
    assert_allclose(standard.std(axis=0), 1.0, atol=0.15)


def test_labels_and_tables_belong_together(fitted, kind):
    assert fitted.label_proba_.shape == (15,)
    table = fitted.group_table().set_index("group")
    if not KINDS[kind].of_samples:
        counts = KINDS[kind].counts(15)
        people = np.ones(15) if counts is None else counts
        for group in SHARES:
            own = group == GROUPS
            expected = np.average(fitted.label_proba_[own], weights=people[own])
            assert table.loc[group, "implied"] == pytest.approx(expected, rel=1e-9)
    assert np.abs(table["implied"] - table["reported"]).max() < 0.25


def test_named_groups_in_subgroups_and_pickles(fitted, kind):
    people = pd.DataFrame(X, columns=["age", "income"]).assign(place=GROUPS)
    own = KINDS[kind]
    model = small_model(**own.settings)
    model.fit(people[["age", "income"]], own.reports(SHARES), groups=GROUPS, counts=own.counts(15))
    table = model.subgroups(people, "place", groups="place").set_index("place")
    proba = model.predict_proba(people[["age", "income"]], GROUPS)[:, 1]
    assert_allclose(table["estimate"], pd.Series(proba).groupby(list(GROUPS)).mean())
    twin = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(twin.predict_proba(X, GROUPS), fitted.predict_proba(X, GROUPS))


def test_the_draws_of_all_components_are_given_to_arviz():
    pytest.importorskip("xarray")
    model = small_fit("group effects", X, SHARES, GROUPS, context=True)
    posterior = model.posterior_.to_datatree(X)["posterior"]
    assert {"delta2", "delta2_context", "delta2_place", "intercept", "probability"} <= set(posterior.data_vars)
    for name, key in {"delta2_context": "context", "delta2_place": "place"}.items():
        assert_array_equal(posterior[name], model.posterior_.scales[key])
    assert_allclose(posterior["probability"].mean(["chain", "draw"]), model.predict_proba(X)[:, 1])


def test_samples_move_predictions_towards_their_population():
    reported = {group: Population(0.05 if group == "A" else 0.95) for group in SHARES}
    model = small_model(kernel="linear").fit(X, reported, groups=GROUPS)
    proba = model.predict_proba(X, GROUPS)[:, 1]
    assert proba[GROUPS == "A"].mean() < 0.4
    assert proba[GROUPS != "A"].mean() > 0.6


def test_effects_need_groups_and_dense_weights():
    with pytest.raises(ValueError, match="group_effects=True needs groups"):
        small_model(group_effects=True).fit(X, np.arange(15) % 2)
    assert small_model().fit(X, np.arange(15) % 2).group_effects_ is None
    with pytest.raises(ValueError, match='group_effects must be False or "auto" with prior="spike_slab"'):
        small_model("sparse", group_effects=True).fit(X, SHARES, groups=GROUPS)
    with pytest.raises(ValueError, match='Population needs prior="gaussian_process"'):
        small_model("sparse").fit(X, {**SHARES, "A": Population(0.5)}, groups=GROUPS)
