"""Rows that stand for several people each."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import disaggregate as dg
from disaggregate.posterior.convergence import bulk_ess
from tests.helpers.small import GROUPS, SHARES, small_features, small_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X = small_features()
ONES = np.ones(15)


def with_one(value):
    counts = ONES.tolist()
    counts[3] = value
    return counts


BAD = {
    "zero": (with_one(0), r"whole numbers of 1 or more, got 0\.0 in row 3; leave empty cells out"),
    "negative": (with_one(-2), r"whole numbers of 1 or more, got -2\.0 in row 3"),
    "fraction": (with_one(1.5), r"whole numbers of 1 or more, got 1\.5 in row 3"),
    "missing": (with_one(np.nan), r"whole numbers of 1 or more, got nan in row 3"),
    "infinite": (with_one(np.inf), r"whole numbers of 1 or more, got inf in row 3"),
    "too many": (with_one(2.0**60), r"whole numbers of 1 or more"),
    "None": (with_one(None), r"whole numbers of 1 or more, got nan in row 3|must hold numbers"),
    "text": (with_one("many"), "counts must hold numbers"),
    "too few": (ONES[1:], "14 numbers but X has 15 rows"),
    "a table": (np.ones((15, 1)), r"one number per row.*\(15, 1\)"),
    "one for all": (3, r"one number per row.*\(\)"),
}


@pytest.mark.parametrize(("counts", "message"), BAD.values(), ids=BAD)
def test_bad_counts_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        small_model().fit(X, SHARES, groups=GROUPS, counts=counts)


def test_counts_belong_to_groups_and_dense_weights():
    with pytest.raises(ValueError, match="counts need groups: a label belongs to one person"):
        small_model().fit(X, np.arange(15) % 2, counts=2 * ONES)
    with pytest.raises(ValueError, match='counts need prior="gaussian_process"'):
        small_model("sparse").fit(X, SHARES, groups=GROUPS, counts=2 * ONES)
    labelled = small_model().fit(X, np.arange(15) % 2)
    with pytest.raises(ValueError, match="counts need groups"):
        labelled.score(X, np.arange(15) % 2, counts=2 * ONES)


def test_sparse_weights_take_cells_of_one():
    model = small_model("sparse").fit(X, SHARES, groups=GROUPS, counts=ONES)
    assert_array_equal(
        model.posterior_.delta2, small_model("sparse").fit(X, SHARES, groups=GROUPS).posterior_.delta2
    )


def test_counts_and_unequal_weights_have_two_meanings():
    with pytest.raises(ValueError, match="has both counts and unequal sample_weight"):
        small_model().fit(X, SHARES, groups=GROUPS, counts=2 * ONES, sample_weight=1.0 + np.arange(15) % 3)


def test_a_count_speaks_of_people_and_not_of_rows():
    counts = with_one(30)
    size = int(sum(count for count, group in zip(counts, GROUPS, strict=True) if group == "B"))
    model = small_model().fit(X, {**SHARES, "B": dg.evidence.Count(size)}, groups=GROUPS, counts=counts)
    assert_array_equal(model.label_proba_[GROUPS == "B"], 1.0)
    with pytest.raises(ValueError, match=f"in a group of {size}"):
        small_model().fit(X, {**SHARES, "B": dg.evidence.Count(size + 1)}, groups=GROUPS, counts=counts)


@pytest.mark.parametrize("effects", [False, True])
def test_one_cell_of_some_people_is_as_many_rows_of_one(effects):
    counts = 1 + np.arange(15) % 4
    settings = {
        "kernel": "linear",
        "gamma": 1.0,
        "prior": dg.GaussianProcess(emphasis=1.0),
        "centers": X[:6],
        "group_effects": effects,
    }
    settings |= {"n_draws": 400, "n_burn": 100, "n_replicas": 1}
    cells = small_model(**settings).fit(X, SHARES, groups=GROUPS, counts=counts)
    rows = np.repeat(np.arange(15), counts)
    # Counts of one say that these are places too, so that the priors are the same.
    people = small_model(**settings).fit(X[rows], SHARES, groups=GROUPS[rows], counts=np.ones(len(rows)))
    means, errors = [], []
    for model in (cells, people):
        _, individuals = model._fitted_and_rows(X, GROUPS)
        f = np.clip(model.posterior_.scores(individuals), -6.0, 6.0).reshape(2, 400, -1)
        means.append(f.mean(axis=(0, 1)))
        errors.append(f.std(axis=(0, 1)) / np.sqrt(np.maximum(bulk_ess(f), 4.0)))
    assert np.abs((means[0] - means[1]) / np.hypot(*errors)).max() < 5.0
    first = np.unique(rows, return_index=True)[1]
    assert_allclose(cells.label_proba_, people.label_proba_[first], atol=0.05)
    ours, theirs = cells.group_table(), people.group_table()
    assert_array_equal(ours["n"], theirs["n"])
    assert_allclose(ours["implied"], theirs["implied"], atol=0.02)
    assert cells.score(X, SHARES, groups=GROUPS, counts=counts) == pytest.approx(
        people.score(X[rows], SHARES, groups=GROUPS[rows]), abs=0.05
    )


def test_the_score_of_cells_is_that_of_their_people():
    model = small_model(group_effects=False).fit(X, SHARES, groups=GROUPS)
    counts = 1 + np.arange(15) % 4
    rows = np.repeat(np.arange(15), counts)
    of_cells = model.score(X, SHARES, groups=GROUPS, counts=counts)
    assert of_cells == pytest.approx(model.score(X[rows], SHARES, groups=GROUPS[rows]), rel=1e-9)
    assert of_cells != pytest.approx(model.score(X, SHARES, groups=GROUPS), rel=1e-3)


def test_cells_are_not_checked_as_if_they_were_people():
    reported = small_model(group_effects=False).fit(X, SHARES, groups=GROUPS, counts=2 * ONES).diagnostics_.reports
    assert np.isnan(reported.p_value)
    assert not reported.is_surprising
    assert not np.isnan(small_model().fit(X, SHARES, groups=GROUPS).diagnostics_.reports.p_value)
