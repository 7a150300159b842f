import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.multiclass import type_of_target

import disaggregate as dg
from disaggregate.groups import is_group_target

GROUPS = ["a", "b", "a", "c", "c", "a"]
SHARES = {"a": 0.5, "b": dg.evidence.Count(1), "c": 0.25}


def test_every_record_carries_its_group_and_report():
    target = dg.group_target(GROUPS, SHARES)
    assert target.shape == (6,)
    assert target["group"].tolist() == GROUPS
    assert target["report"].tolist() == [SHARES[group] for group in GROUPS]
    assert target["group_size"].tolist() == [3, 1, 3, 2, 2, 3]
    assert target["confidence"].tolist() == [None] * 6


@pytest.mark.parametrize(
    "shares",
    [
        pd.Series(SHARES),
        [SHARES[group] for group in GROUPS],
        pd.DataFrame({"group": list(SHARES), "share": list(SHARES.values())}),
    ],
    ids=["series", "rows", "dataframe"],
)
def test_shares_come_in_every_form(shares):
    assert_array_equal(dg.group_target(GROUPS, shares)["report"], dg.group_target(GROUPS, SHARES)["report"])


@pytest.mark.parametrize("groups", [np.array(GROUPS), pd.Series(GROUPS), pl.Series(GROUPS)])
def test_groups_come_in_every_form(groups):
    assert dg.group_target(groups, SHARES)["group"].tolist() == GROUPS


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (5, [5, 5, 5, 5, 5, 5]),
        (np.inf, [np.inf] * 6),
        ({"a": 1, "b": 2, "c": 3}, [1, 2, 1, 3, 3, 1]),
        (pd.Series({"a": 1, "b": 2, "c": 3}), [1, 2, 1, 3, 3, 1]),
        ({"a": 1, "c": None}, [1, None, 1, None, None, 1]),
    ],
    ids=["one", "infinite", "mapping", "series", "some"],
)
def test_confidence_is_one_for_all_or_one_a_group(confidence, expected):
    assert_array_equal(dg.group_target(GROUPS, SHARES, confidence)["confidence"], expected)


@pytest.mark.parametrize(
    ("groups", "shares", "confidence", "message"),
    [
        (GROUPS, {"a": 0.5, "b": 0.5}, None, "group 'c' is in groups but without a share"),
        (GROUPS, {**SHARES, "d": 0.5}, None, "group 'd' is in y but in no row"),
        (GROUPS, {**SHARES, "c": 25}, None, "group 'c': .*divide a percentage by 100"),
        (GROUPS, {**SHARES, "c": None}, None, "share of group 'c' is missing"),
        (GROUPS, [0.5] * 5, None, "y has 5 entries but there are 6 rows"),
        (GROUPS, [0.5] * 5 + [0.6], None, "shares differ within group 'a'"),
        ([], SHARES, None, "groups is empty"),
        (GROUPS, SHARES, -1.0, "group 'a': .* confidence of 0 or more, got -1.0"),
        (GROUPS, SHARES, {"c": np.nan}, "group 'c': .* confidence of 0 or more, got nan"),
        (GROUPS, SHARES, "high", "group 'a': .* confidence of 0 or more, got 'high'"),
        (GROUPS, SHARES, {"d": 1.0}, "confidence is given for group 'd', which is in no row"),
    ],
)
def test_bad_targets_are_refused_when_they_are_made(groups, shares, confidence, message):
    with pytest.raises(ValueError, match=message):
        dg.group_target(groups, shares, confidence)


def test_a_target_is_distinguished_from_other_arrays():
    target = dg.group_target(GROUPS, SHARES)
    assert is_group_target(target)
    assert is_group_target(target[2:4])
    assert not is_group_target(target["group"])
    assert not is_group_target(np.zeros(3))
    assert not is_group_target([0.5])
    assert not is_group_target(None)
    assert not is_group_target(np.array([], dtype=object))


def test_a_target_travels():
    """Indexing, copies and pickles keep it; so does a tool that makes it a plain array."""
    target = dg.group_target(GROUPS, SHARES)
    for traveller in (target[[3, 0]], target[np.arange(6) < 2], target.copy(), pickle.loads(pickle.dumps(target))):
        assert is_group_target(traveller)
        assert traveller["group"].tolist() == [record.group for record in traveller]
    assert is_group_target(np.asarray(target))
    assert target[3].group == "c"


def test_scikit_learn_does_not_take_it_for_labels():
    target = dg.group_target(GROUPS, {"a": 0.5, "b": 0.5, "c": 0.5})
    assert type_of_target(target) == "unknown"
    with pytest.raises(TypeError):
        LabelEncoder().fit(target)
