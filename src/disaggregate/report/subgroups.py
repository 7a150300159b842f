"""Rates by each column: computed once, and shown in the answer and in a section of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from disaggregate.report.axis import Axis
from disaggregate.report.bands import MOST_LEVELS, in_bands
from disaggregate.report.elements import Element, Forest, ForestPart, Section, Text
from disaggregate.report.forests import common_axis, rates
from disaggregate.report.level_order import is_residual_level, natural_order
from disaggregate.report.percentages import level_in_words
from disaggregate.report.tables import as_estimates
from disaggregate.tables.encoded_columns import CategoryColumn

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis

MOST_COLUMNS = 12
MOST_ROWS_DRAWN = 40


@dataclass(frozen=True)
class Rates:
    """Estimated shares by one column.

    Attributes
    ----------
    name : str
        The column, as the reader knows it.
    table : DataFrame
        Columns ``label``, ``n`` and the estimates, in the order in which they are read.
    """

    name: str
    table: pd.DataFrame

    @property
    def shown(self) -> pd.DataFrame:
        """The rows that have an estimate."""
        return self.table[self.table["estimate"].notna()]

    @property
    def spread(self) -> float:
        """How far apart people are by this column: the standard deviation of their subgroups' estimates."""
        shown = self.shown
        if len(shown) < 2:
            return 0.0
        mean = np.average(shown["estimate"], weights=shown["n"])
        return float(np.sqrt(np.average((shown["estimate"] - mean) ** 2, weights=shown["n"])))


def rates_by(
    analysis: Analysis, people: pd.DataFrame, by: Sequence[str], level: float, min_group_size: int
) -> list[Rates]:
    """Estimate the rates by each column; without columns by the features that have few levels, or bands.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    people : DataFrame
        The people they describe.
    by : sequence of str
        Columns; by default the features.
    level : float
        Probability of the intervals.
    min_group_size : int
        Smaller subgroups are left out.
    """
    found = []
    for name in by or default_columns(analysis, people):
        rates = _rates(analysis, people, name, level, min_group_size)
        if rates is not None:
            found.append(rates)
    return found


def default_columns(analysis: Analysis, people: pd.DataFrame) -> list[str]:
    """Return the categories with few levels, and the numbers, in the order of the table."""
    names = [column.name for column in analysis.encoder.columns if _is_shown(column, people)]
    return names[:MOST_COLUMNS]


def has_few_levels(column: Any) -> bool:
    """Return whether an encoded column is a category with few levels."""
    return isinstance(column, CategoryColumn) and len(column.levels) + len(column.pooled) <= MOST_LEVELS


def _is_shown(column: Any, people: pd.DataFrame) -> bool:
    if isinstance(column, CategoryColumn):
        return has_few_levels(column)
    return not column.is_date and people[column.name].nunique() > 1


def _rates(analysis: Analysis, people: pd.DataFrame, name: str, level: float, min_group_size: int) -> Rates | None:
    """Estimate by one column, numbers of many values in bands."""
    column, table, key = people.get(name), people, name
    is_number = column is not None and pd.api.types.is_numeric_dtype(column.dtype)
    if is_number and not pd.api.types.is_bool_dtype(column.dtype):
        banded = in_bands(column)
        if banded is None:
            return None
        key = f"{name} in bands"
        while key in people:
            key += "'"
        column, table = banded, people.assign(**{key: banded})
    found = analysis.subgroups(table, key, level=level, min_group_size=min_group_size)
    levels = list(found[key])
    order = natural_order(column, levels) if column is not None else None
    if order is None:
        size = found["estimate"].fillna(-1.0).to_numpy()
        order = sorted(range(len(levels)), key=lambda index: (is_residual_level(levels[index]), -size[index]))
    labels = ["missing" if pd.isna(value) else _label(value) for value in levels]
    tidy = found.drop(columns=key).assign(label=labels).iloc[order].reset_index(drop=True)
    return Rates(name, tidy)


def _label(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def axis_of(found: Sequence[Rates], everybody: pd.DataFrame) -> Axis:
    """Make the one axis on which all rates are drawn."""
    return common_axis([*(rates.table for rates in found), everybody])


def forest_part(found: Rates, axis: Axis) -> ForestPart:
    """Make the rows of one column."""
    people = [f"{number:,}" for number in found.table["n"]]
    return ForestPart(found.name, rates(found.table, found.table["label"], axis, people))


def subgroups_section(
    found: Sequence[Rates], everybody: pd.DataFrame, axis: Axis, outcome: str, level: float
) -> Section:
    """Draw the rates by each column on one axis.

    Parameters
    ----------
    found : sequence of Rates
        What was estimated.
    everybody : DataFrame
        The estimate of all people together, one row.
    axis : Axis
        Of all of them.
    outcome : str
        What it is called.
    level : float
        Probability of the intervals.
    """
    reference = axis.position(float(everybody["estimate"].iloc[0]))
    line = "All figures have the same axis; the thin line" if len(found) > 1 else "The thin line"
    elements: list[Element] = [
        Text(
            f"Estimated share of “{outcome}” in each subgroup, with its {level_in_words(level)} interval. "
            f"{line} is the overall share."
        )
    ]
    for one in found:
        caption = f"“{outcome}” by {one.name}"
        if len(one.table) > MOST_ROWS_DRAWN:
            headings = {
                "label": one.name,
                "estimate": "Share",
                "conf_low": f"{level_in_words(level)} from",
                "conf_high": "to",
                "n": "People",
            }
            elements.append(as_estimates(one.table, caption, headings))
            continue
        part = ForestPart("", forest_part(one, axis).rows)
        elements.append(Forest(caption, axis, [part], (one.name, "Share"), reference, "People"))
    return Section("subgroups", "Subgroups", elements)


def estimates_by(
    analysis: Analysis, people: pd.DataFrame, by: Sequence[str], level: float = 0.9, min_group_size: int = 1
) -> tuple[Section, pd.DataFrame]:
    """Estimate by several columns at once, and return a section and the table behind it.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    people : DataFrame
        The people that the estimates describe.
    by : sequence of str
        Columns; numbers of many values are put into bands.
    level : float, default=0.9
        Probability of the intervals.
    min_group_size : int, default=1
        Smaller subgroups are left out.
    """
    banded = people.copy(deep=False)
    keys = []
    for name in by:
        bands = None
        if pd.api.types.is_numeric_dtype(people[name].dtype) and not pd.api.types.is_bool_dtype(
            people[name].dtype
        ):
            bands = in_bands(people[name])
        keys.append(name if bands is None else f"{name} in bands")
        if bands is not None:
            banded[keys[-1]] = bands
    table = analysis.subgroups(banded, keys, level=level, min_group_size=min_group_size)
    everybody = analysis.subgroups(people, [], level=level, min_group_size=min_group_size)
    labels = [
        ", ".join("missing" if pd.isna(v) else _label(v) for v in row) for row in table[keys].to_numpy(object)
    ]
    found = Rates(" and ".join(by), table.assign(label=labels))
    axis = axis_of([found], everybody)
    section = subgroups_section([found], everybody, axis, analysis.outcome_name, level)
    return replace(section, key="asked", title=f"By {found.name}"), table
