"""Breaks the reader of evidence: ``python -m fuzz.results --runs 100000``.

An input is a table of results, as a dataframe or as CSV, with any of the columns that can play a role; what is
read must be evidence that gives a likelihood for the people who are there.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.choices import Choices
from fuzz.running import Target, main

ROLES = ("share", "positives", "total", "confidence", "low", "high", "noise", "rounded_to", "size")
GROUPS: tuple[Any, ...] = ("a", "b", "c", "ä", "", None, "a ", "A", 1, 1.0, True, float("nan"), ("a",), "007")


def make_target() -> Target:
    """Return what takes bytes, makes results of them and reads their evidence."""
    import numpy as np
    import pandas as pd

    from disaggregate.groups.evidence import Evidence
    from disaggregate.groups.grouped import group_rows
    from disaggregate.tables.check_reports import report_problems
    from disaggregate.tables.evidence_columns import read_evidence
    from disaggregate.tables.files import read_table
    from disaggregate.tables.problems import TableError
    from disaggregate.tables.roles import resolve_roles

    people = pd.DataFrame({"g": ["a"] * 5 + ["b"] * 3 + ["c"], "x": np.arange(9.0)})
    path = Path(tempfile.mkdtemp(prefix="fuzz-results-")) / "results.csv"

    def target(data: bytes) -> Callable[[], str]:
        choices = Choices(data)
        roles = {role: role for role in ROLES if choices.below(3) == 2} or {"share": "share"}
        table = pd.DataFrame(_columns(choices, list(roles)), dtype=object)
        as_file = choices.flip()
        if as_file:
            path.write_text(table.to_csv(index=False), encoding="utf-8", errors="replace")
        sampled = choices.flip()
        return lambda: read(path if as_file else table.infer_objects(), roles, sampled)

    def read(source: Any, roles: dict[str, str], sampled: bool) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                results = read_table(source)
                known = resolve_roles(people, results, group="g", **roles)
                assert all(str(problem) for problem in report_problems(people, results, known, sampled))
                evidence = read_evidence(people, results, known, sampled=sampled)
        except TableError:
            return "refused"
        assert all(isinstance(known, Evidence) for known in evidence.values())
        try:
            data = group_rows(people["g"].to_list(), evidence)
        except ValueError as error:  # noise so small that no count agrees with the report
            if not str(error).startswith("group '"):
                raise
            return "refused"
        assert not np.isnan(data.log_likelihood).any()
        assert np.isfinite(np.maximum.reduceat(data.log_likelihood, data.starts[:-1])).all()
        return "read"

    return target


def _columns(choices: Choices, roles: list[str]) -> dict[str, list]:
    groups = [choices.one_of(GROUPS) if choices.below(8) == 7 else name for name in "abc"]
    return {"g": groups, **{role: [_value(choices, role) for _ in groups] for role in roles}}


def _value(choices: Choices, role: str) -> Any:
    """Choose a value that makes sense in most cases, so that several columns may make sense together."""
    how = choices.below(16)
    if how == 15:
        return choices.number()
    if how == 14:
        return choices.text()
    if how > 8:
        return None
    if role in ("share", "low", "high"):
        return choices.one_of((0.0, 1.0, 0.5, 0.2, 1 / 3, 1, 2, 5e-324, 1.0 - 1e-16))
    return choices.one_of((0, 1, 2, 3, 5, 0.5, 10**9, 1e-9, float("inf")))


if __name__ == "__main__":
    main("results", make_target, ["disaggregate"])
