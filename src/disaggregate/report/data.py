"""The data: people, groups, features, and findings about them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disaggregate.posterior.outcomes import OUTCOME
from disaggregate.report.elements import Element, Facts, Heading, Notes, Table
from disaggregate.report.tables import as_table
from disaggregate.tables.column_roles import ROLES
from disaggregate.tables.counts import n_people
from disaggregate.tables.encoded_columns import CategoryColumn, EncodedColumn
from disaggregate.tables.messages import plural

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis


def data_elements(analysis: Analysis, people: pd.DataFrame, min_group_size: int = 1) -> list[Element]:
    """Describe the tables; what was noticed quotes values of single groups and people, who may be too few."""
    elements: list[Element] = [Facts(_facts(analysis, people)), _features(analysis)]
    noticed = [
        *map(str, analysis.problems),
        *analysis.encoder.notes,
        *analysis.encoder.remarks(people),
    ]
    if noticed and min_group_size == 1:
        elements += [Heading("What was noticed"), Notes(noticed)]
    return elements


def _facts(analysis: Analysis, people: pd.DataFrame) -> list[tuple[str, str]]:
    groups = _by_group(analysis.group_table())
    whom = "a random sample of each group" if analysis.sampled else "all people of each group"
    facts = [
        ("People that the model learned from", f"{int(groups['n'].sum()):,}, {whom}"),
        ("People in the table of this report", _people(analysis, people)),
        ("Groups", f"{len(groups):,} (column {analysis.roles.group}), {_sizes(groups['n'])}"),
        ("Groups that reported a share", f"{int(groups['reported'].notna().sum()):,}"),
        ("What is known of the groups", _evidence(analysis)),
    ]
    columns = [
        f"{role.label}: {_named(getattr(analysis.roles, name))}"
        for name, role in ROLES.items()
        if role.label and _has(analysis, name)
    ]
    return [*facts, ("Columns", "; ".join(columns))] if columns else facts


def _by_group(table: pd.DataFrame) -> pd.DataFrame:
    """Keep one row per group where there is one per outcome; it reported a share if it did of any."""
    if OUTCOME not in table:
        return table
    return table.groupby("group", sort=False, as_index=False).agg(n=("n", "first"), reported=("reported", "max"))


def _people(analysis: Analysis, people: pd.DataFrame) -> str:
    listed = f"{n_people(people, analysis.roles):,}"
    return listed if analysis.roles.count is None else f"{listed}, in {plural(len(people), 'cell')}"


def _evidence(analysis: Analysis) -> str:
    """Count the kinds of evidence, and say how far shares are trusted: settings do not, as each has its own."""
    known = analysis.classifier._data.evidence
    counts = Counter(evidence.nouns for evidence in known)
    stated = {evidence.stated_confidence for evidence in known}
    trust = sorted(confidence for confidence in stated if confidence is not None)
    listed = [f"{number:,} {nouns[number != 1]}" for nouns, number in counts.items()]
    if trust:
        listed.append(f"confidence {trust[0]:g}" + (f" to {trust[-1]:g}" if len(trust) > 1 else ""))
    learned = analysis.classifier.posterior_.confidence
    if learned is not None:
        low, high = np.quantile(learned, [0.05, 0.95])
        listed.append(f"confidence learned, {low:,.0f} to {high:,.0f} (90 %)")
    return ", ".join(listed)


def _named(columns: str | tuple[str, ...]) -> str:
    return columns if isinstance(columns, str) else ", ".join(columns)


def _has(analysis: Analysis, role: str) -> bool:
    return bool(getattr(analysis.roles, role, None))


def _sizes(sizes: pd.Series) -> str:
    least, most = int(sizes.min()), int(sizes.max())
    return f"of {least:,} people each" if least == most else f"of {least:,} to {most:,} people"


def _features(analysis: Analysis) -> Table:
    columns = analysis.encoder.columns
    frame = pd.DataFrame(
        {
            "feature": [column.name for column in columns],
            "kind": [_kind(column) for column in columns],
            "holds": [_holds(column) for column in columns],
        }
    )
    headings = {"feature": "Feature", "kind": "Kind", "holds": "Holds"}
    return as_table(frame, "Features that the model learned from.", headings)


def _kind(column: EncodedColumn) -> str:
    return "category" if isinstance(column, CategoryColumn) else "date" if column.is_date else "number"


def _holds(column: EncodedColumn) -> str:
    if isinstance(column, CategoryColumn):
        levels = len(column.levels) + len(column.pooled)
        return f"{levels} levels" if levels != 1 else "one level"
    gaps = f", {column.missing:.1%} missing" if column.missing else ""
    return f"{'dates' if column.is_date else 'numbers'}{gaps}"
