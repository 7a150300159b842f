"""The plots of an analysis, as ``analysis.plot``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from disaggregate.plots.chains import chain_traces
from disaggregate.plots.forest import subgroup_forest
from disaggregate.plots.group_shares import group_shares
from disaggregate.plots.outcome_bars import outcome_bars
from disaggregate.posterior.outcomes import OUTCOME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from disaggregate.analysis import Analysis


class AnalysisPlots:
    """Draws what an analysis found; each method returns matplotlib Axes.

    Parameters
    ----------
    analysis : Analysis
        Fitted.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def subgroups(
        self,
        people: Any,
        by: str | Sequence[str],
        *,
        level: float = 0.9,
        min_group_size: int = 1,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the rate of each subgroup; arguments as for :meth:`Analysis.subgroups`.

        Shares of more than two outcomes are bars; ``analysis.of_outcome(name).plot.subgroups`` has intervals.
        """
        table = self._analysis.subgroups(people, by, level=level, min_group_size=min_group_size)
        if self._analysis.outcomes:
            return outcome_bars(table, ax=ax)
        everybody = self._analysis.subgroups(people, [], level=level, min_group_size=min_group_size)
        drawn = subgroup_forest(table, reference=float(everybody["estimate"].iloc[0]), ax=ax)
        drawn.set_xlabel(f"share of “{self._analysis.outcome_name}”")
        return drawn

    def effects(
        self,
        people: Any,
        features: str | Sequence[str] | Mapping[str, Any] | None = None,
        *,
        level: float = 0.9,
        min_group_size: int = 1,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the effect of each feature; arguments as for :meth:`Analysis.effects`."""
        table = self._analysis.effects(people, features, level=level, min_group_size=min_group_size)
        return subgroup_forest(table, reference=0.0, ax=ax)

    def groups(self, *, level: float = 0.9, min_group_size: int = 1, ax: Axes | None = None) -> Axes:
        """Draw what groups reported against what the model implies for them; smaller groups are not drawn."""
        table = self._analysis.group_table(level, min_group_size=min_group_size)
        if OUTCOME in table:
            named = zip(table["group"], table[OUTCOME], strict=True)
            table = table.assign(group=[f"{group}, {outcome}" for group, outcome in named])
        return group_shares(table, ax=ax)

    def traces(self, quantity: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw a quantity along each chain."""
        return chain_traces(self._analysis.classifier.posterior_, quantity, ax=ax)
