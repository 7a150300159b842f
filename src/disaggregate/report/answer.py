"""The answer: one sentence, one figure, and what you can rely on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from disaggregate.report.axis import Axis
from disaggregate.report.elements import Element, Forest, ForestPart, Judgement, Section, Text
from disaggregate.report.forests import rates as rows_of
from disaggregate.report.information import information_by_column
from disaggregate.report.limits import allowed_differences
from disaggregate.report.percentages import level_in_words, share
from disaggregate.report.subgroups import Rates, forest_part

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis
    from disaggregate.posterior.diagnostics import Diagnostics

MOST_PARTS = 3
MOST_ROWS = 18


def answer_section(
    analysis: Analysis,
    everybody: pd.DataFrame,
    found: Sequence[Rates],
    axis: Axis,
    diagnostics: Diagnostics,
    level: float,
) -> Section:
    """Say what was learned.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    everybody : DataFrame
        The estimate of all people together, one row.
    found : sequence of Rates
        Estimates by each column.
    axis : Axis
        Of all of them.
    diagnostics : Diagnostics
        With a verdict that names no group that is too small.
    level : float
        Probability of the intervals.
    """
    outcome = analysis.outcome_name
    main = main_columns(found)
    elements: list[Element] = [Text(summary(analysis, everybody, main, level), "lead")]
    top = ForestPart("", rows_of(everybody, ["Everybody"], axis, [f"{int(everybody['n'].iloc[0]):,}"]))
    reference = axis.position(float(everybody["estimate"].iloc[0]))
    caption = f"Estimated share of “{outcome}”, with {level_in_words(level)} intervals"
    parts = [top, *(forest_part(rates, axis) for rates in main)]
    elements.append(Forest(caption, axis, parts, ("Who", "Share"), reference, "People"))
    elements.append(Judgement("What may be relied on", reliance(analysis, diagnostics, found, level)))
    return Section("answer", "The answer", elements)


def main_columns(found: Sequence[Rates]) -> list[Rates]:
    """Return the columns by which people differ most, the farthest apart first, as many as fit in one figure."""
    chosen: list[Rates] = []
    for rates in sorted(found, key=lambda one: -one.spread):
        n_rows = sum(len(one.table) for one in chosen) + len(rates.table)
        if rates.spread > 0.0 and len(chosen) < MOST_PARTS and n_rows <= MOST_ROWS:
            chosen.append(rates)
    return chosen


def summary(analysis: Analysis, everybody: pd.DataFrame, main: Sequence[Rates], level: float) -> str:
    """Sum up in one or two sentences."""
    row = everybody.iloc[0]
    value, between = share(row["estimate"], row["conf_low"], row["conf_high"])
    weighted = f", weighted by {analysis.roles.weight}" if analysis.roles.weight else ""
    sentence = (
        f"The share of “{analysis.outcome_name}” among {int(row['n']):,} people is estimated at {value} "
        f"({level_in_words(level)} interval {between}{weighted})."
    )
    if not main:
        return sentence
    first = main[0].shown
    first = first[first["label"] != "missing"]
    if len(first) < 2:
        return sentence
    most, least = first.loc[first["estimate"].idxmax()], first.loc[first["estimate"].idxmin()]
    ends = [f"{row['label']} {' '.join(_with_interval(row))}" for row in (most, least)]
    clear = bool(most["conf_low"] > least["conf_high"])
    sure = "" if clear else " Their intervals overlap, so the difference is not certain."
    return f"{sentence} It differs most by {main[0].name}, from {ends[0]} down to {ends[1]}.{sure}"


def _with_interval(row: pd.Series) -> tuple[str, str]:
    value, between = share(row["estimate"], row["conf_low"], row["conf_high"])
    return value, f"({between})"


def reliance(
    analysis: Analysis, diagnostics: Diagnostics, found: Sequence[Rates], level: float
) -> list[tuple[str, str]]:
    """Judge the computation, what the estimates rest on, and how well the groups' results are explained."""
    lines = [_settled(analysis, diagnostics)]
    if diagnostics.reports is not None and diagnostics.reports.is_surprising:
        lines.append(
            (
                "bad",
                "The model explains the results of the groups badly: groups differ in more than these features. "
                "The intervals are then too narrow.",
            )
        )
    ladder = diagnostics.ladder
    if ladder is not None and ladder.gain < 1.1:
        lines.append(("bad", "The results of the groups say little beyond the overall share."))
    lines += information_by_column(found)
    lines.append(
        (
            "",
            "No person's own outcome is known. "
            f"The {level_in_words(level)} intervals are valid if people with equal features are alike wherever "
            f"they live{_allowed(analysis)}, which results of groups cannot show.",
        )
    )
    return lines


def _settled(analysis: Analysis, diagnostics: Diagnostics) -> tuple[str, str]:
    if analysis.classifier.stopped_early_:
        return "bad", "The fit was stopped before its end. All numbers are provisional."
    if diagnostics.converged:
        return "good", "The computation has converged: a longer one would give nearly the same numbers."
    return (
        "bad",
        "The computation has not converged yet: a longer one would change the numbers, mostly the ends of the "
        "intervals. They are provisional. The appendix says what to change.",
    )


def _allowed(analysis: Analysis) -> str:
    ways = allowed_differences(analysis, "the composition of their group", "a difference of the group as a whole")
    return f", but for {' and '.join(ways)}" if ways else ""
