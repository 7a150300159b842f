import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from disaggregate.groups.evidence import AtLeast, Unknown
from disaggregate.groups.reports import reports_by_group, row_groups

IDS = ["b", "a", "b", "c"]
SHARES = {"a": 0.1, "b": 0.2, "c": 0.3}
BY_ROW = [0.2, 0.1, 0.2, 0.3]


# ---- group ids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups",
    [
        IDS,
        tuple(IDS),
        np.array(IDS),
        np.array(IDS, dtype=object),
        pd.Series(IDS, index=[9, 8, 7, 6]),
        pd.Series(IDS, dtype="category"),
        pd.Categorical(IDS),
        pd.Index(IDS),
        pd.DataFrame({"district": IDS}),
        pl.Series(IDS),
        pl.Series(IDS, dtype=pl.Categorical),
        pl.DataFrame({"district": IDS}),
        [np.str_(group) for group in IDS],
    ],
    ids=lambda groups: f"{type(groups).__module__}.{type(groups).__name__}",
)
def test_groups_are_read_from_any_column(groups):
    assert row_groups(groups, 4) == IDS


DAY = datetime.date(2020, 5, 17)
MOMENT = datetime.datetime(2020, 5, 17, 8, 30)


@pytest.mark.parametrize(
    ("groups", "key"),
    [
        (np.array([3, 3]), 3),
        (np.array([3, 3], dtype=np.int8), np.int64(3)),
        ([np.uint16(3)] * 2, 3.0),
        (np.array([2.5, 2.5]), 2.5),
        (np.array([True, True]), True),
        ([(1, "x")] * 2, (np.int64(1), np.str_("x"))),
        (np.array([DAY] * 2, dtype="datetime64[D]"), DAY),
        (np.array([DAY] * 2, dtype="datetime64[D]"), np.datetime64(DAY)),
        ([np.datetime64(DAY)] * 2, DAY),
        (np.array([MOMENT] * 2, dtype="datetime64[ns]"), pd.Timestamp(MOMENT)),
        (np.array([MOMENT] * 2, dtype="datetime64[ns]"), MOMENT),
        (np.array([MOMENT] * 2, dtype="datetime64[s]"), np.datetime64(MOMENT, "ns")),
        (pd.Series([MOMENT] * 2), np.datetime64(MOMENT)),
        (pd.Series([MOMENT] * 2), MOMENT),
        (pl.Series([DAY] * 2), DAY),
        (np.array([7, 7], dtype="timedelta64[ns]"), pd.Timedelta(7)),
        ([Decimal("1.5")] * 2, Decimal("1.50")),
        ([pd.Period("2020Q1")] * 2, pd.Period("2020Q1")),
        ([frozenset({1})] * 2, frozenset({1})),
    ],
    ids=repr,
)
def test_ids_of_any_hashable_type_meet_their_share(groups, key):
    ids = row_groups(groups, 2)
    assert list(reports_by_group({key: 0.5}, ids).values()) == [0.5]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([], "groups has 0 entries but X has 4 rows"),
        (IDS[:3], "groups has 3 entries but X has 4 rows"),
        ("abcd", "groups must be a list, array or dataframe column, got str"),
        (4, "groups must be a list, array or dataframe column, got int"),
        (dict.fromkeys(IDS, 1), "groups must be a list, array or dataframe column, got dict"),
        (np.array(IDS).reshape(2, 2), r"groups must be one-dimensional, got an array of shape \(2, 2\)"),
        (pd.DataFrame({"a": IDS, "b": IDS}), r"groups must be one column, .* \['a', 'b'\]"),
        (["a", None, "b", "b"], r"groups\[1\] is missing \(None\)"),
        ([1.0, 2.0, np.nan, 2.0], r"groups\[2\] is missing \(nan\)"),
        (pd.Series(["a", "a", "b", pd.NA]), r"groups\[3\] is missing"),
        (np.array(["2020-01-01", "NaT"] * 2, dtype="datetime64[ns]"), r"groups\[1\] is missing"),
        (["a", ["b"], "b", "b"], r"groups\[1\] is \['b'\], which cannot name a group"),
        (["a", (1, []), "b", "b"], r"groups\[1\] is \(1, \[\]\), which cannot name a group"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_bad_groups_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        row_groups(groups, 4)


def test_no_groups_at_all():
    with pytest.raises(ValueError, match="groups is empty"):
        row_groups([])


# ---- reports ------------------------------------------------------------------------------------------

FRAME = {"district": list(SHARES), "share": list(SHARES.values())}
ROW_FRAME = {"district": IDS, "share": BY_ROW}


@pytest.mark.parametrize(
    "reports",
    [
        SHARES,
        pd.Series(SHARES),
        pd.Series(SHARES)[::-1],
        pd.Series(BY_ROW),
        pd.Series(BY_ROW, index=[40, 30, 20, 10]),
        pd.Series(BY_ROW, index=IDS),
        BY_ROW,
        tuple(BY_ROW),
        np.array(BY_ROW),
        pl.Series(BY_ROW),
        pd.DataFrame(FRAME),
        pd.DataFrame(ROW_FRAME),
        pl.DataFrame(FRAME),
        pl.DataFrame(ROW_FRAME),
    ],
    ids=lambda reports: f"{type(reports).__module__}.{type(reports).__name__}",
)
def test_every_form_gives_the_same_reports(reports):
    assert reports_by_group(reports, IDS) == SHARES


def test_evidence_passes_through_by_group_and_by_row():
    by_group = {"a": AtLeast(1), "b": 0.5, "c": Unknown()}
    assert reports_by_group(by_group, IDS) == by_group
    assert reports_by_group([by_group[group] for group in IDS], IDS) == by_group
    assert reports_by_group(pd.Series(by_group), IDS) == by_group


def test_missing_shares_may_repeat_within_a_group():
    reports = reports_by_group([np.nan, 0.1, None, 0.3], IDS)
    assert reports["a"] == 0.1
    assert np.isnan(reports["b"])


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        (None, "y is None"),
        ("0.5", "y must be a list, array or dataframe column, got str"),
        (0.5, "y must be a list, array or dataframe column, got float"),
        (np.ones((4, 1)), r"y must be one-dimensional, got an array of shape \(4, 1\)"),
        (BY_ROW[:3], "y has 3 entries but there are 4 rows"),
        ([*BY_ROW, 0.1], "y has 5 entries but there are 4 rows"),
        ([0.2, 0.1, 0.25, 0.3], "shares differ within group 'b': 0.2, and 0.25 at row 2"),
        ([0.2, 0.1, np.nan, 0.3], "shares differ within group 'b': 0.2, and nan at row 2"),
        ({"a": 0.1}, "groups 'b', 'c' are in groups but without a share in y"),
        ({**SHARES, "z": 0.1}, "group 'z' is in y but in no row of groups"),
        ({"A": 0.1, "b": 0.2, "c": 0.3}, "group 'a' is in groups but without a share in y"),
        ({**SHARES, None: 0.1}, "the groups of y.* is missing"),
        (pd.Series({"a": 0.1, "b": 0.2}), "group 'c' is in groups but without a share in y"),
        (pd.Series([0.2, 0.1]), "Series of 2 values whose index names no group, and there are 4 rows"),
        (
            pd.DataFrame({"d": ["a", "b", "c", "a"], "s": [0.1, 0.2, 0.3, 0.4]}),
            "group 'a' has two shares, 0.1 and 0.4",
        ),
        (pd.DataFrame({"s": BY_ROW}), r"two columns, the group and its share, in this order; got \['s'\]"),
        (pl.DataFrame({"a": IDS, "b": IDS, "c": IDS}), r"two columns, .* got \['a', 'b', 'c'\]"),
        (pd.DataFrame([IDS, BY_ROW], index=["k", "k"]).T, r"two columns, .* got \['k', 'k'\]"),
        (pl.DataFrame({"d": [["a"]], "s": [0.1]}), "cannot name a group"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_bad_reports_are_refused(reports, message):
    with pytest.raises(ValueError, match=message):
        reports_by_group(reports, IDS)


def test_many_groups_without_a_share_are_not_all_listed():
    with pytest.raises(ValueError, match="groups 1, 2, 3, 4, 5 and 4 more are in groups"):
        reports_by_group({0: 0.5}, list(range(10)))


# ---- a Series by row or by group ----------------------------------------------------------------------


@pytest.mark.parametrize("labels", [None, [10, 20, 30]])
def test_series_with_the_labels_of_the_rows_is_by_row(labels):
    series = pd.Series([0.5, 0.5, 0.7], index=labels)
    assert reports_by_group(series, [1, 1, 0], labels) == {1: 0.5, 0: 0.7}


def test_series_with_foreign_labels_is_by_row():
    series = pd.Series([0.5, 0.5, 0.7], index=["x", "y", "z"])
    assert reports_by_group(series, ["a", "a", "b"], [10, 20, 30]) == {"a": 0.5, "b": 0.7}


def test_series_by_group_may_have_another_order():
    assert reports_by_group(pd.Series({"b": 0.2, "a": 0.1}), ["a", "b"]) == {"a": 0.1, "b": 0.2}


def test_readings_that_agree_are_no_matter():
    assert reports_by_group(pd.Series([0.1, 0.2]), [0, 1]) == {0: 0.1, 1: 0.2}


@pytest.mark.parametrize(
    ("labels", "ids", "row_labels"),
    [
        ([0, 1], [1, 0], None),  # the rows' and, in another order, the groups'
        (["x", "y"], ["y", "x"], ["x", "y"]),
        (["a", "b", "d"], ["a", "b", "c"], None),  # a group is misspelt, or these are labels of rows
        (["a", "b", "c", "d"], ["a", "a", "b", "b"], None),
    ],
)
def test_series_that_could_be_either_is_refused(labels, ids, row_labels):
    series = pd.Series(np.linspace(0.1, 0.9, len(labels)), index=labels)
    with pytest.raises(ValueError, match=r"could name the rows or the groups.* y.to_dict\(\) .* y.to_numpy\(\)"):
        reports_by_group(series, ids, row_labels)
