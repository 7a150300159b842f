"""What was found: groups, subgroups, effects, and what the groups can tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disaggregate.plots.forest import INCHES_A_ROW, subgroup_forest
from disaggregate.plots.group_shares import group_shares
from disaggregate.report.blocks import Block, Drawing, Heading, Section, Text
from disaggregate.report.drawings import draw, short_labels
from disaggregate.report.tables import as_estimates, as_table, percent
from disaggregate.tables.encoded_columns import CategoryColumn, NumberColumn
from disaggregate.tables.words import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from disaggregate.analysis import Analysis

MOST_LEVELS = 12
MOST_FEATURES = 8
MOST_ROWS_DRAWN = 40


def groups_section(analysis: Analysis, level: float, min_group_size: int = 1) -> Section:
    """Set what groups reported beside what follows for them."""
    table = analysis.classifier.group_table(level, min_group_size=min_group_size)
    table = table.sort_values("group", key=_as_people_count, ignore_index=True)
    headings = {
        "group": analysis.roles.group,
        "n": "People",
        "reported": "Reported share",
        "implied": "Implied share",
        **_interval(level),
    }
    blocks: list[Block] = [
        Text(
            "The reported share is what the results say. The implied share is what the model "
            f"{_implied(analysis)}, given the results and everybody's features."
        ),
        Text(_agreement(table, level, int(np.isnan(analysis.classifier._data.reported_shares).sum()))),
        *_withheld(min_group_size),
    ]
    if table["reported"].notna().any():
        caption = f"Implied against reported share of each group; the bars are {percent(level)} intervals."
        shown = short_labels(table.astype({"group": str}))
        blocks.append(draw("groups", caption, 4.2, lambda ax: group_shares(shown, ax=ax)))
    blocks.append(as_table(table, "Reported and implied share of positives in each group.", headings))
    return Section("groups", "Groups", blocks)


def _implied(analysis: Analysis) -> str:
    if analysis.sampled:
        return "expects of the whole group, of which the people are a sample"
    return "believes of the very people of the group"


def subgroups_section(
    analysis: Analysis, people: pd.DataFrame, by: Sequence[str], level: float, min_group_size: int = 1
) -> Section:
    """Estimate the rates of everybody, and by each column."""
    everybody = analysis.subgroups(people, [], level=level).iloc[0]
    blocks: list[Block] = [
        Text(
            f"Of the {int(everybody['n']):,} people in the table, a share of {everybody['estimate']:.3f} is "
            f"estimated to be positive ({percent(level)} interval {everybody['conf_low']:.3f} to "
            f"{everybody['conf_high']:.3f})"
            f"{_weighted(analysis)}. The dashed line in the figures is this share."
        )
    ]
    for place, name in enumerate(by or default_columns(analysis)):
        rates = analysis.subgroups(people, name, level=level, min_group_size=min_group_size)
        table = _tidied(rates, name)
        headings = {name: name, "estimate": "Share of positives", **_interval(level), "n": "People"}
        if analysis.roles.weight:
            headings["weight"] = "Sum of weights"
        caption = f"Estimated share of positives by {name}, with {percent(level)} intervals."
        blocks.append(Heading(f"By {name}"))
        blocks += _forest(f"by{place}", caption, table[table["estimate"].notna()], everybody["estimate"])
        blocks.append(as_estimates(table, f"Estimated share of positives by {name}.", headings))
    return Section("subgroups", "Subgroups", blocks)


def effects_section(
    analysis: Analysis,
    people: pd.DataFrame,
    features: Sequence[str] | None,
    level: float,
    min_group_size: int = 1,
) -> Section:
    """Tell what changes with a feature, and how far the groups can tell."""
    names = list(features or default_features(analysis, people))
    blocks: list[Block] = [
        Text(
            "An effect is the average change in probability when everybody's feature is raised by one unit (a "
            "date by the time that the table names), or set to one level rather than another, while all other "
            "features stay as they are. It is what the model predicts to change, which is no proof that the "
            "feature causes it. Who has no value for a number or date does not count in its effect."
        )
    ]
    if names:
        blocks += _effects(analysis, people, names, level, min_group_size)
    left_out = [name for name in analysis.encoder.features if name not in names]
    if left_out and not features:
        told = f"{', '.join(left_out[:MOST_LEVELS])}{' and more' if len(left_out) > MOST_LEVELS else ''}"
        blocks.append(Text(f"Left out for brevity, or because there is nothing to compare: {told}."))
    if analysis.roles.group in people:
        blocks += _between(analysis, people)
    return Section("effects", "Effects", blocks)


def default_columns(analysis: Analysis) -> list[str]:
    """Return the categories with few levels."""
    return [column.name for column in analysis.encoder.columns if _has_few_levels(column)]


def default_features(analysis: Analysis, people: pd.DataFrame) -> list[str]:
    """Return the first features that can be compared: numbers, dates, and categories with few levels."""
    few = default_columns(analysis)
    comparable = [
        column.name
        for column in analysis.encoder.columns
        if people[column.name].nunique() > 1 and (isinstance(column, NumberColumn) or column.name in few)
    ]
    return comparable[:MOST_FEATURES]


def _has_few_levels(column: object) -> bool:
    return isinstance(column, CategoryColumn) and len(column.levels) + len(column.pooled) <= MOST_LEVELS


def _interval(level: float) -> dict[str, str]:
    return {"conf_low": f"{percent(level)} from", "conf_high": "to"}


def _weighted(analysis: Analysis) -> str:
    return f", weighted by {analysis.roles.weight}" if analysis.roles.weight else ""


def _tidied(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Name the level of missing values, and write weights that are whole as such."""
    if table[name].isna().any():
        table = table.assign(**{name: table[name].astype(object).where(table[name].notna(), "missing")})
    is_whole = (table["weight"] % 1.0 == 0.0).all()
    return table.astype({"weight": int}) if is_whole else table.round({"weight": 1})


