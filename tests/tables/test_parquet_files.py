import sys

import numpy as np
import pandas as pd
import pytest

from disaggregate.tables.files import iter_table, read_table
from disaggregate.tables.parquet_files import iter_parquet, read_parquet
from disaggregate.tables.problems import TableError


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "id": ["007", None, "12"],
            "age": [30.5, np.nan, 41.0],
            "born": pd.to_datetime(["2024-01-31", None, "1999-12-31"]),
            "job": pd.Categorical(["a", "b", None]),
        },
        index=pd.Index(["x", "y", "z"], name="who"),
    )


def test_whole_and_in_chunks(people, tmp_path):
    path = tmp_path / "p.parquet"
    people.to_parquet(path, row_group_size=2)
    table = read_parquet(path)
    assert list(table) == ["id", "age", "born", "job", "who"]
    pd.testing.assert_frame_equal(table[list(people)], people.reset_index(drop=True), check_dtype=False)
    chunks = list(iter_parquet(path, 2))
    assert [chunk.index.to_list() for chunk in chunks] == [[0, 1], [2]]
    pd.testing.assert_frame_equal(pd.concat(chunks)[["id", "age"]], table[["id", "age"]])


def test_an_index_without_a_name_is_no_column(tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"a": [1, 2]}, index=[5, 9]).to_parquet(path)
    assert list(read_parquet(path)) == ["a"]


def test_schema_of_an_earlier_table(tmp_path):
    path = tmp_path / "p.parquet"
    pd.DataFrame({"id": [7, 8], "age": ["1", "2"]}).to_parquet(path)
    schema = {"id": "text", "age": "number"}
    for table in (read_table(path, schema), next(iter_table(path, 5, schema))):
        assert table["id"].to_list() == ["7", "8"]
        assert table["age"].to_list() == [1, 2]


def test_faults(tmp_path):
    broken, empty = tmp_path / "b.parquet", tmp_path / "e.parquet"
    broken.write_bytes(b"PAR1 and then nothing")
    pd.DataFrame({"a": []}).to_parquet(empty)
    with pytest.raises(TableError, match="cannot be read as Parquet"):
        read_parquet(broken)
    with pytest.raises(TableError, match="has columns but no rows"):
        read_parquet(empty)


def test_without_pyarrow_the_way_out_is_named(tmp_path, monkeypatch):
    path = tmp_path / "p.parquet"
    path.touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"pip install 'disaggregate\[parquet\]'"):
        read_parquet(path)
