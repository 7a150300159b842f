"""Breaks the forms of the page: ``python -m fuzz.forms --runs 100000``.

An input makes the fields that a browser, or whoever pretends to be one, might send for the Columns, Check and Fit
steps. What comes out is sound, or there is a complaint in words; nothing else may happen.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fuzz.choices import Choices
from fuzz.running import Target, main

COLUMNS = ("district", "age", "sex", "id", "<b>", "")
VALUES = ("feature", "group", "weight", "count", "ignore", "share", "positives", "total", "size", "Group", "")


OFFERED = [{"choices": [{"setting": "shares_in", "value": "percent", "meaning": "values run from 0 to 100"}]}]
UNREAD = [{"where": "results", "choices": [{"setting": "separator", "value": ";", "meaning": "2 columns"}]}]


def make_target() -> Target:
    """Return what takes bytes, makes fields of them, and reads those."""
    from disaggregate.web.forms import FormError, read_columns, read_fewest, read_length, read_settled, read_way

    def target(data: bytes) -> Callable[[], str]:
        choices = Choices(data)
        looked = {table: {"columns": _columns(choices)} for table in ("people", "results")}
        fields = _fields(choices)
        return lambda: read(fields, looked)

    def read(fields: dict[str, Any], looked: dict[str, Any]) -> str:
        try:
            choice = read_columns(fields, looked)
            read_length(fields)
            assert 1 <= read_fewest(fields, 100) <= 100
        except FormError:
            return "refused"
        assert read_settled(fields, OFFERED) in ({}, {"shares_in": "percent"})
        assert read_way(fields, UNREAD) in ({}, {"results": {"separator": ";"}})
        assert choice["roles"]["group"] in {column["name"] for column in looked["people"]["columns"]}
        assert len(choice["outcome"]) <= 80
        json.dumps(choice)
        return "read"

    return target


def _columns(choices: Choices) -> list[dict[str, str]]:
    names = list(dict.fromkeys(choices.one_of(COLUMNS) for _ in range(1 + choices.below(6))))
    return [
        {"name": name, "role": "group" if not place else choices.one_of(VALUES[:5])}
        for place, name in enumerate(names)
    ]


def _fields(choices: Choices) -> dict[str, Any]:
    fields: dict[str, Any] = {"sampled": choices.one_of(("yes", "no", ""))}
    if not choices.below(4):
        fields["outcome"] = choices.text()
    if not choices.below(4):
        fields["length"] = choices.one_of(("quick", "full", "", "none"))
    if not choices.below(4):
        fields["fewest"] = choices.text()
    if not choices.below(4):
        fields["settle"] = choices.one_of(("shares_in=percent", "results:separator=;", "undo", "../x=y"))
    fields["results-1"] = choices.one_of(("share", "share", "positives", "ignore"))
    for _ in range(choices.below(4)):
        fields[f"{choices.one_of(('people', 'results'))}-{choices.below(7)}"] = choices.one_of(VALUES)
    return fields


if __name__ == "__main__":
    main("forms of the page", make_target, ["disaggregate.web"])
