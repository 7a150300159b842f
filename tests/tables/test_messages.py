import pytest

from disaggregate.tables.messages import nearest, plural, shown_name, some


def test_some_names_and_how_many_more():
    assert some(["a", 2]) == "'a', 2"
    assert some(range(7)) == "0, 1, 2, 3, 4 and 2 more"


def test_names_that_look_alike_are_shown_apart():
    assert shown_name("caf\u00e9") == "'caf\u00e9'"
    assert some(["cafe\u0301", 3]) == "'cafe\\u0301', 3"
    assert nearest("\u00e9t\u00e9", ["e\u0301te\u0301"]) == "e\u0301te\u0301"


@pytest.mark.parametrize(
    ("name", "expected"), [("Shares", "share"), (" AGE ", "age"), ("distrct", "District"), ("zzz", None)]
)
def test_nearest_name(name, expected):
    assert nearest(name, ["share", "age", "District", 3]) == expected


def test_plural():
    assert [plural(1, "row"), plural(2, "row"), plural(2, "person", "people")] == ["1 row", "2 rows", "2 people"]
