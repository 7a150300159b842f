"""Every accepted form of y and X says the same, so it gives the same draws."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from disaggregate.groups.evidence import (
    AtLeast,
    AtMost,
    Between,
    Count,
    Fraction,
    NoisyCount,
    Population,
    Survey,
    Unknown,
)
from tests.helpers.small import GROUPS, SHARES, small_features, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = small_features()
NAMES = ["age", "income"]
ROWS = [SHARES[group] for group in GROUPS]
LABELS = [f"person {row}" for row in range(len(X))]


@pytest.fixture(scope="module")
def reference():
    return small_model().fit(X, SHARES, groups=GROUPS)


FORMS = {
    "dict, list": (SHARES, GROUPS.tolist()),
    "dict in another order": (dict(reversed(SHARES.items())), GROUPS),
    "Series by group": (pd.Series(SHARES), GROUPS),
    "Series by group, pandas groups": (pd.Series(SHARES), pd.Series(GROUPS, index=LABELS)),
    "Series by group, polars groups": (pd.Series(SHARES), pl.Series(GROUPS.tolist())),
    "categorical groups": (SHARES, pd.Categorical(GROUPS)),
    "list by row": (ROWS, GROUPS),
    "array by row": (np.array(ROWS), GROUPS),
    "Series by row": (pd.Series(ROWS), GROUPS),
    "labelled Series by row": (pd.Series(ROWS, index=LABELS), pd.Series(GROUPS, index=LABELS)),
    "polars by row": (pl.Series(ROWS), GROUPS),
    "pandas frame by group": (pd.DataFrame({"g": list(SHARES), "s": list(SHARES.values())}), GROUPS),
    "polars frame by group": (pl.DataFrame({"g": list(SHARES), "s": list(SHARES.values())}), GROUPS),
    "pandas frame by row": (pd.DataFrame({"g": GROUPS, "s": ROWS}), None),
    "polars frame by row": (pl.DataFrame({"g": GROUPS, "s": ROWS}), None),
    "group_target": (dg.group_target(GROUPS, SHARES), None),
    "group_target and groups": (dg.group_target(GROUPS, SHARES), GROUPS),
    "group_target with confidence": (dg.group_target(GROUPS, SHARES, confidence=1000.0), None),
    "evidence": ({group: Fraction(share) for group, share in SHARES.items()}, GROUPS),
    "evidence by row": ([Fraction(share, 1000.0) for share in ROWS], GROUPS),
    "evidence and shares": ({**SHARES, "A": Fraction(SHARES["A"])}, GROUPS),
}


@pytest.mark.parametrize(("y", "groups"), FORMS.values(), ids=FORMS.keys())
def test_every_form_of_y_gives_the_same_draws(reference, y, groups):
    model = small_model().fit(X, y, groups=groups)
    assert_array_equal(model.label_proba_, reference.label_proba_)
    assert_array_equal(model.posterior_.delta2, reference.posterior_.delta2)
    assert_array_equal(model.classes_, [0, 1])
    assert model.group_table().equals(reference.group_table())
    assert model.score(X, y, groups=groups) == reference.score(X, SHARES, groups=GROUPS)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(X, columns=NAMES),
        pd.DataFrame(X, columns=NAMES, index=LABELS),
        pl.DataFrame(X, schema=NAMES),
        X.tolist(),
        np.asfortranarray(X),
    ],
    ids=["pandas", "pandas with labels", "polars", "list", "fortran"],
)
def test_every_form_of_X_gives_the_same_draws(reference, table):
    model = small_model().fit(table, SHARES, groups=GROUPS)
    assert_array_equal(model.label_proba_, reference.label_proba_)
    assert_array_equal(model.predict_proba(table), reference.predict_proba(X))
    if hasattr(table, "columns"):
        assert_array_equal(model.feature_names_in_, NAMES)
    assert model.n_features_in_ == 2


@pytest.mark.parametrize(
    "confidence",
    [1000, dict.fromkeys("ABCD", 1000.0), pd.Series(1000.0, index=list("ABCD"))],
    ids=["number", "mapping", "Series"],
)
def test_every_form_of_confidence_gives_the_same_draws(reference, confidence):
    model = small_model(confidence=confidence).fit(X, SHARES, groups=GROUPS)
    assert_array_equal(model.label_proba_, reference.label_proba_)


def test_confidence_in_a_share_matters():
    sure = small_model(confidence={**dict.fromkeys("ABD", 0.0), "C": np.inf}).fit(X, SHARES, groups=GROUPS)
    table = sure.group_table().set_index("group")
    assert_array_equal(table.loc["C", ["implied", "conf_low", "conf_high"]], 0.5)
    assert table.loc["A", "conf_high"] > table.loc["A", "conf_low"]


@pytest.mark.parametrize(
    "rename",
    [
        {"A": 4, "B": 3, "C": 2, "D": 1},
        {"A": (1, "x"), "B": (1, "y"), "C": (2, "x"), "D": (2, "y")},
        {"A": "A", "B": 7, "C": ("c",), "D": 2.5},
        {group: datetime.date(2020, 1, day) for day, group in enumerate("ABCD", 1)},
        {group: np.datetime64(f"2020-01-0{day}T12", "ns") for day, group in enumerate("ABCD", 1)},
        {group: np.int16(number) for number, group in enumerate("ABCD")},
    ],
    ids=["integers", "tuples", "mixed", "dates", "timestamps", "NumPy scalars"],
)
def test_the_names_of_groups_do_not_matter(reference, rename):
    groups = [rename[group] for group in GROUPS]
    shares = {rename[group]: share for group, share in SHARES.items()}
    model = small_model().fit(X, shares, groups=groups)
    assert_array_equal(model.label_proba_, reference.label_proba_)
    target = dg.group_target(groups, shares)
    assert_array_equal(small_model().fit(X, target).label_proba_, reference.label_proba_)
    assert len(model.group_table()) == 4


def test_sorting_rows_by_group_changes_nothing_but_their_order(reference):
    first_seen = list(dict.fromkeys(GROUPS))
    order = np.argsort([first_seen.index(group) for group in GROUPS], kind="stable")
    # The centres must keep their order too, because they are chosen by number.
    model = small_model(centers=X).fit(X[order], SHARES, groups=GROUPS[order])
    assert_array_equal(model.label_proba_, reference.label_proba_[order])
    assert_allclose(model.predict_proba(X), reference.predict_proba(X), rtol=1e-12)


def test_kinds_of_evidence_mix_in_one_fit():
    evidence = [
        Fraction(0.4, 20.0),
        Count(2),
        AtLeast(1),
        AtMost(2),
        Between(1, 2),
        Population(0.3),
        Population(0.5, 40),
        Survey(1, 2),
        NoisyCount(1.6, 0.8),
        NoisyCount(-0.5, 1.0, "gaussian"),
        Unknown(),
        0.5,
    ]
    groups = np.tile(np.arange(len(evidence)), 3)
    crowd = small_features(len(groups))
    model = small_model().fit(crowd, dict(enumerate(evidence)), groups=groups)
    table = model.group_table()
    assert table.loc[1, "implied"] == pytest.approx(2 / 3)
    assert table.loc[2, "conf_low"] >= 1 / 3 - 1e-12
    assert table.loc[3, "conf_high"] <= 2 / 3 + 1e-12
    assert 1 / 3 - 1e-12 <= table.loc[4, "implied"] <= 2 / 3 + 1e-12
    assert np.isfinite(model.score(crowd, dict(enumerate(evidence)), groups=groups))
    assert np.isfinite(model.predict_proba(crowd)).all()


def test_labels_mix_with_groups():
    shares = {"town": 0.5, "ann": 1, "bob": 0}
    model = small_model().fit(X[:6], shares, groups=["town"] * 4 + ["ann", "bob"])
    assert model.label_proba_[4] == 1.0
    assert model.label_proba_[5] == 0.0


def test_labels_are_groups_of_one():
    labels = np.arange(len(X)) % 2
    supervised = small_model().fit(X, labels)
    grouped = small_model().fit(X, [Count(label) for label in labels], groups=range(len(X)))
    assert_array_equal(supervised.posterior_.delta2, grouped.posterior_.delta2)
    assert_array_equal(supervised.label_proba_, labels)
    named = small_model().fit(X, np.where(labels, "yes", "no"))
    assert_array_equal(named.classes_, ["no", "yes"])
    assert_array_equal(named.predict(X), np.where(supervised.predict(X), "yes", "no"))
    assert_array_equal(named.predict_proba(X), supervised.predict_proba(X))
    assert named.score(X, np.where(labels, "yes", "no")) == supervised.score(X, labels)
