"""One feature as columns of numbers: what a fitted encoder remembers of it, in plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from disaggregate.tables.kinds import days_of, levels_of, numbers_of
from disaggregate.tables.messages import plural, some
from disaggregate.tables.problems import TableError
from disaggregate.tables.row_numbers import row_number

# Two people drawn at random differ in a standardised number by 2 on average, squared: twice its variance. A
# category should weigh as much in a kernel, so its 0/1 columns are scaled to variances that sum to one; unscaled
# they sum to 1 - sum(p^2), p being the shares of its levels. A lopsided category is not stretched beyond
# what an evenly split yes or no gets, whose levels lie two standard deviations apart: else one person in a hundred
# would lie ten away from everyone, alone in the kernel. The columns are centred, so that gamma="scale" of
# scikit-learn, 1 / (columns * variance of all entries), is one over the number of features, however many levels
# they have.
_EVEN_SPLIT = 0.5


@dataclass(frozen=True)
class NumberColumn:
    """A number or date: filled where missing, standardised, and marked where it was missing.

    Parameters
    ----------
    name : str
        The feature.
    is_date : bool
        Whether it is a date, which counts as days since the start of 1970.
    fill : float
        What stands for a missing value: the median.
    mean, weight : float
        A value is shifted by the mean and multiplied by the weight, 1 / standard deviation, or 0 if constant.
    missing : float or None
        Share of missing values where they are marked by a column of their own. A missing value lies one
        standard deviation away from the others: it is a remark on a feature, not a feature.
    """

    kind: ClassVar[str] = "number"

    name: str
    is_date: bool
    fill: float
    mean: float
    weight: float
    missing: float | None

    @property
    def column_names(self) -> list[str]:
        """Names of the columns that the feature becomes."""
        return [self.name] if self.missing is None else [self.name, f"{self.name} (missing)"]

    def encode(self, column: pd.Series) -> np.ndarray:
        """Turn values into columns, shape (n_rows, len(column_names))."""
        values = numeric_values(column, is_date=self.is_date)
        is_missing = np.isnan(values)
        scaled = (np.where(is_missing, self.fill, values) - self.mean) * self.weight
        if self.missing is None:
            return scaled[:, np.newaxis]
        return np.column_stack([scaled, is_missing - self.missing])

    def remarks(self, column: pd.Series) -> list[str]:
        """Say what in a new table the encoder had not met."""
        n_missing = int(np.isnan(numeric_values(column, is_date=self.is_date)).sum())
        if not n_missing or self.missing is not None:
            return []
        return [
            f"{self.name!r}: {plural(n_missing, 'missing value')} filled with the median, though none was missing "
            "in the fit."
        ]


@dataclass(frozen=True)
class CategoryColumn:
    """A category: one column per level, one for all rare levels together, none for unknown ones.

    Parameters
    ----------
    name : str
        The feature.
    levels : list of str or None
        Levels with a column of their own; None is the level of missing values.
    pooled : list of str or None
        Rare levels, which share the last column; unknown levels count as rare if there are any.
    shares : list of float
        Share of people in each column.
    """

    kind: ClassVar[str] = "category"

    name: str
    levels: list[str | None]
    pooled: list[str | None]
    shares: list[float]

    @property
    def column_names(self) -> list[str]:
        """Names of the columns that the feature becomes."""
        own = [f"{self.name}={'(missing)' if level is None else level}" for level in self.levels]
        return [*own, f"{self.name}=(rare)"] if self.pooled else own

    @property
    def weight(self) -> float:
        """What the columns are multiplied by, so that the feature weighs as much as a number."""
        shares = np.array(self.shares)
        return 1.0 / math.sqrt(max(1.0 - float(shares @ shares), _EVEN_SPLIT))

    def encode(self, column: pd.Series) -> np.ndarray:
        """Turn values into columns, shape (n_rows, len(column_names))."""
        indices = self._indices(levels_of(column))
        marks = indices[:, np.newaxis] == np.arange(len(self.shares))
        return (marks - np.array(self.shares)) * self.weight

    def remarks(self, column: pd.Series) -> list[str]:
        """Say what in a new table the encoder had not met."""
        known = {*self.levels, *self.pooled}
        met = levels_of(column)
        unknown = [level for level in dict.fromkeys(met) if level not in known]
        if not unknown:
            return []
        n_rows = sum(level not in known for level in met)
        fate = "count as rare" if self.pooled else "count as none of the levels"
        listed = some(["(missing)" if level is None else level for level in unknown])
        return [f"{self.name!r}: levels that were not in the fit {fate} ({plural(n_rows, 'row')}): {listed}."]

    def _indices(self, levels: np.ndarray) -> np.ndarray:
        """Column of each value, -1 for none."""
        index_of: dict[str | None, int] = {level: index for index, level in enumerate(self.levels)}
        index_of |= dict.fromkeys(self.pooled, len(self.levels))
        elsewhere = len(self.levels) if self.pooled else -1
        codes, met = pd.factorize(levels, use_na_sentinel=False)
        indices = [index_of.get(level if isinstance(level, str) else None, elsewhere) for level in met]
        return np.array(indices, dtype=np.int64)[codes]


def category_column(
    name: str, levels: list[str | None], pooled: list[str | None], n_people: dict[str | None, int]
) -> CategoryColumn:
    """Make the column of a category from the number of people per level.

    Parameters
    ----------
    name : str
        The feature.
    levels, pooled : list of str or None
        Levels with a column of their own, and levels that share one.
    n_people : dict
        People of each level.
    """
    total = sum(n_people.values())
    shares = [n_people[level] / total for level in levels]
    if pooled:
        shares.append(sum(n_people[level] for level in pooled) / total)
    return CategoryColumn(name=name, levels=levels, pooled=pooled, shares=shares)


def level_of(value: Any) -> str | None:
    """Return a level as the encoder keeps it: its name, or None where it is missing."""
    return value if isinstance(value, str) else None


EncodedColumn = NumberColumn | CategoryColumn


def numeric_values(column: pd.Series, *, is_date: bool) -> np.ndarray:
    """Numbers, or dates as days; NaN where missing, and never infinite."""
    values = days_of(column) if is_date else numbers_of(column)
    if np.isinf(values).any():
        row = row_number(column.index, int(np.isinf(values).argmax()))
        raise TableError(
            f"column {column.name!r} must hold finite numbers, got infinity at row {row}; leave the field empty "
            "where nothing is known."
        )
    return values


def column_state(column: EncodedColumn) -> dict[str, Any]:
    """Plain values from which :func:`column_from_state` makes the column again."""
    return {"kind": column.kind, **asdict(column)}


def column_from_state(state: dict[str, Any]) -> EncodedColumn:
    """Make a column from its plain values."""
    kinds: Sequence[type[EncodedColumn]] = (NumberColumn, CategoryColumn)
    values = {name: value for name, value in state.items() if name != "kind"}
    for kind in kinds:
        if state["kind"] == kind.kind:
            return kind(**values)
    raise ValueError(f"an encoded column is a number or a category, got {state['kind']!r}.")
