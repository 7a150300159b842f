import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from disaggregate.tables.features import read_features

VALUES = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]])


def read(X):
    return read_features(BaseEstimator(), X, fitting=True)


@pytest.mark.parametrize(
    "X",
    [
        VALUES,
        VALUES.tolist(),
        VALUES.astype(np.int32),
        VALUES.astype(np.float32),
        VALUES.astype(object),
        np.asfortranarray(VALUES),
        pd.DataFrame(VALUES, columns=["age", "income"]),
        pd.DataFrame(VALUES, columns=["age", "income"], index=["z", "y", "x"]),
        pd.DataFrame(VALUES),
        pd.DataFrame({"age": [1, 2, 3], "income": pd.array([4, 5, 6], dtype="Int64")}),
        pd.DataFrame({"age": pd.Categorical([1, 2, 3]), "income": [Decimal(4), Decimal(5), Decimal(6)]}),
        pl.DataFrame({"age": [1, 2, 3], "income": [4.0, 5.0, 6.0]}),
        pl.DataFrame({"age": [1, 2, 3], "income": [Decimal(4), Decimal(5), Decimal(6)]}),
    ],
    ids=lambda X: f"{type(X).__module__}.{type(X).__name__}",
)
def test_tables_become_one_matrix(X):
    features = read(X)
    assert features.dtype == np.float64
    assert features.flags.c_contiguous
    assert_array_equal(features, VALUES)


def test_truth_values_are_numbers():
    assert_array_equal(read(pd.DataFrame({"retired": [True, False]})), [[1.0], [0.0]])


def frame(**columns):
    return pd.DataFrame({"age": [1.0, 2.0, 3.0], "income": [4.0, 5.0, 6.0], **columns})


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.where(VALUES == 5.0, np.nan, VALUES), r"contains NaN: column 1, row 1 \(1 such values in all\)"),
        (np.where(VALUES > 4.5, -np.inf, VALUES), r"contains infinity: column 1, row 1 \(2 such values in all\)"),
        (frame(income=[4.0, np.inf, 6.0]), "contains infinity: column 'income', row 1"),
        (frame(age=[None, 2, 3]), "contains NaN: column 'age', row 0"),
        (frame(age=pd.array([1, 2, None], dtype="Int64")), "contains NaN: column 'age', row 2"),
        (pl.DataFrame({"age": [1.0, None]}), "contains NaN: column 'age', row 1"),
        (
            frame(income=["low", "high", "low"]),
            r"column 'income' is not numeric \((str|object)\); encode it first",
        ),
        (frame(income=["4", "5", "6"]), "column 'income' is not numeric"),
        (frame(income=pd.Series([4, "x", 6], dtype=object)), r"column 'income' is not numeric \(object\)"),
        (frame(income=pd.Categorical(["low", "high", "low"])), r"column 'income' is not numeric \(category\)"),
        (frame(income=pd.date_range("2020", periods=3)), "column 'income' is not numeric .datetime64"),
        (frame(income=pd.to_timedelta([1, 2, 3], unit="D")), "column 'income' is not numeric .timedelta64"),
        (frame(income=[1j, 2j, 3j]), r"column 'income' is not numeric \(complex128\)"),
        (frame(income=[{}, {}, {}]), r"column 'income' is not numeric \(object\)"),
        (pl.DataFrame({"age": [1, 2], "name": ["x", "y"]}), r"column 'name' is not numeric \(String\)"),
        (pl.DataFrame({"born": [datetime.date(2020, 1, 1)]}), r"column 'born' is not numeric \(Date\)"),
        ([[1, 2], [3, "high"]], "column 1 is not numeric .'high' at row 1"),
        (np.array([["1", "2"], ["low", "3"]]), "column 0 is not numeric .* at row 1"),
        (VALUES[:0], "0 sample"),
        (VALUES[:, :0], "0 feature"),
        (frame().iloc[:0], "empty table: .* no rows"),
        (frame()[[]], r"empty table: 0 feature\(s\)"),
        (pl.DataFrame({"age": []}), "empty table: .* no rows"),
        (pd.DataFrame(VALUES, columns=["age", "age"]), "X has 2 columns called 'age'"),
        (VALUES[:, 0], "Expected 2D array, got 1D array"),
        (pd.Series([1.0]), "2-dimensional"),
        (VALUES[None], "dim 3"),
        (None, "Expected 2D array"),
        (pl.LazyFrame({"age": [1, 2]}), r"LazyFrame.* X.collect\(\)"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_bad_features_are_refused_by_name(X, message):
    with pytest.raises(ValueError, match=message):
        read(X)


def test_sparse_features_are_refused():
    with pytest.raises(TypeError, match=r"dense data is required.*toarray\(\)"):
        read(csr_array(VALUES))


# ---- other columns than those of the fit --------------------------------------------------------------


@pytest.fixture
def fitted():
    estimator = BaseEstimator()
    read_features(estimator, frame(), fitting=True)
    return estimator


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (frame().rename(columns={"income": "wage"}), r"unseen at fit time:\n- wage\n.*now missing:\n- income"),
        (frame(wage=[1.0, 2.0, 3.0]), r"unseen at fit time:\n- wage"),
        (frame(name=["x", "y", "z"]), r"unseen at fit time:\n- name"),
        (frame()[["age"]], r"now missing:\n- income"),
        (frame()[["income", "age"]], "same order"),
        (pl.DataFrame({"age": [1.0], "wage": [1.0]}), r"unseen at fit time:\n- wage"),
        (np.ones((1, 3)), "X has 3 features, but .* expecting 2"),
        (frame(income=["low", "high", "low"]), "column 'income' is not numeric"),
        (frame(income=[1.0, np.nan, 2.0]), "column 'income', row 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_other_columns_than_those_of_the_fit_are_refused_by_name(fitted, X, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ValueError, match=message):
            read_features(fitted, X, fitting=False)


def test_polars_and_pandas_with_the_same_columns_are_the_same(fitted):
    X = pl.DataFrame({"age": [1.0, 2.0, 3.0], "income": [4.0, 5.0, 6.0]})
    assert_array_equal(read_features(fitted, X, fitting=False), VALUES)
