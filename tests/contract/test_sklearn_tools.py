"""The tools of scikit-learn: clone, pickle, pipelines, searches and cross-validation."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import disaggregate as dg
from tests.helpers.small import GROUPS, SHARES, small_features, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = small_features()

DISTRICTS = np.tile(np.arange(8), 5)
CROWD = small_features(len(DISTRICTS))
TARGET = dg.group_target(DISTRICTS, dict(enumerate(np.linspace(0.1, 0.8, 8))))


@pytest.fixture(scope="module")
def fitted():
    return small_model().fit(X, SHARES, groups=GROUPS)


# ---- copies -------------------------------------------------------------------------------------------


def test_clone_keeps_the_settings_and_nothing_else(fitted):
    fitted_twin = clone(fitted)
    assert fitted_twin.get_params() == fitted.get_params()
    assert not hasattr(fitted_twin, "posterior_")
    assert_array_equal(fitted_twin.fit(X, SHARES, groups=GROUPS).label_proba_, fitted.label_proba_)


def test_clone_copies_settings_that_can_change():
    model = small_model(centers=X[:2].copy(), confidence=dict(SHARES))
    twin = clone(model)
    model.centers[0] = 99.0
    model.confidence["A"] = 99.0
    assert_array_equal(twin.centers, X[:2])
    assert twin.confidence == SHARES


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_predictions_come_as_dataframes_when_asked_for(fitted, kind):
    twin = copy.copy(fitted)
    assert twin.set_output(transform=kind) is twin
    frame = pd.DataFrame(X, index=range(100, 100 + len(X)))
    for name in ("predict_proba", "predict_interval"):
        plain, made = getattr(fitted, name)(X), getattr(twin, name)(frame)
        assert isinstance(plain, np.ndarray)
        assert type(made).__module__.startswith(kind)
        assert_array_equal(np.asarray(made), plain)
    assert list(map(str, twin.predict_proba(frame).columns)) == ["0", "1"]
    assert isinstance(twin.predict(frame), np.ndarray)
    if kind == "pandas":
        assert list(twin.predict_interval(frame).columns) == ["conf_low", "conf_high"]
        assert list(twin.predict_proba(frame).index[:2]) == [100, 101]
    assert clone(twin)._sklearn_output_config == {"transform": kind}
    assert isinstance(twin.set_output(transform="default").predict_proba(frame), np.ndarray)
    with pytest.raises(ValueError, match="must be one of"):
        twin.set_output(transform="lists")


def test_pickle_keeps_every_result(fitted):
    twin = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(twin.predict_proba(X), fitted.predict_proba(X))
    assert_array_equal(twin.predict_draws(X), fitted.predict_draws(X))
    assert_array_equal(twin.predict_interval(X), fitted.predict_interval(X))
    assert_array_equal(twin.label_proba_, fitted.label_proba_)
    assert twin.group_table().equals(fitted.group_table())
    assert twin.score(X, SHARES, groups=GROUPS) == fitted.score(X, SHARES, groups=GROUPS)
    assert twin.diagnostics_.verdict == fitted.diagnostics_.verdict


def test_clones_share_the_executor_and_pickles_leave_it_behind(fitted):
    with ThreadPoolExecutor(1) as pool:
        model = small_model(executor=pool).fit(X, SHARES, groups=GROUPS)
        assert clone(model).executor is pool
        assert model.executor is pool
        twin = pickle.loads(pickle.dumps(model))
    assert twin.executor is None
    assert_array_equal(twin.predict_proba(X), fitted.predict_proba(X))


# ---- pipelines ----------------------------------------------------------------------------------------


def test_pipeline_with_group_target(fitted):
    pipe = make_pipeline(StandardScaler(), small_model()).fit(X, dg.group_target(GROUPS, SHARES))
    scaled = StandardScaler().fit_transform(X)
    expected = small_model().fit(scaled, SHARES, groups=GROUPS)
    assert_array_equal(pipe.predict_proba(X), expected.predict_proba(scaled))
    assert pipe.score(X, dg.group_target(GROUPS, SHARES)) == expected.score(scaled, SHARES, groups=GROUPS)
    assert_array_equal(pipe.classes_, [0, 1])


def test_pipeline_with_groups():
    by_target = make_pipeline(StandardScaler(), small_model()).fit(X, dg.group_target(GROUPS, SHARES))
    by_groups = make_pipeline(StandardScaler(), small_model())
    by_groups.fit(X, SHARES, groupstatsclassifier__groups=GROUPS)
    assert_array_equal(by_groups.predict_proba(X), by_target.predict_proba(X))
    with config_context(enable_metadata_routing=True):
        for model in (small_model(), small_model().set_fit_request(groups=True)):
            routed = make_pipeline(StandardScaler(), model).fit(X, SHARES, groups=GROUPS)
            assert_array_equal(routed.predict_proba(X), by_target.predict_proba(X))


def test_pipeline_keeps_names_of_columns():
    people = pd.DataFrame(X, columns=["age", "income"])
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), small_model())
    pipe.fit(people, dg.group_target(GROUPS, SHARES))
    assert_array_equal(pipe[-1].feature_names_in_, ["age", "income"])
    with pytest.raises(ValueError, match="wage"):
        pipe.predict(people.rename(columns={"income": "wage"}))


# ---- searches and cross-validation --------------------------------------------------------------------

GRID = {"groupstatsclassifier__gamma": [0.1, 1.0]}


def scaled_model():
    return make_pipeline(StandardScaler(), small_model(n_draws=20))


def expected_score(train, test, gamma="scale"):
    model = make_pipeline(StandardScaler(), small_model(n_draws=20, gamma=gamma)).fit(CROWD[train], TARGET[train])
    return model.score(CROWD[test], TARGET[test])


@pytest.mark.parametrize("routing", [False, True])
def test_cross_validation_by_group(routing):
    splitter = GroupKFold(4)
    with config_context(enable_metadata_routing=routing):
        how = {"params": {"groups": TARGET["group"]}} if routing else {"groups": TARGET["group"]}
        result = cross_validate(scaled_model(), CROWD, TARGET, cv=splitter, error_score="raise", **how)
    splits = splitter.split(CROWD, groups=DISTRICTS)
    assert_array_equal(result["test_score"], [expected_score(train, test) for train, test in splits])
    assert len(set(result["test_score"])) == 4


@pytest.mark.parametrize("routing", [False, True])
def test_grid_search_by_group(routing):
    search = GridSearchCV(scaled_model(), GRID, cv=GroupKFold(2), error_score="raise")
    with config_context(enable_metadata_routing=routing):
        search.fit(CROWD, TARGET, groups=TARGET["group"])
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.predict_proba(CROWD).shape == (40, 2)
    splits = list(GroupKFold(2).split(CROWD, groups=DISTRICTS))
    for place, gamma in enumerate(GRID["groupstatsclassifier__gamma"]):
        by_hand = np.mean([expected_score(train, test, gamma) for train, test in splits])
        assert search.cv_results_["mean_test_score"][place] == pytest.approx(by_hand, rel=1e-12)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_groups_can_be_routed_to_the_splitter_the_fit_and_the_score():
    """Shares one per row instead of a structured target: then everybody needs the groups."""
    shares = np.linspace(0.1, 0.8, 8)[DISTRICTS]
    with config_context(enable_metadata_routing=True):
        model = small_model(n_draws=20)
        search = GridSearchCV(model, {"gamma": [0.1, 1.0]}, cv=GroupKFold(2), error_score="raise")
        search.fit(CROWD, shares, groups=DISTRICTS)
        result = cross_validate(
            model, CROWD, shares, cv=GroupKFold(2), params={"groups": DISTRICTS}, error_score="raise"
        )
    by_target = cross_validate(
        small_model(n_draws=20), CROWD, TARGET, cv=GroupKFold(2), groups=DISTRICTS, error_score="raise"
    )
    assert_array_equal(result["test_score"], by_target["test_score"])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_groups_can_be_kept_from_the_fit():
    with config_context(enable_metadata_routing=True):
        model = small_model(n_draws=20).set_fit_request(groups=False).set_score_request(groups=False)
        how = {"cv": GroupKFold(2), "params": {"groups": DISTRICTS}, "error_score": "raise"}
        assert np.isfinite(cross_validate(model, CROWD, TARGET, **how)["test_score"]).all()
        with pytest.raises(ValueError, match=r"Unknown label type: continuous.* pass groups="):
            cross_validate(model, CROWD, np.linspace(0.1, 0.8, 8)[DISTRICTS], **how)


def test_search_over_kinds_of_evidence_and_confidence():
    evidence = {group: dg.evidence.AtLeast(1) if group % 2 else 0.25 for group in range(8)}
    target = dg.group_target(DISTRICTS, evidence)
    search = GridSearchCV(small_model(n_draws=20), {"confidence": [1.0, np.inf]}, cv=LeaveOneGroupOut())
    search.set_params(error_score="raise").fit(CROWD, target, groups=DISTRICTS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.thorough)])
@pytest.mark.full_pilots  # which other processes run
def test_parallel_search_finds_the_same(backend):
    with parallel_config(backend):
        one, two = (
            cross_val_score(scaled_model(), CROWD, TARGET, groups=DISTRICTS, cv=GroupKFold(2), n_jobs=n)
            for n in (1, 2)
        )
    assert_allclose(one, two, rtol=1e-12)


def test_predictions_of_the_groups_left_out():
    how = {"groups": DISTRICTS, "cv": GroupKFold(2)}
    predicted = cross_val_predict(small_model(n_draws=20), CROWD, TARGET, **how)
    for train, test in GroupKFold(2).split(CROWD, groups=DISTRICTS):
        model = small_model(n_draws=20).fit(CROWD[train], TARGET[train])
        assert_array_equal(predicted[test], model.predict(CROWD[test]))
    with pytest.raises(TypeError):  # scikit-learn wants to number the classes of y, and there are none
        cross_val_predict(small_model(n_draws=20), CROWD, TARGET, method="predict_proba", **how)


@pytest.mark.parametrize("cv", [KFold(3), KFold(2, shuffle=True, random_state=0), 3, None], ids=str)
@pytest.mark.parametrize("routing", [False, True])
def test_a_split_that_cuts_a_group_is_detected(cv, routing):
    cut = r"group \d has 5 members but [1-4] came: a split has cut it in two.* GroupKFold and groups=y\['group'\]"
    with config_context(enable_metadata_routing=routing):
        with pytest.raises(ValueError, match=cut):
            cross_validate(scaled_model(), CROWD, TARGET, cv=cv, error_score="raise")
        with pytest.raises(ValueError, match=cut):
            GridSearchCV(scaled_model(), GRID, cv=cv, error_score="raise").fit(CROWD, TARGET)


def test_folds_that_happen_to_keep_groups_whole_are_fine():
    order = np.argsort(DISTRICTS, kind="stable")
    scores = cross_val_score(small_model(n_draws=20), CROWD[order], TARGET[order], cv=4, error_score="raise")
    assert np.isfinite(scores).all()


def test_supervised_tools():
    labels = (CROWD[:, 0] > 0).astype(int)
    scores = cross_val_score(small_model(), CROWD, labels, cv=3, scoring="roc_auc", error_score="raise")
    assert scores.mean() > 0.8
    calibrated = CalibratedClassifierCV(small_model(n_draws=20), cv=2).fit(CROWD, labels)
    assert calibrated.predict_proba(CROWD).shape == (40, 2)
