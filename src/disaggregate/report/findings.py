"""What a report says, computed once: for its sections, and for the tables that are written beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from disaggregate.report.effects import Effects, effects_of
from disaggregate.report.subgroups import Rates, rates_by

if TYPE_CHECKING:
    from disaggregate.analysis import Analysis


@dataclass(frozen=True)
class Findings:
    """Estimates of one analysis about some people.

    Attributes
    ----------
    people : DataFrame
        The people they describe.
    level : float
        Probability of the intervals.
    min_group_size : int
        Nothing is shown for smaller groups and subgroups.
    everybody : DataFrame
        The estimate of all people together, one row.
    rates : list of Rates
        Estimates by each column.
    effects : Effects or None
        What changes with each feature; None where there is nothing to compare.
    groups : DataFrame
        What groups reported beside what follows for them.
    between : DataFrame or None
        What the groups can say about each feature, where people name their group.
    features_chosen : bool
        Whether the features were named.
    """

    people: pd.DataFrame
    level: float
    min_group_size: int
    everybody: pd.DataFrame
    rates: list[Rates]
    effects: Effects | None
    groups: pd.DataFrame
    between: pd.DataFrame | None
    features_chosen: bool = False


def find(
    analysis: Analysis,
    people: pd.DataFrame,
    *,
    by: Sequence[str] = (),
    features: Sequence[str] | None = None,
    level: float = 0.9,
    min_group_size: int = 1,
) -> Findings:
    """Estimate everything that a report shows.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    people : DataFrame
        As ``analysis.read`` gives it.
    by, features : sequence of str
        Columns of subgroups and features of effects; by default those with few levels, and numbers.
    level : float, default=0.9
        Probability of the intervals.
    min_group_size : int, default=1
        Smaller groups and subgroups are left out.
    """
    return Findings(
        people=people,
        level=level,
        min_group_size=min_group_size,
        everybody=analysis.subgroups(people, [], level=level, min_group_size=min_group_size),
        rates=rates_by(analysis, people, by, level, min_group_size),
        effects=effects_of(analysis, people, features, level, min_group_size),
        groups=analysis.group_table(level, min_group_size=min_group_size),
        between=analysis.between_groups(people) if analysis.roles.group in people else None,
        features_chosen=bool(features),
    )
