"""The tasks of the page, each in a process of its own; arguments and results are plain data.

The library is imported inside of functions, so that the process of the page itself stays small.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_OPTION = re.compile(r" \(--[a-z][^()]*\)")
PREVIEW_ROWS = 6
_LONGEST = 60
_MOST_COLUMNS = 300
PEOPLE, RESULTS = "fit_people.csv", "fit_results.csv"


def ready() -> bool:
    """Do nothing: what tasks need is imported by now."""
    return True


def make_example(folder: str, name: str) -> dict[str, Any]:
    """Write the tables of an example, and check them."""
    from disaggregate.web.examples import write_example

    people, results = write_example(name, Path(folder))
    return look(folder, {"people": people, "results": results}, {})


def look(folder: str, files: dict[str, str], readings: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Read both tables: their columns with guessed roles, a preview, and how many rows they have.

    Where a table can be read in several ways, ``unread`` lists them instead.
    """
    from disaggregate.tables.files import read_table
    from disaggregate.tables.formats import split_sheet
    from disaggregate.tables.guess import guess_roles
    from disaggregate.tables.problems import TableError
    from disaggregate.tables.reading import Reading

    tables, unread = {}, []
    for kind, file in files.items():
        path = Path(folder, file)
        try:
            tables[kind] = read_table(path, None, Reading(**readings.get(kind, {})))
        except TableError as error:
            plain = split_sheet(path)[0]
            message = str(error).replace(str(plain), "the file").replace(plain.name, "the file")
            choices = error.choices or (_sheets(path) if error.kind == "sheet" else ())
            if not choices:
                raise ValueError(f"{kind}: {message}") from error
            unread.append(_problem("error", kind, message, choices))
            continue
        if len(tables[kind].columns) > _MOST_COLUMNS:
            raise ValueError(
                f"{kind}: the table has over {_MOST_COLUMNS} columns; leave out those that play no role."
            )
    if unread:
        return {"unread": unread}
    guess = guess_roles(tables["people"], tables["results"])
    return {
        "people": _described(tables["people"], guess.people),
        "results": _described(tables["results"], guess.results),
        "sampled": guess.sampled,
    }


def _sheets(path: Path) -> tuple[Any, ...]:
    """Return the sheets of a workbook as choices; which one is meant is part of the path."""
    from disaggregate.tables.excel_files import sheets_of
    from disaggregate.tables.problems import Choice

    return tuple(Choice("sheet", name, f"the table is on the sheet {name!r}") for name in sheets_of(path))


def check(
    folder: str, files: dict[str, str], readings: dict[str, dict[str, Any]], choice: dict[str, Any]
) -> dict[str, Any]:
    """List every problem of the tables, with the choices that they leave open; write what a fit would read."""
    from dataclasses import replace

    from disaggregate.tables.files import read_with_notes
    from disaggregate.tables.problems import TableError
    from disaggregate.tables.reading import Reading
    from disaggregate.tables.roles import resolve_roles
    from disaggregate.tables.two_tables import prepared

    people, results = (
        read_with_notes(
            Path(folder, files[kind]), None, Reading(**{**readings.get(kind, {}), **choice["reading"]})
        )
        for kind in ("people", "results")
    )
    taken = choice["roles"].get("group")
    if choice["group_results"] != taken:
        table = results.table.drop(columns=[taken], errors="ignore")
        results = replace(results, table=table.rename(columns={choice["group_results"]: taken}))
    try:
        roles = resolve_roles(people.table, results.table, **choice["roles"])
    except TableError as error:
        message = [_problem("error", "columns", line) for line in str(error).splitlines()]
        return {"problems": message, "settled": choice["reading"], "ready": False}
    tables = prepared(people, results, roles, Reading(**choice["reading"]))
    problems = tables.check(choice["sampled"])
    columns = [name for name in tables.people if name not in roles.ignore]
    tables.people[columns].to_csv(Path(folder, PEOPLE), index=False)
    tables.results.to_csv(Path(folder, RESULTS), index=False)
    return {
        "problems": [_problem(one.level, one.where, one.message, one.choices) for one in problems],
        "settled": choice["reading"],
        "ready": not any(problem.level == "error" for problem in problems),
        "n_rows": len(tables.people),
        "n_people": int(tables.people[roles.count].sum() if roles.count else len(tables.people)),
        "n_groups": len(tables.results),
        "features": list(roles.features),
    }


def _problem(level: str, where: str, message: str, choices: Any = ()) -> dict[str, Any]:
    message = _OPTION.sub("", message)  # the page has buttons instead
    offered = [{"setting": one.setting, "value": one.value, "meaning": one.meaning} for one in choices]
    return {"level": level, "where": where, "message": message, "choices": offered}


def subgroups(folder: str, by: list[str], min_group_size: int = 1) -> dict[str, Any]:
    """Estimate the share of each subgroup by some columns, drawn and as a table."""
    from disaggregate.analysis import load
    from disaggregate.report.page import render_sections
    from disaggregate.report.subgroups import estimates_by

    analysis = load(Path(folder, "model.dgz"))
    people = analysis.read(Path(folder, PEOPLE))
    unknown = [name for name in by if name not in people]
    if unknown:
        raise ValueError(f"the table of people has no column {unknown[0]!r}.")
    section, _ = estimates_by(analysis, people, by, min_group_size=min_group_size)
    return {"html": render_sections([section], heading=3)}


def _described(table: Any, roles: dict[str, str]) -> dict[str, Any]:
    columns = [
        {
            "name": str(name),
            "role": roles[str(name)],
            "kind": _kind(table[name]),
            "examples": [_short(value) for value in table[name].dropna().unique()[:3]],
        }
        for name in table
    ]
    rows = [[_short(value) for value in row] for row in table.head(PREVIEW_ROWS).itertuples(index=False)]
    return {"columns": columns, "preview": rows, "n_rows": len(table)}


def _kind(column: Any) -> str:
    from pandas.api import types

    if types.is_datetime64_any_dtype(column.dtype):
        return "date"
    if types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype):
        return "number"
    return f"{column.nunique():,} values"


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
