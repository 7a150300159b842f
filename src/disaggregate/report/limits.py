"""What the data cannot show: features in which groups hardly differ, and what no result of a group can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from disaggregate.report.elements import Element, Notes, Section, Text
from disaggregate.report.information import information_elements
from disaggregate.report.subgroups import Rates
from disaggregate.report.tables import as_table

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis

_NOT_ALLOWED_FOR = (
    "Whether people with equal features are alike in all groups. Where they are not, estimates for subgroups "
    "are wrong, "
    "and no interval shows it."
)
_ALLOWED_FOR = (
    "Whether people with equal features are alike in all groups. Where they differ {how}, which this fit allows "
    "for, the intervals show it. Where they differ in another way, estimates for subgroups are wrong, and no "
    "interval shows that."
)


def limits_section(analysis: Analysis, between: pd.DataFrame | None, found: Sequence[Rates] = ()) -> Section:
    """Say what rests on the model rather than on the results.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    between : DataFrame or None
        What ``analysis.between_groups`` returned, where people name their group.
    found : sequence of Rates
        Estimates by each column.
    """
    lines = [
        limits_of_equal_features(analysis),
        "What any one person's outcome is. The estimates are for people like these, on average.",
        "What causes the outcome. People who differ in one feature may differ in others that the table lacks.",
    ]
    elements: list[Element] = [Notes(lines)]
    if between is not None and len(between):
        headings = {"feature": "Feature", "share": "Between groups", "says": "What it means"}
        shown = between.assign(share=[f"{value:.0%}" for value in between["between"]])
        elements += [
            Text(
                "Group results carry information about a feature only as far as groups differ in it. The second "
                "column is the share of the feature's variance that lies between groups."
            ),
            as_table(
                shown, "What the groups can say about each feature", headings, sorts={"share": between["between"]}
            ),
        ]
    return Section("limits", "What the data cannot show", [*elements, *information_elements(found)])


def limits_of_equal_features(analysis: Analysis) -> str:
    """Say in which ways groups may differ without misleading the fit."""
    ways = allowed_differences(
        analysis,
        "by the average features of their group",
        "as a whole group, for reasons that no feature measures",
    )
    return _ALLOWED_FOR.format(how=" or ".join(ways)) if ways else _NOT_ALLOWED_FOR


def allowed_differences(analysis: Analysis, context: str, place: str) -> list[str]:
    """Return the words for each way in which the fit lets groups differ.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    context, place : str
        What to call differences by average features, and those of a group as a whole.
    """
    ways = []
    if analysis.classifier.context_ is not None:
        ways.append(context)
    if getattr(analysis.classifier, "group_effects_", None) is not None:
        ways.append(place)
    return ways
