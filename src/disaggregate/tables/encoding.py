"""Features of mixed type become a matrix: numbers scaled, categories marked by column, dates counted in days."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from disaggregate.tables.counted_columns import counted_category, counted_number
from disaggregate.tables.counts import Counts, read_counts
from disaggregate.tables.dataframes import pandas_of
from disaggregate.tables.encoded_columns import (
    CategoryColumn,
    EncodedColumn,
    NumberColumn,
    category_column,
    column_from_state,
    column_state,
    level_of,
    numeric_values,
)
from disaggregate.tables.kinds import Kind, kind_of, levels_of
from disaggregate.tables.messages import did_you_mean, nearest, plural, some
from disaggregate.tables.problems import TableError

# The squares of larger numbers, and sums of two, may be beyond all floats.
_LARGEST = 1e150


@dataclass(frozen=True)
class Encoder:
    """What turns people into a matrix; made by :func:`make_encoder`.

    Parameters
    ----------
    columns : tuple of NumberColumn and CategoryColumn
        One for each feature.
    notes : tuple of str
        What was done to the features, in plain sentences.
    """

    columns: tuple[EncodedColumn, ...]
    notes: tuple[str, ...] = ()

    @property
    def features(self) -> list[str]:
        """Names of the features, in the order of their columns."""
        return [column.name for column in self.columns]

    @property
    def feature_names_(self) -> list[str]:
        """Names of the columns of the matrix."""
        return [name for column in self.columns for name in column.column_names]

    def transform(self, people: Any) -> np.ndarray:
        """Turn people into a float64 matrix, shape (n_rows, len(feature_names_)).

        Parameters
        ----------
        people : pandas or polars dataframe
            It has every feature; other columns do not matter.
        """
        table = self._table(people)
        if not self.columns:
            return np.empty((len(table), 0))
        return np.hstack([column.encode(table[column.name]) for column in self.columns])

    def columns_of(self, feature: str) -> list[int]:
        """Places in the matrix of the columns that a feature becomes."""
        if feature not in self.features:
            raise TableError(f"there is no feature {feature!r}; {did_you_mean(feature, self.features)}")
        owners = [column.name for column in self.columns for _ in column.column_names]
        return [index for index, owner in enumerate(owners) if owner == feature]

    def remarks(self, people: Any) -> list[str]:
        """Say in plain sentences what in these people the encoder had not met: unknown levels, new gaps."""
        table = self._table(people)
        return [remark for column in self.columns for remark in column.remarks(table[column.name])]

    def to_state(self) -> dict[str, Any]:
        """Everything that :meth:`from_state` needs, in values that JSON can hold."""
        return {"columns": [column_state(column) for column in self.columns], "notes": list(self.notes)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Encoder:
        """Make an encoder from what :meth:`to_state` returned."""
        return cls(tuple(column_from_state(column) for column in state["columns"]), tuple(state["notes"]))

    def _table(self, people: Any) -> pd.DataFrame:
        table = pandas_of(people)
        _require_features(table, self.features)
        return table


def make_encoder(
    people: Any, features: Iterable[str], rare: float = 0.005, counts: ArrayLike | None = None
) -> Encoder:
    """Learn from people how to turn them into numbers.

    Numbers and dates are filled with their median where missing, with a column that marks where, and standardised.
    Categories become one 0/1 column per level, missing values being a level, and weigh as much as a number.

    Parameters
    ----------
    people : pandas or polars dataframe
        One row per individual, or per cell.
    features : iterable of str
        The columns to encode.
    rare : float, default=0.005
        Levels of a category that fewer people have than this share, or than two, are pooled.
    counts : array-like of shape (n_rows,), optional
        People per row: the encoder is then that of as many rows.
    """
    table = pandas_of(people)
    names = [features] if isinstance(features, str) else list(features)
    if not names:
        raise TableError("there is no feature to encode; name at least one column of people.")
    _require_features(table, names)
    kinds = {name: kind_of(table[name]) for name in names}
    prepared = pd.DataFrame({name: _prepared(table[name], kinds[name]) for name in names})
    people = read_counts(counts, len(table))
    fewest = max(2, math.ceil(rare * people.sum()))
    if counts is None:
        with np.errstate(over="ignore", invalid="ignore"):  # reported below, with the name of the column
            fitted = column_transformer(kinds, fewest).fit(prepared)
        encoded = _encoded_columns(fitted, kinds, prepared)
    else:
        encoded = {name: _counted_column(name, kinds[name], prepared[name], people, fewest) for name in names}
    columns = tuple(encoded[name] for name in names)
    return Encoder(columns, tuple(note for column in columns for note in _notes(column, prepared, people, fewest)))


def column_transformer(kinds: dict[str, Kind], fewest: int) -> ColumnTransformer:
    """Scikit-learn's transformer of numbers and categories, from which an encoder learns what it remembers.

    Parameters
    ----------
    kinds : dict of str to str
        Kind of each feature; dates come as numbers of days.
    fewest : int
        Levels of a category that fewer people have are pooled.
    """
    categories = [name for name, kind in kinds.items() if kind == "category"]
    numbers = [name for name in kinds if name not in categories]
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    marked = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=fewest)
    return ColumnTransformer(
        [("numbers", make_pipeline(filled, StandardScaler()), numbers), ("categories", marked, categories)]
    )


def _require_features(table: pd.DataFrame, features: Sequence[str]) -> None:
    absent = [name for name in features if name not in table]
    if not absent:
        return
    meant = nearest(absent[0], [name for name in table.columns if name not in features])
    hint = f"is {meant!r} meant for {absent[0]!r}?" if meant is not None else "give the columns of the fit."
    raise TableError(f"the table lacks {plural(len(absent), 'feature')}: {some(absent)}; {hint}")


def _prepared(column: pd.Series, kind: Kind) -> pd.Series:
    if kind == "category":
        return pd.Series(levels_of(column), dtype=object)
    values = numeric_values(column, is_date=kind == "date")
    largest = np.abs(values).max(initial=0.0, where=~np.isnan(values))
    if largest > _LARGEST:
        raise TableError(f"column {column.name!r} holds numbers up to {largest:g}, too large to scale; divide it.")
    return pd.Series(values)


def _encoded_columns(
    fitted: ColumnTransformer, kinds: dict[str, Kind], prepared: pd.DataFrame
) -> dict[str, EncodedColumn]:
    columns: dict[str, EncodedColumn] = {}
    for part, transformer, names in fitted.transformers_:
        for index, name in enumerate(names):
            if part == "numbers":
                columns[name] = _number_column(name, transformer, index, prepared[name], kinds[name] == "date")
            elif part == "categories":
                columns[name] = _category_column(name, transformer, index, prepared[name])
    return columns


def _number_column(name: str, fitted: Any, index: int, values: pd.Series, is_date: bool) -> NumberColumn:
    imputer, scaler = fitted[0], fitted[1]
    if not np.isfinite(scaler.var_[index]):
        raise TableError(
            f"column {name!r} holds numbers up to {values.abs().max():g}, too large to scale; divide it."
        )
    missing = float(values.isna().mean())
    return NumberColumn(
        name=name,
        is_date=is_date,
        fill=float(imputer.statistics_[index]),
        mean=float(scaler.mean_[index]),
        # A feature that was constant carries no information, whatever values it may take later.
        weight=1.0 / float(scaler.scale_[index]) if values.nunique() > 1 else 0.0,
        missing=missing if 0.0 < missing < 1.0 else None,
    )


def _counted_column(name: str, kind: Kind, values: pd.Series, counts: Counts, fewest: int) -> EncodedColumn:
    if kind == "category":
        return counted_category(name, values, counts, fewest)
    return counted_number(name, values, counts, is_date=kind == "date")


def _category_column(name: str, fitted: OneHotEncoder, index: int, values: pd.Series) -> CategoryColumn:
    rare = fitted.infrequent_categories_[index]
    pooled = [] if rare is None else [level_of(level) for level in rare]
    levels = [level_of(level) for level in fitted.categories_[index] if level_of(level) not in pooled]
    n_people = {level_of(level): int(count) for level, count in values.value_counts(dropna=False).items()}
    return category_column(name, levels, pooled, n_people)


def _notes(column: EncodedColumn, prepared: pd.DataFrame, counts: Counts, fewest: int) -> list[str]:
    n_values = int(counts.sum())
    n_missing = int(counts[prepared[column.name].isna().to_numpy()].sum())
    if isinstance(column, NumberColumn):
        return _number_notes(column, n_missing, n_values)
    return _category_notes(column, n_missing, fewest)


def _number_notes(column: NumberColumn, n_missing: int, n_values: int) -> list[str]:
    notes = [f"{column.name!r} is a date: it counts as a number of days."] if column.is_date else []
    if column.missing is not None:
        notes.append(
            f"{column.name!r}: {n_missing} of {n_values} values are missing ({column.missing:.1%}); they are "
            f"filled with the median, {_fill_text(column)}, and marked by the column '{column.name} (missing)'."
        )
    if column.weight == 0.0:
        what = "holds no values" if n_missing == n_values else "is constant"
        notes.append(f"{column.name!r} {what}: it does not distinguish people.")
    return notes


def _fill_text(column: NumberColumn) -> str:
    if not column.is_date:
        return f"{column.fill:g}"
    return str(np.datetime64(math.floor(column.fill), "D"))


def _category_notes(column: CategoryColumn, n_missing: int, fewest: int) -> list[str]:
    notes = []
    if None in column.levels:
        notes.append(f"{column.name!r}: {plural(n_missing, 'missing value')} counted as a level.")
    if column.pooled:
        listed = some(["(missing)" if level is None else level for level in column.pooled])
        notes.append(
            f"{column.name!r}: {plural(len(column.pooled), 'level')} held by fewer than {fewest} people pooled "
            f"as '{column.name}=(rare)', together with levels yet unknown: {listed}."
        )
    if len(column.shares) == 1:
        notes.append(f"{column.name!r} has a single level: it does not distinguish people.")
    return notes
