"""From the fields of a form to a choice of columns; what was sent is sound, or there is a complaint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disaggregate.web.fit_length import LENGTHS

PEOPLE_ROLES = {
    "feature": "learn from it",
    "group": "group",
    "weight": "survey weight",
    "count": "people per row",
    "ignore": "leave out",
}
RESULTS_ROLES = {
    "group": "group",
    "share": "share of outcome",
    "positives": "count of outcome",
    "total": "counted among",
    "size": "size of whole group",
    "ignore": "leave out",
}
_ONCE = ("group", "weight", "count", "share", "positives", "total", "size")
LONGEST_NAME = 80


class FormError(ValueError):
    """What is wrong with a form, in words."""


def read_columns(form: Mapping[str, Any], looked: Mapping[str, Any]) -> dict[str, Any]:
    """Read the choice of the Columns step.

    Parameters
    ----------
    form : mapping
        Fields as they were sent: ``people-0``, ``results-0`` and so on, ``outcome``, ``sampled``.
    looked : mapping
        What was found in the tables.
    """
    chosen = {
        table: _roles(form, table, looked[table]["columns"], known)
        for table, known in (("people", PEOPLE_ROLES), ("results", RESULTS_ROLES))
    }
    for table, found in chosen.items():
        if len(found["group"]) != 1:
            raise FormError(
                f"Say which column of {table} names the group: one of them, not {len(found['group'])}."
            )
        for role in _ONCE:
            if len(found.get(role, [])) > 1:
                names = " and ".join(found[role])
                raise FormError(f"{names} of {table} have the same role; only one of them can have it.")
    people, results = chosen["people"], chosen["results"]
    sampled = form.get("sampled") == "yes"
    roles: dict[str, Any] = {
        "group": people["group"][0],
        **{name: results[name][0] for name in ("share", "positives", "total") if results[name]},
        **({"size": results["size"][0]} if results["size"] and sampled else {}),
        **{name: people[name][0] for name in ("weight", "count") if people[name]},
        "features": people["feature"],
        "ignore": people["ignore"],
    }
    if "share" not in roles and "positives" not in roles:
        raise FormError("Say which column of results has the share, or the count, of the outcome.")
    if not people["feature"]:
        raise FormError("Choose at least one column of people to learn from.")
    outcome = " ".join(str(form.get("outcome", "")).split())[:LONGEST_NAME]
    return {
        "roles": roles,
        "group_results": results["group"][0],
        "sampled": sampled,
        "outcome": outcome,
        "reading": {},
        "fields": {
            f"{table}-{column}": role
            for table in chosen
            for role, names in chosen[table].items()
            for column in names
        },
    }


def roles_sent(form: Mapping[str, Any], looked: Mapping[str, Any]) -> dict[str, str]:
    """Return the roles that a form names, sound or not as a whole, to show them again; what is no role is not."""
    known = {"people": PEOPLE_ROLES, "results": RESULTS_ROLES}
    sent = {
        f"{table}-{column['name']}": str(form.get(f"{table}-{index}"))
        for table in known
        for index, column in enumerate(looked[table]["columns"])
    }
    return {name: role for name, role in sent.items() if role in known[name.partition("-")[0]]}


def read_length(form: Mapping[str, Any]) -> str:
    """Read the requested kind of fit."""
    length = str(form.get("length", "full"))
    if length not in LENGTHS:
        raise FormError(f"There is no fit of the kind {length[:20]!r}; choose a quick look or a full fit.")
    return length


def read_fewest(form: Mapping[str, Any], n_people: int) -> int:
    """Read how many people a number must be about."""
    text = str(form.get("fewest", "1"))
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= n_people):
        raise FormError(f"Numbers can be about 1 to {n_people:,} people at least; give a whole number of these.")
    return int(text)


def read_settled(form: Mapping[str, Any], problems: list[dict[str, Any]]) -> dict[str, str]:
    """Read the choice that settles a problem, as a setting of how tables are read; only offered ones count."""
    wanted = str(form.get("settle", ""))
    offered = [choice for problem in problems for choice in problem["choices"]]
    return {one["setting"]: one["value"] for one in offered if f"{one['setting']}={one['value']}" == wanted}


def read_way(form: Mapping[str, Any], unread: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Read the choice of how a table is to be read, by the table; only offered ones count."""
    wanted = str(form.get("settle", ""))
    offered = [(one["where"], choice["setting"], choice["value"]) for one in unread for choice in one["choices"]]
    return {kind: {setting: value} for kind, setting, value in offered if f"{kind}:{setting}={value}" == wanted}


def _roles(
    form: Mapping[str, Any], table: str, columns: list[dict[str, Any]], known: Mapping[str, str]
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {role: [] for role in known}
    for index, column in enumerate(columns):
        role = form.get(f"{table}-{index}", column["role"])
        if role not in known:
            raise FormError(f"Column {column['name']!r} of {table} has no known role; choose one from the list.")
        found[str(role)].append(column["name"])
    return found
