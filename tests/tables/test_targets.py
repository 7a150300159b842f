import numpy as np
import pandas as pd
import polars as pl
import pytest

import disaggregate as dg
from disaggregate.groups.evidence import AtLeast, Count, Fraction
from disaggregate.tables.targets import is_about_groups, read_group_target

X = np.zeros((4, 1))
GROUPS = ["a", "b", "a", "c"]
SHARES = {"a": 0.5, "b": 0.25, "c": 1.0}
ROWS = [SHARES[group] for group in GROUPS]


def read(y, groups=GROUPS, confidence=10.0, X=X):
    return read_group_target(X, y, groups, 4, confidence)


@pytest.mark.parametrize(
    ("y", "groups"),
    [
        (SHARES, GROUPS),
        (pd.Series(SHARES), pd.Series(GROUPS)),
        (ROWS, GROUPS),
        (pd.Series(ROWS, index=[5, 6, 7, 8]), pd.Series(GROUPS, index=[5, 6, 7, 8])),
        (pd.DataFrame({"district": GROUPS, "share": ROWS}), None),
        (pl.DataFrame({"district": GROUPS, "share": ROWS}), None),
        (pd.DataFrame({"district": list(SHARES), "share": list(SHARES.values())}), GROUPS),
        (dg.group_target(GROUPS, SHARES), None),
        (dg.group_target(GROUPS, SHARES), GROUPS),
        (dg.group_target(GROUPS, SHARES, confidence=10.0), None),
        ({group: Fraction(share, 10.0) for group, share in SHARES.items()}, GROUPS),
    ],
)
def test_every_form_gives_the_same_groups(y, groups):
    assert is_about_groups(y, groups)
    data = read(y, groups)
    assert data.names == ("a", "b", "c")
    assert data.evidence == tuple(Fraction(SHARES[name], 10.0) for name in "abc")


def test_kinds_of_evidence_mix():
    assert read({"a": AtLeast(1), "b": 0.25, "c": Count(1)}).evidence == (
        AtLeast(1),
        Fraction(0.25, 10.0),
        Count(1),
    )


@pytest.mark.parametrize(
    "by_group", [{"a": 1, "b": 2, "c": np.inf, "z": 9}, pd.Series({"a": 1, "b": 2, "c": np.inf})]
)
def test_confidence_may_differ_by_group(by_group):
    expected = (Fraction(0.5, 1.0), Fraction(0.25, 2.0), Fraction(1.0, np.inf))
    assert read(SHARES, confidence=by_group).evidence == expected
    assert read(dg.group_target(GROUPS, SHARES), None, confidence=by_group).evidence == expected


def test_confidence_in_the_target_goes_before_the_estimators():
    target = dg.group_target(GROUPS, SHARES, confidence={"b": 3.0})
    assert [evidence.confidence for evidence in read(target, None).evidence] == [10.0, 3.0, 10.0]


def test_rows_of_a_dataframe_tell_a_series_by_row():
    table = pd.DataFrame({"age": [1, 2, 3, 4]}, index=["a", "b", "c", "d"])
    y = pd.Series(ROWS, index=table.index)
    assert read(y, X=table).evidence[0] == Fraction(0.5, 10.0)
    with pytest.raises(ValueError, match="could name the rows or the groups"):
        read(y)


@pytest.mark.parametrize("y", [[0, 1, 1, 0], np.array([0.5] * 4), pd.Series(SHARES), pl.Series(ROWS), None])
def test_without_groups_these_are_labels(y):
    assert not is_about_groups(y, None)


@pytest.mark.parametrize(
    ("y", "groups", "message"),
    [
        (SHARES, GROUPS[:3], "groups has 3 entries but X has 4 rows"),
        (pd.DataFrame({"d": ["a"], "s": [0.5]}), None, "y has 1 rows but X has 4"),
        (dg.group_target(GROUPS, SHARES), GROUPS[::-1], "groups= disagrees with the groups inside y"),
        (dg.group_target([*GROUPS, "c"], SHARES), None, "y has 5 records but X has 4 rows"),
        (
            dg.group_target([*GROUPS, "c"], SHARES)[1:],
            None,
            "group 'a' has 2 members but 1 came: a split has cut it",
        ),
        (dg.group_target(GROUPS, SHARES)[[0, 2, 2, 1]], None, "group 'a' has 2 members but 3 came"),
    ],
)
def test_bad_targets_are_refused(y, groups, message):
    with pytest.raises(ValueError, match=message):
        read(y, groups)


def test_mapping_needs_groups():
    with pytest.raises(ValueError, match="y maps groups to shares but groups is None; pass groups="):
        is_about_groups(SHARES, None)


def test_missing_confidence_names_the_group():
    with pytest.raises(ValueError, match="not for group 'b'"):
        read(SHARES, confidence={"a": 1.0, "c": 1.0})
