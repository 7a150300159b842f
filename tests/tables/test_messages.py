import pytest

from disaggregate.tables.messages import nearest, plural, some


def test_some_names_and_how_many_more():
    assert some(["a", 2]) == "'a', 2"
    assert some(range(7)) == "0, 1, 2, 3, 4 and 2 more"


@pytest.mark.parametrize(
    ("name", "expected"), [("Shares", "share"), (" AGE ", "age"), ("distrct", "District"), ("zzz", None)]
)
def test_nearest_name(name, expected):
    assert nearest(name, ["share", "age", "District", 3]) == expected


def test_plural():
    assert [plural(1, "row"), plural(2, "row"), plural(2, "person", "people")] == ["1 row", "2 rows", "2 people"]
