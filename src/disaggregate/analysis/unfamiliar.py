"""Values in a table of people that were not in the fit: new levels, new gaps, other groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from disaggregate.tables.encoded_columns import CategoryColumn, EncodedColumn, numeric_values
from disaggregate.tables.ids import ids_like
from disaggregate.tables.kinds import levels_of
from disaggregate.tables.messages import plural, some

# A median further from the mean of the fit is another unit, such as percentages instead of shares.
_FAR = 10.0


class UnfamiliarValues:
    """Collects levels and groups that were not in the fit, from one table or in batches, for one message each.

    Parameters
    ----------
    analysis : Analysis
        The model.
    known : sequence, optional
        Names of the groups of the fit, where the model has met more of them since; by default those of the model.
    """

    def __init__(self, analysis: Any, known: Sequence[Hashable] | None = None) -> None:
        self.analysis = analysis
        self.known = analysis.group_names if known is None else known
        self.levels: dict[str, Counter[Any]] = {}
        self.gaps: Counter[str] = Counter()
        self.far: dict[str, float] = {}
        self.groups: Counter[Hashable] = Counter()
        self.n_rows = 0
        self.n_without_group = 0

    def observe(self, people: pd.DataFrame) -> None:
        """Take note of some people.

        Parameters
        ----------
        people : DataFrame
            As :meth:`Analysis.read` gives them.
        """
        self.n_rows += len(people)
        for column in self.analysis.encoder.columns:
            if column.name in people:
                self._look_at(column, people[column.name])
        known = self.known
        if known is None:
            return
        group = self.analysis.roles.group
        if group not in people:
            self.n_without_group += len(people)
            return
        ids = ids_like(people[group], known)
        names = set(known)
        self.groups.update(name for name in ids if name is not None and name not in names)
        self.n_without_group += sum(name is None for name in ids)

    def findings(self) -> dict[str, Any]:
        """Return the findings without the model, so that they can be sent between processes."""
        return {name: value for name, value in vars(self).items() if name not in ("analysis", "known")}

    def add(self, findings: dict[str, Any]) -> None:
        """Add the findings from other people.

        Parameters
        ----------
        findings : dict
            What :meth:`findings` returned there.
        """
        self.n_rows += findings["n_rows"]
        self.n_without_group += findings["n_without_group"]
        self.gaps.update(findings["gaps"])
        self.groups.update(findings["groups"])
        self.far = {**findings["far"], **self.far}
        for name, strange in findings["levels"].items():
            self.levels.setdefault(name, Counter()).update(strange)

    def messages(self) -> list[str]:
        """Say what was found."""
        return [*self._about_groups(), *self._about_features()]

    def _look_at(self, column: EncodedColumn, values: pd.Series) -> None:
        if isinstance(column, CategoryColumn):
            known = {*column.levels, *column.pooled}
            strange = Counter(level for level in levels_of(values) if level not in known)
            if strange:
                self.levels.setdefault(column.name, Counter()).update(strange)
            return
        numbers = numeric_values(values, is_date=column.is_date)
        is_missing = np.isnan(numbers)
        if column.missing is None and is_missing.any():
            self.gaps[column.name] += int(is_missing.sum())
        if column.weight and not is_missing.all() and column.name not in self.far:
            median = float(np.median(numbers[~is_missing]))
            if abs(median - column.mean) * column.weight > _FAR:
                self.far[column.name] = median

    def _about_groups(self) -> list[str]:
        group = self.analysis.roles.group
        messages = []
        if self.n_without_group:
            messages.append(
                f"warning: {self.n_without_group:,} of {self.n_rows:,} rows name no group (column {group!r}), "
                "though the model uses it; they are predicted as people of a new group."
            )
        if self.groups:
            n_rows = self.groups.total()
            messages.append(
                f"warning: {plural(n_rows, 'row')} in {plural(len(self.groups), 'group')} that were not in the "
                f"fit: {some(list(self.groups))}; they are predicted as people of a new group."
            )
        return messages

    def _about_features(self) -> list[str]:
        pooled = {column.name for column in self.analysis.encoder.columns if getattr(column, "pooled", None)}
        messages = []
        for name, strange in self.levels.items():
            fate = "count as rare" if name in pooled else "count as none of the levels"
            listed = some(["(missing)" if level is None else level for level in strange])
            messages.append(
                f"warning: {name!r}: levels that were not in the fit {fate} ({plural(strange.total(), 'row')}): "
                f"{listed}."
            )
        for name, n_missing in self.gaps.items():
            messages.append(
                f"warning: {name!r}: {plural(n_missing, 'missing value')} filled with the median, though none was "
                "missing in the fit."
            )
        for name, median in self.far.items():
            messages.append(
                f"warning: {name!r}: values around {median:g} lie far from those of the fit; is the unit the same?"
            )
        return messages
