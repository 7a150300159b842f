"""What changes with a feature: average effects in percentage points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from disaggregate.posterior.contraction import RESTS_ON
from disaggregate.report.axis import Axis
from disaggregate.report.elements import Element, Fold, Forest, ForestPart, Section, Text
from disaggregate.report.forests import changes, common_axis
from disaggregate.report.level_order import natural_order
from disaggregate.report.percentages import level_in_words
from disaggregate.report.subgroups import has_few_levels
from disaggregate.report.tables import as_estimates
from disaggregate.tables.encoded_columns import NumberColumn
from disaggregate.tables.messages import did_you_mean
from disaggregate.tables.problems import TableError

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis

MOST_FEATURES = 8
MOST_ROWS_DRAWN = 40
_MOST_NAMED = 12


@dataclass(frozen=True)
class Effects:
    """Average effects of some features.

    Attributes
    ----------
    names : list of str
        The features.
    compared : DataFrame
        As they are drawn: numbers by steps of their own spread, as a year and a dollar have no axis in common, and
        all levels of a category with one of them.
    by_unit : DataFrame
        Numbers by their own unit.
    """

    names: list[str]
    compared: pd.DataFrame
    by_unit: pd.DataFrame

    @property
    def table(self) -> pd.DataFrame:
        """All of them, numbers by unit, in the order of the features."""
        others = self.compared[~_is_sd(self.compared)]
        rows = [table[table["term"] == name] for name in self.names for table in (self.by_unit, others)]
        return pd.concat([part for part in rows if len(part)] or [self.compared], ignore_index=True)


def effects_of(
    analysis: Analysis, people: pd.DataFrame, features: Sequence[str] | None, level: float, min_group_size: int
) -> Effects | None:
    """Estimate what changes with each feature; None where there is nothing to compare.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    people : DataFrame
        Over whom to average.
    features : sequence of str or None
        Features; by default the first that can be compared.
    level : float
        Probability of the intervals.
    min_group_size : int
        Levels of fewer people are left out.
    """
    names = list(features or default_features(analysis, people))
    if not names:
        return None
    unknown = [name for name in names if name not in analysis.encoder.features]
    if unknown:
        raise TableError(
            f"{unknown[0]!r} is not a feature of the fit; {did_you_mean(unknown[0], analysis.encoder.features)}"
        )
    numbers = [name for name in names if name in _numbers(analysis) and not _is_yes_or_no(people[name])]
    options: dict[str, Any] = {"level": level, "min_group_size": min_group_size}
    shown_by: dict[str, Any] = dict.fromkeys((name for name in numbers if people[name].nunique() > 1), "sd")
    shown_by |= {name: _base(analysis, people[name], min_group_size) for name in names if name not in numbers}
    compared = analysis.effects(people, {name: shown_by[name] for name in names if name in shown_by}, **options)
    by_unit = analysis.effects(people, numbers, **options) if numbers else compared.iloc[:0]
    return Effects(names, compared, by_unit)


def effects_section(
    analysis: Analysis, people: pd.DataFrame, effects: Effects | None, level: float, *, is_chosen: bool
) -> Section:
    """Draw what changes with each feature while all others stay as they are.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    people : DataFrame
        Over whom was averaged.
    effects : Effects or None
        What was estimated.
    level : float
        Probability of the intervals.
    is_chosen : bool
        Whether the features were named; else those that are left out are named.
    """
    elements: list[Element] = [
        Text(
            f"By how many percentage points the share of “{analysis.outcome_name}” would change if one feature "
            "were changed for everybody and all others stayed as they are. It is what the model predicts, which "
            "does not prove that the feature causes it."
        )
    ]
    if effects is not None:
        elements += _drawn(effects, people, level)
    names = [] if effects is None else effects.names
    left_out = [name for name in analysis.encoder.features if name not in names]
    if left_out and not is_chosen:
        names_left_out = f"{', '.join(left_out[:_MOST_NAMED])}{' and more' if len(left_out) > _MOST_NAMED else ''}"
        elements.append(Text(f"Left out for brevity, or because there is nothing to compare: {names_left_out}."))
    return Section("effects", "Effects", elements)


def default_features(analysis: Analysis, people: pd.DataFrame) -> list[str]:
    """Return the first features that can be compared: numbers, dates, and categories with few levels."""
    comparable = [
        column.name
        for column in analysis.encoder.columns
        if people[column.name].nunique() > 1 and (isinstance(column, NumberColumn) or has_few_levels(column))
    ]
    return comparable[:MOST_FEATURES]


def _drawn(effects: Effects, people: pd.DataFrame, level: float) -> list[Element]:
    compared = effects.compared
    shown = [name for name in effects.names if (compared["term"] == name).any()]
    parts = {name: _in_order(people[name], compared[compared["term"] == name]) for name in shown}
    elements: list[Element] = []
    if 0 < len(compared) <= MOST_ROWS_DRAWN:
        axis = common_axis([compared], signed=True)
        drawn = [_part(name, rows, axis) for name, rows in parts.items()]
        caption = f"Change in percentage points, with {level_in_words(level)} intervals"
        elements.append(Forest(caption, axis, drawn, ("Change", "Points"), axis.position(0.0)))
        if len(effects.by_unit):
            elements.append(
                Text("Numbers are raised by one standard deviation (sd) each, so that they can be compared.")
            )
    headings = {
        "term": "Feature",
        "contrast": "Change",
        "estimate": "Average effect",
        "std_error": "Standard error",
        "conf_low": f"{level_in_words(level)} from",
        "conf_high": "to",
        **({RESTS_ON: "Rests on"} if RESTS_ON in compared else {}),
    }
    caption = "Average effect of each feature on the probability."
    table = as_estimates(effects.table, caption, headings)
    return [*elements, Fold("Numbers by unit, with standard errors", [table])]


def _base(analysis: Analysis, column: pd.Series, min_group_size: int) -> Any:
    """Return the level to compare with; None, the first that may be shown, where some may not."""
    return base_level(column) if min_group_size == 1 and column.name not in _numbers(analysis) else None


def _is_yes_or_no(column: pd.Series) -> bool:
    return set(column.dropna().unique()) == {0, 1}


def base_level(column: pd.Series) -> Any:
    """Return the level with which others are compared: the first of a scale, or else the most common one."""
    counts = column.value_counts()
    levels = list(counts.index[counts > 0])
    order = natural_order(column, levels)
    return levels[0 if order is None else order[0]]


def _in_order(column: pd.Series, rows: pd.DataFrame) -> pd.DataFrame:
    levels = [str(contrast).partition(" - ")[0] for contrast in rows["contrast"]]
    by_text = {str(level): level for level in column.dropna().unique()}
    if isinstance(column.dtype, pd.CategoricalDtype):
        known = {str(level): index for index, level in enumerate(column.cat.categories)}
        order = sorted(range(len(levels)), key=lambda index: known.get(levels[index], len(known)))
        return rows.iloc[order] if column.cat.ordered else rows
    found = natural_order(column, [by_text.get(level, level) for level in levels]) if len(levels) > 1 else None
    return rows if found is None else rows.iloc[found]


def _part(name: str, rows: pd.DataFrame, axis: Axis) -> ForestPart:
    """Name the level that all others are compared with once, in the heading."""
    split = [str(contrast).partition(" - ") for contrast in rows["contrast"]]
    others = {other for _, separator, other in split if separator}
    if len(others) == 1 and all(separator for _, separator, _ in split):
        heading = f"{name}, rather than {others.pop()}"
        return ForestPart(heading, changes(rows, [level for level, _, _ in split], axis))
    return ForestPart(name, changes(rows, rows["contrast"], axis))


def _is_sd(table: pd.DataFrame) -> pd.Series:
    return table["contrast"].astype(str).str.startswith("+") & table["contrast"].astype(str).str.endswith(" sd")


def _numbers(analysis: Analysis) -> set[str]:
    return {column.name for column in analysis.encoder.columns if isinstance(column, NumberColumn)}
