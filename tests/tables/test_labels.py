import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from disaggregate.groups.evidence import Count, Unknown
from disaggregate.tables.labels import label_column, read_labels


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        (np.array([-1.0, 1.0, 1.0]), [-1.0, 1.0]),
        ([False, True, True], [False, True]),
        (["no", "yes", "yes"], ["no", "yes"]),
        (pd.Series(["no", "yes", "yes"], dtype="category"), ["no", "yes"]),
        (pd.Series([0, 1, 1], index=[7, 8, 9]), [0, 1]),
        (pl.Series([0, 1, 1]), [0, 1]),
    ],
)
def test_every_row_becomes_a_group_of_one(y, classes):
    found, data = read_labels(y, 3)
    assert_array_equal(found, classes)
    assert data.evidence == (Count(0), Count(1), Count(1))
    assert_array_equal(data.sizes, 1)
    assert_array_equal(data.order, [0, 1, 2])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None.* pass groups="),
        ([0, 1], "y has 2 labels but X has 3 rows"),
        ([1, 1, 1], r"expected two classes or more, got 1 class\(es\)"),
        ([0.25, 0.5, 0.5], "Unknown label type: continuous.* For group shares pass groups="),
        ([Unknown(), Unknown(), Unknown()], "Unknown label type: unknown.* For group shares pass groups="),
        ([0.0, np.nan, 1.0], "contains NaN: the label of row 1 is missing"),
        (["no", None, "yes"], "contains NaN: the label of row 1 is missing"),
        (pd.Series([0, 1, None], dtype="Int64"), "the label of row 2 is missing"),
        ([0.0, 1.0, np.inf], "contains infinity: the label of row 2"),
        (np.ones((3, 2)), "1d array"),
    ],
)
def test_bad_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        read_labels(y, 3)


def test_one_class_is_enough_to_judge_predictions():
    assert_array_equal(label_column([1, 1, 1], 3), [1, 1, 1])
