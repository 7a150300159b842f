from pathlib import Path

import pytest

from disaggregate.tables.errors import TableError
from disaggregate.tables.formats import format_of, is_zipped, separator


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", ("csv", False, ",")),
        ("a.b.CSV.GZ", ("csv", True, ",")),
        ("a.tsv", ("csv", False, "\t")),
        ("a.tsv.csv", ("csv", False, ",")),
        ("a.tsv.gz", ("csv", True, "\t")),
        ("a.parquet", ("parquet", False, ",")),
    ],
)
def test_formats(name, expected):
    path = Path(name)
    assert (format_of(path), is_zipped(path), separator(path)) == expected


@pytest.mark.parametrize("name", ["a.xlsx", "a", "a.gz", "csv"])
def test_other_endings(name):
    with pytest.raises(TableError, match=r"must end in one of .csv, .csv.gz, .tsv, .tsv.gz, .parquet"):
        format_of(Path(name))
