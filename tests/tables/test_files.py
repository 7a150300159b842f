import numpy as np
import pandas as pd
import polars as pl
import pytest

from disaggregate.tables.files import TableError, iter_table, read_table, schema_of, write_rows

TABLE = pd.DataFrame(
    {"id": ["007", "012", "100"], "age": [30, 41, 52], "share": [0.25, np.nan, 1 / 3], "job": ["a", None, "c, d"]}
)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.TSV.gz", "t.parquet"])
def test_round_trip(tmp_path, name):
    path = tmp_path / name
    write_rows(path, [TABLE])
    pd.testing.assert_frame_equal(read_table(path), TABLE, check_dtype=False, check_names=False)
    schema = schema_of(TABLE)
    chunks = list(iter_table(str(path), 2, schema))
    assert all(schema_of(chunk) == schema for chunk in chunks)
    pd.testing.assert_frame_equal(pd.concat(chunks), TABLE, check_dtype=False, check_names=False)


def test_dataframes():
    assert read_table(TABLE) is TABLE
    pd.testing.assert_frame_equal(
        read_table(pl.DataFrame({**TABLE.to_dict("list"), "job": ["a", None, "c, d"]})), TABLE, check_dtype=False
    )
    assert read_table(pl.DataFrame({"id": [7]}), {"id": "text"})["id"].to_list() == ["7"]


def test_missing_file_and_its_neighbour(tmp_path):
    (tmp_path / "people.csv").touch()
    with pytest.raises(TableError, match=r"there is no file .*peple\.csv; did you mean .*people\.csv\?"):
        read_table(tmp_path / "peple.csv")
    with pytest.raises(TableError, match=r"there is no file .*; check the path"):
        iter_table(tmp_path / "no" / "zzz.csv", 10)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (pd.DataFrame({"a": []}), r"the dataframe is empty: shape \(0, 1\)"),
        (pl.DataFrame(), "the dataframe is empty"),
        (17, "got int"),
        ("people.ods", "must end in one of"),
        ("people.xls", r"save it as \.xlsx"),
    ],
)
def test_other_sources(source, message):
    with pytest.raises(TableError, match=message):
        read_table(source)


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path / "t.csv")


def test_chunks_have_rows(tmp_path):
    with pytest.raises(TableError, match="rows must be 1 or more, got 0"):
        iter_table(tmp_path / "t.csv", 0)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_rows_are_counted_before_the_first_chunk(tmp_path, ending):
    write_rows(tmp_path / f"t.{ending}", [pd.DataFrame({"a": range(5), "b": ["x\ny"] * 5})])
    reported = []
    chunks = iter_table(tmp_path / f"t.{ending}", 2, counted=reported.append)
    next(chunks)
    assert reported == [5]
    assert sum(len(chunk) for chunk in chunks) == 3
