"""What groups reported beside what follows for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from disaggregate.report.axis import axis_over
from disaggregate.report.elements import Element, Fold, Point, Scatter, Section, Text
from disaggregate.report.percentages import level_in_words, plain, share
from disaggregate.report.tables import as_table
from disaggregate.tables.messages import plural
from disaggregate.tables.suppression import NOTE

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis

MOST_NAMED = 8


def groups_section(analysis: Analysis, groups: pd.DataFrame, level: float, min_group_size: int = 1) -> Section:
    """Set what groups reported beside what follows for them.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    groups : DataFrame
        What its ``group_table`` returned.
    level : float
        Probability of the intervals.
    min_group_size : int, default=1
        Smaller groups are left out.
    """
    table = groups.sort_values("group", key=as_people_count, ignore_index=True)
    known = table[table["reported"].notna() & table["implied"].notna()]
    silent = int(np.isnan(analysis.reported_shares).sum())
    elements: list[Element] = [
        Text(
            "The reported share is what the results say. The implied share is what the model "
            f"{_implied(analysis)}, given the results and the features of all people. "
            f"{_agreement(known, level, silent)}"
        )
    ]
    if min_group_size > 1:
        elements.append(
            Text(
                f"Nothing is shown for groups and subgroups of fewer than {min_group_size} people, nor for others "
                "from which it could be worked out: their numbers are suppressed."
            )
        )
    if len(known):
        elements.append(_scatter(known, analysis.outcome_name, level))
    elements.append(Fold(f"Every {analysis.roles.group}", [_table(table, analysis, level)]))
    return Section("groups", "Groups", elements)


def as_people_count(ids: pd.Series) -> pd.Series:
    """Sort names as people look for them: "district 9" before "district 10"."""
    parts = [re.split(r"(\d+)", str(name)) for name in ids]
    keys = [[(int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in name] for name in parts]
    rank = {row: index for index, row in enumerate(sorted(range(len(keys)), key=keys.__getitem__))}
    return pd.Series([rank[row] for row in range(len(keys))], index=ids.index)


def _implied(analysis: Analysis) -> str:
    if analysis.sampled:
        return "estimates for the whole group, of which the people are a sample"
    return "estimates for exactly the people of the group"


def _misses(known: pd.DataFrame) -> pd.Series:
    return ~known["reported"].between(known["conf_low"] - 1e-9, known["conf_high"] + 1e-9)


def _agreement(known: pd.DataFrame, level: float, silent: int) -> str:
    without_share = f"{plural(silent, 'group')} reported no share. " if silent else ""
    n_inside = int((~_misses(known)).sum())
    return (
        f"{without_share}The {level_in_words(level)} interval contains the reported share in {n_inside} of "
        f"{plural(len(known), 'group')}. "
        "Where it does not, the features cannot explain the report, or its confidence is low."
    )


def _scatter(known: pd.DataFrame, outcome: str, level: float) -> Scatter:
    values = known[["reported", "implied", "conf_low", "conf_high"]].to_numpy(dtype=float)
    axis = axis_over(values.ravel(), within=(0.0, 1.0))
    misses = _misses(known).to_numpy()
    far = np.abs(known["implied"] - known["reported"]).to_numpy()
    named = set(np.argsort(np.where(misses, -far, 0.0), kind="stable")[: min(MOST_NAMED, int(misses.sum()))])
    points = [
        Point(
            x=axis.position(row[0]),
            y=axis.position(row[1]),
            low=axis.position(row[2]),
            high=axis.position(row[3]),
            is_off=bool(off),
            label=_short(name) if index in named else "",
        )
        for index, (name, row, off) in enumerate(zip(known["group"], values, misses, strict=True))
    ]
    return Scatter(
        f"Implied against reported share of “{outcome}” in each group, with {level_in_words(level)} intervals",
        axis,
        points,
        "reported",
        "implied",
        (f"interval contains the report ({int((~misses).sum())})", f"interval misses it ({int(misses.sum())})"),
    )


def _short(name: object) -> str:
    text = " ".join(str(name).split())
    return text if len(text) <= 18 else f"{text[:17]}…"


def _table(table: pd.DataFrame, analysis: Analysis, level: float) -> Element:
    written = [
        share(row.implied, row.conf_low, row.conf_high) if np.isfinite(row.implied) else None
        for row in table.itertuples()
    ]
    shown = pd.DataFrame(
        {
            "group": [str(name) for name in table["group"]],
            "n": table["n"],
            "reported": [plain(value) if np.isfinite(value) else None for value in table["reported"]],
            "implied": [None if pair is None else f"{pair[0]} ({pair[1].rstrip('%')})" for pair in written],
        }
    )
    if NOTE in table:
        shown[NOTE] = table[NOTE]
    headings = {
        "group": analysis.roles.group,
        "n": "People",
        "reported": "Reported",
        "implied": f"Implied ({level_in_words(level)} interval)",
    }
    caption = f"Reported and implied share of “{analysis.outcome_name}” in each group."
    sorts = {"reported": table["reported"], "implied": table["implied"]}
    return as_table(shown, caption, headings, sorts=sorts)
