import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from disaggregate.tables.dataframes import dataframe_of, pandas_of
from disaggregate.tables.files import read_table
from disaggregate.tables.kinds import kind_of
from disaggregate.tables.problems import TableError


def test_pandas_passes_through():
    frame = pd.DataFrame({"a": [1]})
    assert pandas_of(frame) is frame


@pytest.fixture
def mixed():
    return pl.DataFrame(
        {
            "whole": [1, 2],
            "gap": [2**60 + 1, None],
            "real": [1.5, None],
            "text": ["a", None],
            "yes": [True, None],
            "level": pl.Series(["x", "y"], dtype=pl.Categorical),
            "born": [datetime.date(2024, 1, 31), None],
            "seen": pl.Series([datetime.datetime(2024, 1, 31, 12), None]).dt.replace_time_zone("Europe/Paris"),
            "money": [Decimal("1.50"), None],
            "nothing": [None, None],
        }
    )


def test_polars_without_pyarrow(mixed, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    table = pandas_of(mixed)
    kinds = [kind_of(table[name]) for name in table]
    assert kinds == [*["number"] * 3, *["category"] * 3, *["date"] * 2, *["number"] * 2]
    assert table["whole"].dtype == np.int64
    assert table["gap"].iloc[0] == 2**60 + 1
    assert table.isna().sum().tolist() == [0, 1, 1, 1, 1, 0, 1, 1, 1, 2]
    assert table["born"].iloc[0] == pd.Timestamp("2024-01-31")
    assert table["seen"].iloc[0] == pd.Timestamp("2024-01-31 12:00", tz="Europe/Paris")


def test_same_name_twice():
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with pytest.raises(TableError, match=r"columns of the same name: 'a' \(2 times\); rename"):
        pandas_of(frame)


def test_lazy_frame():
    with pytest.raises(TableError, match=r"LazyFrame holds no rows yet; pass its .collect()"):
        pandas_of(pl.LazyFrame({"a": [1]}))


def test_no_dataframe():
    with pytest.raises(TableError, match=r"path of a CSV.*got list"):
        pandas_of([1, 2])


def test_half_floats_are_widened(tmp_path):
    half = pd.DataFrame({"x": np.array([1, 2, 1], dtype=np.float16), "y": [1, 2, 3]})
    assert read_table(half).dtypes.astype(str).to_dict() == {"x": "float64", "y": "int64"}
    pytest.importorskip("pyarrow")
    half.to_parquet(tmp_path / "half.parquet")
    assert read_table(tmp_path / "half.parquet").groupby("x").size().tolist() == [2, 1]


def test_ids_of_any_type_stay_as_they_are():
    table = dataframe_of({"group": ((1, 2), "x", 3), "n": np.array([1, 2, 3])})
    assert table["group"].tolist() == [(1, 2), "x", 3]
    assert table["n"].dtype == np.int64


def test_plain_ids_get_a_plain_type():
    assert dataframe_of({"group": (3, 1)})["group"].dtype == np.int64
    assert dataframe_of({"group": ("x", "y")})["group"].tolist() == ["x", "y"]
