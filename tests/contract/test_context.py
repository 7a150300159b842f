"""A fit with context: people of the same features may differ by their group's make-up."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

import disaggregate as dg
from tests.helpers.small import GROUPS, SHARES, small_features, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"kernel": "linear", "n_chains": 2, "n_draws": 200, "n_burn": 100, "random_state": 0, "progress": False}


def make_places(context_effect, seed=0, n_groups=40, size=12):
    """Two features; what one's neighbours are like counts ``context_effect`` times what one is like oneself."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    centre = rng.normal(size=(n_groups, 2))
    X = centre[groups] + 1.5 * rng.normal(size=(n_groups * size, 2))
    means = np.stack([X[groups == group].mean(axis=0) for group in range(n_groups)])
    score = X @ [1.0, -0.5] + context_effect * (means @ [1.0, -0.5])[groups]
    y = rng.random(len(X)) < ndtr(score)
    shares = {group: y[groups == group].mean() for group in range(n_groups)}
    return X, groups, shares, ndtr(score)


@pytest.fixture(scope="module")
def small():
    return small_model(context=True).fit(small_features(), SHARES, groups=GROUPS)


def test_a_group_has_columns_of_its_own(small):
    X = small_features()
    posterior, rows = small._fitted_and_rows(X, GROUPS)
    assert rows.with_context().shape == (15, 2 * X.shape[1])
    assert posterior.parts[0].basis.n_columns == 1 + X.shape[1] + len(X)
    part = posterior.parts[0]
    by_hand = part.weights[:, 1 : 1 + X.shape[1]] @ rows.context.T
    assert_allclose(posterior.scores(rows) - posterior.scores(X), by_hand, atol=1e-9)
    assert part.context_delta2.shape == posterior.shape


def test_predictions_depend_on_the_group(small):
    X = small_features()
    with_groups, without = small.predict_proba(X, groups=GROUPS), small.predict_proba(X)
    assert not np.array_equal(with_groups, without)
    assert np.abs(small.predict_draws(X, GROUPS) - small.predict_draws(X)).max() > 0.05
    assert_allclose(small.predict_draws(X, GROUPS).mean(axis=(0, 1)), with_groups[:, 1])
    assert (small.predict_interval(X, groups=GROUPS)[:, 0] <= with_groups[:, 1]).all()
    assert_array_equal(small.predict(X, GROUPS), (with_groups[:, 1] > 0.5).astype(int))
    with pytest.raises(ValueError, match="groups has 2 entries but X has 15 rows"):
        small.predict(X, ["a", "b"])


def test_without_context_groups_do_not_matter():
    X = small_features()
    model = small_model().fit(X, SHARES, groups=GROUPS)
    assert model.context_ is None
    assert_array_equal(model.predict_proba(X, groups=GROUPS), model.predict_proba(X))


def test_files_and_pickles_keep_it(small, tmp_path):
    X = small_features()
    small.save(tmp_path / "m.dgz")
    for other in (dg.load(tmp_path / "m.dgz"), pickle.loads(pickle.dumps(small))):
        assert_array_equal(other.predict_proba(X, GROUPS), small.predict_proba(X, GROUPS))


def test_subgroups_of_named_groups(small):
    people = pd.DataFrame(small_features(), columns=["age", "income"]).assign(place=GROUPS)
    model = small_model(context=True).fit(people[["age", "income"]], SHARES, groups=GROUPS)
    table = model.subgroups(people, "place", groups="place").set_index("place")
    proba = model.predict_proba(people[["age", "income"]], GROUPS)[:, 1]
    assert_allclose(table["estimate"], pd.Series(proba).groupby(list(GROUPS)).mean())
    unaware = model.subgroups(people, "place").set_index("place")
    assert np.abs(unaware["estimate"] - table["estimate"]).max() > 0.005


def test_the_score_of_new_groups_knows_their_make_up(small):
    X = small_features() + 3.0
    renamed = [f"new {group}" for group in GROUPS]
    shares = {f"new {group}": share for group, share in SHARES.items()}
    by_hand = small_model(context=True).fit(small_features(), SHARES, groups=GROUPS)
    assert small.score(X, shares, groups=renamed) == by_hand.score(X, shares, groups=renamed)
    by_hand.context_ = by_hand.context_.with_groups([(np.zeros((4, 2)), [f"new {name}" for name in SHARES])])
    assert by_hand.score(X, shares, groups=renamed) != small.score(X, shares, groups=renamed)


def test_auto_is_a_context_where_there_are_groups_and_predictions_gain():
    X, groups, shares, chance = make_places(context_effect=3.0)
    automatic = dg.GroupStatsClassifier(**SHORT, context="auto").fit(X, shares, groups=groups)
    assert all(part.basis.context for part in automatic.posterior_.parts)
    sure = dg.GroupStatsClassifier(**SHORT, context=True).fit(X, shares, groups=groups)
    assert_array_equal(automatic.posterior_.delta2, sure.posterior_.delta2)
    # Its scale shrinks where the reports do not need it.
    alone = dg.GroupStatsClassifier(**SHORT, context=True)
    alone.fit(X, make_places(context_effect=0.0)[2], groups=groups)
    assert np.median(automatic.posterior_.scales["context"]) > 2.0 * np.median(alone.posterior_.scales["context"])
    without = dg.GroupStatsClassifier(**SHORT).fit(X, shares, groups=groups)
    error, worse = (np.abs(model.predict_proba(X, groups)[:, 1] - chance).mean() for model in (automatic, without))
    assert error < worse


def test_intervals_own_up_to_what_groups_cannot_tell():
    X, groups, shares, chance = make_places(context_effect=1.0)
    widths = {}
    for context in (False, True):
        model = dg.GroupStatsClassifier(**SHORT, context=context).fit(X, shares, groups=groups)
        ends = model.predict_interval(X, groups=groups)
        widths[context] = (ends[:, 1] - ends[:, 0]).mean()
        held = ((ends[:, 0] <= chance) & (chance <= ends[:, 1])).mean()
        assert bool(held > 0.8) is context
    assert widths[True] > 1.3 * widths[False]  # the scale of the context is learned, so that not all is left open


def test_context_needs_groups_and_dense_weights():
    X = small_features()
    with pytest.raises(ValueError, match="context=True needs groups"):
        small_model(context=True).fit(X, np.arange(15) % 2)
    assert small_model(context="auto").fit(X, np.arange(15) % 2).context_ is None
    with pytest.raises(ValueError, match='context must be False with prior="spike_slab"'):
        small_model(context=True, prior="spike_slab").fit(X, SHARES, groups=GROUPS)