def _as_people_count(ids: pd.Series) -> pd.Series:
    """Give each name its place where people look for it: "district 9" before "district 10"."""
    parts = [re.split(r"(\d+)", str(name)) for name in ids]
    keys = [[(int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in name] for name in parts]
    places = {row: place for place, row in enumerate(sorted(range(len(keys)), key=keys.__getitem__))}
    return pd.Series([places[row] for row in range(len(keys))], index=ids.index)


def _withheld(min_group_size: int) -> list[Block]:
    if min_group_size == 1:
        return []
    return [
        Text(
            f"Nothing is told of groups and subgroups of fewer than {min_group_size} people, nor of others from "
            "which it could be worked out: their numbers are suppressed."
        )
    ]


def _agreement(table: pd.DataFrame, level: float, silent: int) -> str:
    known = table[table["reported"].notna()]
    held = known["reported"].between(known["conf_low"] - 1e-9, known["conf_high"] + 1e-9)
    told = f"{plural(silent, 'group')} reported no share. " if silent else ""
    return (
        f"{told}The {percent(level)} interval holds the reported share in {int(held.sum())} of "
        f"{plural(len(known), 'group')}. "
        "Where it does not, the features cannot explain the report, or it is hardly believed."
    )


def _effects(
    analysis: Analysis, people: pd.DataFrame, names: Sequence[str], level: float, min_group_size: int
) -> list[Block]:
    table = analysis.effects(people, names, level=level, min_group_size=min_group_size)
    is_step = table["contrast"].str.startswith("+") & table["term"].isin(_numbers(analysis))
    raised = list(dict.fromkeys(table["term"][is_step]))
    told = {
        "numbers": (
            _spread_effects(analysis, people, raised, level, min_group_size),
            "raised by one standard deviation (sd)",
        ),
        "levels": (table[~is_step], "set to another level"),
    }
    blocks: list[Block] = []
    for name, (rows, change) in told.items():
        caption = f"Average change in probability when a feature is {change}, with {percent(level)} intervals."
        drawn = rows.drop(columns="term").assign(contrast=rows["term"].astype(str) + ": " + rows["contrast"])
        blocks += _forest(f"effects{name}", caption, drawn[drawn["estimate"].notna()], 0.0)
    headings = {
        "term": "Feature",
        "contrast": "Change",
        "estimate": "Average effect",
        "std_error": "Standard error",
        **_interval(level),
    }
    caption = "Average effect of each feature on the probability."
    return [*blocks, as_estimates(table, caption, headings)]


def _numbers(analysis: Analysis) -> set[str]:
    return {column.name for column in analysis.encoder.columns if isinstance(column, NumberColumn)}


def _spread_effects(
    analysis: Analysis, people: pd.DataFrame, numbers: Sequence[str], level: float, min_group_size: int
) -> pd.DataFrame:
    """Effects of steps as long as a feature's own spread: a year and a dollar have no axis in common."""
    varied = [name for name in numbers if people[name].nunique() > 1]
    if not varied:
        return pd.DataFrame(columns=["term", "contrast", "estimate", "std_error", "conf_low", "conf_high"])
    return analysis.effects(people, dict.fromkeys(varied, "sd"), level=level, min_group_size=min_group_size)


def _between(analysis: Analysis, people: pd.DataFrame) -> list[Block]:
    headings = {
        "feature": "Feature",
        "between": "Spread between groups",
        "effective_groups": "Groups that carry it",
        "says": "In words",
    }
    table = analysis.between_groups(people)
    return [
        Heading("What the groups can tell"),
        Text(
            "Results of groups see a feature only as far as groups differ in it. Where they hardly differ, its "
            "effect above comes from the model's assumptions more than from the results."
        ),
        as_table(table, "Share of each feature's variance that lies between groups.", headings, 2),
    ]


def _forest(name: str, caption: str, table: pd.DataFrame, reference: float) -> list[Drawing]:
    if not 0 < len(table) <= MOST_ROWS_DRAWN:
        return []

    def plot(ax: Axes) -> None:
        subgroup_forest(short_labels(table), reference=reference, ax=ax)
        ax.set_xlabel("change in probability" if "contrast" in table else "share of positives")
        ax.locator_params(axis="x", nbins=4)

    return [draw(name, caption, 0.8 + INCHES_A_ROW * len(table), plot)]
