"""Bad input gets an error that names the column, the group or the row, before anything is sampled.

The readers have tests of their own; these show that the estimator calls them all.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import disaggregate as dg
from tests.helpers.small import GROUPS, SHARES, small_features, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = small_features()
ROWS = [SHARES[group] for group in GROUPS]


def table(**columns):
    return pd.DataFrame({"age": X[:, 0], "income": X[:, 1], **columns})


def spoilt(row, value):
    column = X[:, 1].copy()
    column[row] = value
    return column


BAD_FITS = {
    "NaN feature": (table(income=spoilt(3, np.nan)), SHARES, GROUPS, "NaN: column 'income', row 3"),
    "infinite feature": (table(income=spoilt(4, np.inf)), SHARES, GROUPS, "infinity: column 'income', row 4"),
    "NaN in an array": (table(income=spoilt(3, np.nan)).to_numpy(), SHARES, GROUPS, "NaN: column 1, row 3"),
    "text feature": (table(income="high"), SHARES, GROUPS, "column 'income' is not numeric"),
    "empty table": (table().iloc[:0], {}, [], "empty table"),
    "empty array": (X[:0], {}, [], "0 sample"),
    "percentage": (X, {**SHARES, "B": 25}, GROUPS, "group 'B': .*divide a percentage by 100"),
    "negative share": (X, {**SHARES, "B": -0.1}, GROUPS, "group 'B': .* share from 0 to 1, got -0.1"),
    "unknown group": (X, {**SHARES, "Z": 0.5}, GROUPS, "group 'Z' is in y but in no row"),
    "group without a share": (X, {"A": 0.5, "B": 0.5, "C": 0.5}, GROUPS, "group 'D' is in groups but without"),
    "missing share": (X, {**SHARES, "C": np.nan}, GROUPS, "share of group 'C' is missing"),
    "text share": (X, {**SHARES, "C": "half"}, GROUPS, "share of group 'C' must be a number .* got 'half'"),
    "truth share": (X, {**SHARES, "C": True}, GROUPS, "share of group 'C' is True"),
    "shares that differ": (X, [*ROWS[:-1], 0.9], GROUPS, "differ within group 'B': 0.25, and 0.9 at row 14"),
    "too many shares": (X, [*ROWS, 0.9], GROUPS, "y has 16 entries but there are 15 rows"),
    "too few groups": (X, SHARES, GROUPS[1:], "groups has 14 entries but X has 15 rows"),
    "missing group": (X, SHARES, [None, *GROUPS[1:]], r"groups\[0\] is missing"),
    "count beyond the group": (X, {**SHARES, "A": dg.evidence.Count(6)}, GROUPS, "group 'A': .* in a group of 5"),
    "survey beyond the group": (X, {**SHARES, "A": dg.evidence.Survey(1, 6)}, GROUPS, "group 'A': Survey"),
    "small population": (X, {**SHARES, "A": dg.evidence.Population(0.5, 4)}, GROUPS, "group 'A': Population"),
    "no y": (X, None, GROUPS, "y is None"),
    "no y, no groups": (X, None, None, "requires y to be passed, but the target y is None"),
    "mapping without groups": (X, SHARES, None, "y maps groups to shares but groups is None"),
    "shares without groups": (X, ROWS, None, "Unknown label type: continuous.* pass groups="),
    "Series without groups": (X, pd.Series(SHARES), None, "y has 4 labels but X has 15 rows.* pass groups="),
    "one class": (X, np.ones(15), None, r"expected two classes or more, got 1 class\(es\)"),
    "missing label": (X, [None, *[0, 1] * 7], None, "label of row 0 is missing"),
    "other groups than the target": (X, dg.group_target(GROUPS, SHARES), GROUPS[::-1], "groups= disagrees"),
    "cut group": (X[1:], dg.group_target(GROUPS, SHARES)[1:], None, "group 'B' has 5 members but 4 came"),
}


@pytest.mark.parametrize(("table", "y", "groups", "message"), BAD_FITS.values(), ids=BAD_FITS.keys())
def test_bad_data_is_refused_by_name(table, y, groups, message):
    model = small_model()
    with pytest.raises(ValueError, match=message):
        model.fit(table, y, groups=groups)
    with pytest.raises(NotFittedError):
        model.predict(X)


BAD_SETTINGS = {
    "kernel": ("rfb", "kernel must be"),
    "gamma": (-1.0, "gamma must be"),
    "kernel_params": ({"degree": "3"}, "degree must be"),
    "centers": ("some", "centers must be"),
    "intercept": ("yes", "intercept must be"),
    "context": ("yes", "context must be"),
    "group_effects": ("yes", "group_effects must be"),
    "prior": ("thick", "prior must be"),
    "confidence": (-1.0, "confidence must be .* got -1.0"),
    "n_replicas": (0, "n_replicas must be"),
    "n_chains": (0, "n_chains must be"),
    "n_draws": (0, "n_draws must be"),
    "n_burn": (-1, "n_burn must be"),
    "thin": (0, "thin must be"),
    "n_jobs": (0, "n_jobs must be"),
    "random_state": ("dice", "random_state must be"),
    "progress": ("yes", "progress must be"),
    "executor": ("threads", "executor must be"),
    "storage": ("disk", "storage must be"),
}


def test_every_setting_has_a_bad_value_here():
    assert set(BAD_SETTINGS) == set(dg.GroupStatsClassifier().get_params())


BAD_PARTS = {
    "degree": ({"kernel_params": {"degree": None}}, "degree must be"),
    "coef0": ({"kernel_params": {"coef0": np.nan}}, "coef0 must be"),
    "a kernel's own": ({"kernel_params": {"width": 1.0}}, "kernel_params must be"),
    "emphasis": ({"prior": dg.GaussianProcess(emphasis=0.0)}, "emphasis must be"),
    "mu": ({"prior": dg.GaussianProcess(mu=np.nan)}, "mu must be"),
    "cells": ({"prior": dg.GaussianProcess(cells=1)}, "cells must be True or False"),
    "nu": ({"prior": dg.SpikeSlab(nu=np.inf)}, "nu must be"),
    "a": ({"prior": dg.SpikeSlab(a=0.0)}, "a must be"),
    "b": ({"prior": dg.SpikeSlab(b=-1.0)}, "b must be"),
    "latent": ({"prior": dg.SpikeSlab(latent="gibbs")}, "latent must be"),
}


@pytest.mark.parametrize(("settings", "message"), BAD_PARTS.values(), ids=BAD_PARTS)
def test_bad_parts_of_settings_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        small_model(**settings).fit(X, SHARES, groups=GROUPS)


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_bad_settings_are_refused_by_name(name):
    value, message = BAD_SETTINGS[name]
    with pytest.raises(ValueError, match=message):
        small_model(**{name: value}).fit(X, SHARES, groups=GROUPS)


def test_confidence_by_group_names_the_group():
    with pytest.raises(ValueError, match=r"confidence of group 'B'.* got -1"):
        small_model(confidence={"B": -1}).fit(X, SHARES, groups=GROUPS)
    with pytest.raises(ValueError, match="not for group 'A'"):
        small_model(confidence={"B": 1, "C": 1, "D": 1}).fit(X, SHARES, groups=GROUPS)


def test_kernels_of_counts_refuse_negative_features():
    with pytest.raises(ValueError, match="negative values"):
        small_model(kernel="chi2").fit(X, SHARES, groups=GROUPS)


def test_features_beyond_the_kernel_are_refused_with_advice():
    with pytest.raises(ValueError, match="scale them first"):
        small_model(kernel="linear").fit(X * 1e200, SHARES, groups=GROUPS)


METHODS = ["predict", "predict_proba", "predict_interval", "predict_draws"]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_predicted_before_the_fit(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(small_model(), method)(X)


def test_nothing_is_judged_before_the_fit():
    with pytest.raises(NotFittedError):
        small_model().score(X, SHARES, groups=GROUPS)
    with pytest.raises(NotFittedError):
        small_model().score(X, np.ones(15))
    with pytest.raises(NotFittedError):
        small_model().group_table()


@pytest.fixture(scope="module")
def fitted():
    return small_model().fit(table(), SHARES, groups=GROUPS)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("other", "message"),
    [
        (table().rename(columns={"income": "wage"}), r"- wage\n.*\n- income"),
        (table(wage=1.0), "- wage"),
        (table()[["age"]], "- income"),
        (table()[["income", "age"]], "same order"),
        (table(income=spoilt(2, np.nan)), "NaN: column 'income', row 2"),
        (table(income="high"), "column 'income' is not numeric"),
        (np.ones((2, 3)), "X has 3 features, but GroupStatsClassifier is expecting 2 features"),
    ],
    ids=["renamed", "more", "fewer", "other order", "NaN", "text", "array"],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_predicting_with_other_columns_names_them(fitted, method, other, message):
    with pytest.raises(ValueError, match=message):
        getattr(fitted, method)(other)


@pytest.mark.parametrize(
    ("y", "groups", "message"),
    [
        ([0, 1], None, "y has 2 labels but X has 15 rows"),
        (None, None, "target y is None"),
        (ROWS, None, "Unknown label type: continuous.* pass groups="),
        (SHARES, None, "groups is None"),
        ({"A": 0.5}, GROUPS, "groups 'B', 'C', 'D' are in groups but without a share"),
    ],
)
def test_judging_by_a_bad_target_is_refused(fitted, y, groups, message):
    with pytest.raises(ValueError, match=message):
        fitted.score(table(), y, groups=groups)


@pytest.mark.parametrize("level", [0, 1, 90, -0.5, np.nan, "0.9", None, True])
def test_bad_levels_are_refused(fitted, level):
    with pytest.raises(ValueError, match=r"level must lie between 0 and 1, such as 0.9; got"):
        fitted.predict_interval(table(), level=level)
    with pytest.raises(ValueError, match=r"level must lie between 0 and 1, such as 0.9; got"):
        fitted.group_table(level=level)
