"""Whatever is given as groups, reports, tables and settings: refused by name, or read as it is."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import disaggregate as dg
from disaggregate.settings import check_settings
from disaggregate.tables.encoding import make_encoder
from disaggregate.tables.files import read_table
from disaggregate.tables.problems import TableError
from disaggregate.tables.targets import read_group_target

EXACT = settings(derandomize=True, deadline=None, max_examples=150, phases=[Phase.generate])
NAMES = st.one_of(
    st.text(max_size=4),
    st.integers(-3, 3),
    st.floats(),
    st.none(),
    st.booleans(),
    st.tuples(st.integers(0, 1)),
    st.lists(st.integers(), max_size=1),
    st.sampled_from(["ä", "a\u0308", "\u202e", "\x00", "🗳", "nan", pd.NA, pd.NaT, np.int64(1), np.str_("a")]),
)
REPORTS = st.one_of(st.floats(0, 1), st.floats(), st.none(), st.text(max_size=2), st.just(dg.evidence.Unknown()))


@EXACT
@given(st.lists(NAMES, max_size=8), st.data())
def test_groups_are_refused_or_sorted(groups, data):
    hashable = {name for name in groups if not isinstance(name, list)}
    reports = {name: data.draw(REPORTS) for name in hashable}
    try:
        read = read_group_target(None, reports, groups, len(groups), 1000.0)
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10
        return
    assert read.sizes.sum() == len(groups)
    assert sorted(read.order) == list(range(len(groups)))
    for place, row in enumerate(read.order):
        name = read.names[np.searchsorted(read.offsets, place, side="right") - 1]
        assert name == groups[row]


CELLS = st.one_of(
    st.floats(),
    st.integers(),
    st.text(max_size=3),
    st.none(),
    st.booleans(),
    st.dates(),
    st.sampled_from([10**400, 5e-324, 1.7e308, -1.7e308, "", pd.NA, pd.NaT, 1j, b"x", [], "2024-01-31"]),
)
COLUMNS = st.one_of(
    st.lists(st.floats(), min_size=4, max_size=4),
    st.lists(st.one_of(st.text(max_size=2), st.none()), min_size=4, max_size=4),
    st.lists(CELLS, min_size=4, max_size=4),
)


@EXACT
@given(st.dictionaries(st.text(max_size=3), COLUMNS, min_size=1, max_size=3))
def test_tables_are_refused_or_encoded(columns):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            table = read_table(pd.DataFrame(columns))
            X = make_encoder(table, list(table.columns)).transform(table)
        except TableError as error:
            assert len(str(error)) > 10
            return
    assert X.shape[0] == 4
    assert np.isfinite(X).all()


FEATURES = st.one_of(st.floats(allow_nan=True), st.sampled_from([0.0, 1.0, 5e-324, 1e-160, 1e160, 1.7e308]))


@settings(EXACT, max_examples=60)
@given(st.lists(st.tuples(FEATURES, FEATURES), min_size=1, max_size=5), st.sampled_from(["rbf", "linear", "poly"]))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_are_refused_or_fitted(rows, kernel):
    model = dg.GroupStatsClassifier(
        kernel=kernel, gamma="scale", n_replicas=1, n_chains=1, n_draws=2, n_burn=0, n_jobs=1, random_state=0
    )
    try:
        probability = model.fit(rows, {"g": 0.5}, groups=["g"] * len(rows)).predict_proba(rows)
    except ValueError as error:
        assert len(str(error)) > 10
        return
    assert np.isfinite(probability).all()


ANYTHING = st.one_of(
    st.floats(),
    st.integers(-2, 5),
    st.sampled_from(
        [
            10**400,
            -(10**400),
            2**31,
            2**64,
            5e-324,
            "auto",
            "scale",
            "all",
            "gaussian_process",
            "spike_slab",
            "rbf",
        ]
    ),
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.lists(st.floats(), max_size=2),
    st.dictionaries(st.text(max_size=1), st.floats(), max_size=2),
    st.just(np.array([[1.0, 2.0]])),
    st.just(object()),
)
DEFAULTS = dg.GroupStatsClassifier().get_params()


@settings(EXACT, max_examples=600)
@given(st.sampled_from(sorted(DEFAULTS)), ANYTHING)
def test_settings_are_refused_by_name_or_sound(name, value):
    try:
        check_settings({**DEFAULTS, name: value})
    except ValueError as error:
        assert name in str(error)


SMALL = {"n_replicas": 1, "n_chains": 1, "n_draws": 2, "n_burn": 0, "n_jobs": 1, "random_state": 0}
SMALL |= {"kernel": "rbf", "gamma": 1.0}
CHEAP = ["kernel", "gamma", "kernel_params", "centers", "intercept", "prior", "confidence", "random_state"]


@settings(EXACT, max_examples=200)
@given(st.sampled_from(CHEAP), ANYTHING)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fits_with_any_setting_are_refused_by_name_or_sound(name, value):
    X = np.array([[0.0, 1.0], [1.0, 0.5], [0.3, -1.0]])
    model = dg.GroupStatsClassifier(**{**SMALL, name: value})
    try:
        model.fit(X, {"g": 0.5}, groups=["g"] * 3)
    except (ValueError, TypeError) as error:
        assert name in str(error) or "kernel" in str(error)
        return
    assert np.isfinite(model.predict_proba(X)).all()
