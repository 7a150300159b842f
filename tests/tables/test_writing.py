import pandas as pd
import pytest

from disaggregate.tables.files import read_table
from disaggregate.tables.problems import TableError
from disaggregate.tables.writing import write_rows

NAMES = ["t.csv", "t.tsv.gz", "t.parquet"]
CHUNK = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})


def interrupted(error):
    yield CHUNK
    raise error


@pytest.mark.parametrize("name", NAMES)
def test_chunks_become_one_table(tmp_path, name):
    path = tmp_path / name
    assert write_rows(path, iter([CHUNK, CHUNK[:1], CHUNK[:0]])) == 3
    assert read_table(path).to_dict("list") == {"a": [1, 2, 1], "b": ["x", "y", "x"]}
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, MemoryError])
def test_nothing_is_left_half_written(tmp_path, name, error):
    path = tmp_path / name
    path.write_text("before")
    with pytest.raises(error):
        write_rows(path, interrupted(error))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_equal_tables_are_equal_files(tmp_path):
    for name in ("one.csv.gz", "other.csv.gz"):
        write_rows(tmp_path / name, [CHUNK])
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "other.csv.gz").read_bytes()


def test_parquet_takes_gaps_in_later_and_in_first_chunks(tmp_path):
    path = tmp_path / "t.parquet"
    first = pd.DataFrame({"a": [1, 2], "b": pd.Series([None, None], dtype=object)})
    write_rows(path, [first, pd.DataFrame({"a": [3.0, None], "b": ["x", None]})])
    assert read_table(path)["a"].dropna().to_list() == [1, 2, 3]
    assert read_table(path)["b"].dropna().to_list() == ["x"]


def test_parquet_refuses_what_its_columns_cannot_hold(tmp_path):
    with pytest.raises(TableError, match=r"cannot hold these rows.*or write a CSV"):
        write_rows(tmp_path / "t.parquet", [CHUNK, CHUNK.assign(a=["p", "q"])])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "nothing to write"),
        ([CHUNK, CHUNK[["b", "a"]]], r"same columns, got \['a', 'b'\] and then \['b', 'a'\]"),
    ],
)
def test_chunks_must_agree(tmp_path, chunks, message):
    with pytest.raises(TableError, match=message):
        write_rows(tmp_path / "t.csv", chunks)
    assert not list(tmp_path.iterdir())


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(TableError, match="there is no folder"):
        write_rows(tmp_path / "no" / "t.csv", [CHUNK])
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(TableError, match="cannot be written"):
        write_rows(tmp_path / "t.csv", [CHUNK])
    with pytest.raises(TableError, match="must end in one of"):
        write_rows(tmp_path / "t.xlsx", [CHUNK])
