"""What the estimates depend on: how far they moved in fits under other choices."""

from __future__ import annotations

from typing import Any

import pandas as pd

from disaggregate.analysis.sensitivity import AS_IT_IS, COLUMNS, EFFECTIVE, LARGEST, SHIFTS, side_by_side
from disaggregate.posterior.outcomes import OUTCOME
from disaggregate.report.elements import Element, Heading, Section, Text
from disaggregate.report.tables import as_table
from disaggregate.tables.files import read_table
from disaggregate.tables.messages import plural
from disaggregate.tables.problems import TableError
from disaggregate.tables.suppression import ESTIMATES, NOTE, withhold

_MEANING = """\
The model was fitted again, with one choice changed at a time, to the same people and results. The table has the \
estimate under each choice, and the largest shift in standard errors of the fit as it is. Below 1 the estimate \
moves less than its own uncertainty, whatever was chosen; beyond 1 the choice matters more than the noise, and \
the estimate should be quoted together with that choice, or not at all."""
_ONE = 1.0


def read_sensitivity(source: Any, min_group_size: int = 1) -> pd.DataFrame:
    """Read what `disaggregate sensitivity` wrote, or :func:`subgroup_sensitivity` returned.

    Parameters
    ----------
    source : path or dataframe
        The table.
    min_group_size : int, default=1
        Numbers of subgroups of fewer people, and rows that would reveal them, are left out.
    """
    table = read_table(source, {"by": "text", "subgroup": "text", "change": "text", OUTCOME: "text"})
    missing = [name for name in (*COLUMNS, *SHIFTS) if name not in table and name != OUTCOME]
    if missing:
        raise TableError(
            f"the table of sensitivity has no column {missing[0]!r}; give what `disaggregate sensitivity` wrote."
        )
    table = table.fillna({"subgroup": "missing"})  # a level may have the name of a missing value in files
    of_outcomes = [OUTCOME] if OUTCOME in table else []
    if table.duplicated(["by", "subgroup", "change", *of_outcomes]).any():
        raise TableError(
            "the table of sensitivity has several rows for one subgroup and change; keep one of each."
        )
    if AS_IT_IS not in set(table["change"]) or table["change"].nunique() < 2:
        raise TableError(
            f"the table of sensitivity must hold the fit {AS_IT_IS!r} and one under another choice at least; give "
            "what `disaggregate sensitivity` wrote."
        )
    parts = [
        _withheld(part, min_group_size) for _, part in table.groupby(["by", "change", *of_outcomes], sort=False)
    ]
    return pd.concat(parts).sort_index()


def _withheld(part: pd.DataFrame, min_group_size: int) -> pd.DataFrame:
    return withhold(part, min_group_size, (*ESTIMATES, *SHIFTS), part.get(EFFECTIVE))


def of_outcome(table: pd.DataFrame, outcome: Any) -> pd.DataFrame:
    """Take the rows of one of several outcomes.

    Parameters
    ----------
    table : DataFrame
        As :func:`read_sensitivity` returns it.
    outcome : hashable
        The outcome.
    """
    if OUTCOME not in table:
        raise TableError("the table of sensitivity is about one outcome; this model has several.")
    found = table[table[OUTCOME] == str(outcome)].drop(columns=OUTCOME)
    if not len(found):
        raise TableError(f"the table of sensitivity says nothing of {outcome!r}; give that of this model.")
    return found


def sensitivity_section(table: pd.DataFrame, outcome: str) -> Section:
    """Show how far estimates moved.

    Parameters
    ----------
    table : DataFrame
        As :func:`read_sensitivity` returns it, about one outcome.
    outcome : str
        What it is called.
    """
    if OUTCOME in table:
        raise TableError("the table of sensitivity is about several outcomes; this model has one.")
    elements: list[Element] = [Text(_MEANING), Text(_summary(table))]
    for by, rows in table.groupby("by", sort=False):
        elements += [Heading("Everybody" if by == "everybody" else f"By {by}"), _moved(str(by), rows, outcome)]
    return Section("sensitivity", "Sensitivity", elements)


def _moved(by: str, rows: pd.DataFrame, outcome: str) -> Element:
    wide = side_by_side(rows)
    headings = {name: name[:1].upper() + name[1:] for name in wide if name not in ("subgroup", NOTE)}
    whose = "of everybody" if by == "everybody" else f"by {by}"
    return as_table(
        wide,
        f"Estimated share of “{outcome}” {whose} under other choices.",
        {"subgroup": by, **headings, LARGEST: "Largest shift, in standard errors"},
    )


def _summary(table: pd.DataFrame) -> str:
    """Count whose estimates depend on a choice, and name the farthest."""
    shifts = table["shift_in_std_errors"].abs()
    farthest = shifts.groupby([table["by"], table["subgroup"]]).max().dropna()
    n_moved = int((farthest > _ONE).sum())
    counted = plural(len(farthest), "estimate")
    if not n_moved:
        return (
            f"None of {counted} moves by more than one standard error under any of these choices. That says "
            "nothing of what all these fits assume about people with equal features in different groups."
        )
    row = table.loc[shifts.idxmax()]
    whose = "everybody" if row["by"] == "everybody" else f"{row['by']} = {row['subgroup']}"
    return (
        f"{n_moved} of {counted} {'moves' if n_moved == 1 else 'move'} by more than one standard error under some "
        f"choice. The farthest is that of {whose}: with {row['change']} it is {row['estimate']:.3f} rather than "
        f"{row['estimate'] - row['shift']:.3f}, a shift of {abs(row['shift_in_std_errors']):.1f} standard errors."
    )
