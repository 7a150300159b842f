"""The few things that estimates need from a table of people: its columns, its rows, and a changed copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from disaggregate.groups.forms import as_list, is_dataframe
from disaggregate.tables.kinds import dates_from_days, days_of
from disaggregate.tables.messages import did_you_mean, some
from disaggregate.tables.problems import TableError
from disaggregate.tables.row_numbers import row_number

Rows = slice | NDArray[np.intp]

_RESULTS = (
    *("estimate", "std_error", "conf_low", "conf_high", "n", "weight"),
    *("bound_low", "bound_high", "contraction", "rests_on"),
)


class Cells(NamedTuple):
    """Which combination of some columns each person has.

    Attributes
    ----------
    keys : DataFrame
        The combinations that occur, in order.
    codes : ndarray of int, shape (n_rows,)
        The combination of each person.
    """

    keys: pd.DataFrame
    codes: NDArray[np.intp]


def require_columns(people: Any, names: Iterable[str]) -> None:
    """Check that people is a table, with somebody in it and with these columns."""
    if not is_dataframe(people):
        raise ValueError(f"people must be a dataframe with a row per person, got {type(people).__name__}.")
    if not len(people):
        raise ValueError("people is an empty table; give one row per person.")
    missing = [name for name in names if name not in list(people.columns)]
    if missing:
        hint = did_you_mean(missing[0], list(people.columns), f"its columns are {some(list(people.columns))}.")
        raise TableError(f"people has no column {missing[0]!r}; {hint}")


def require_free_names(names: Iterable[str]) -> None:
    """Check that no column of a result would be called as one of these."""
    taken = [name for name in names if name in _RESULTS]
    if taken:
        raise ValueError(f"column {taken[0]!r} has the name of a result; rename it in people first.")


def as_names(names: str | Iterable[str]) -> list[str]:
    """Take one name for a list of one."""
    return [names] if isinstance(names, str) else list(names)


def read_variables(people: Any, variables: str | Iterable[str] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Read which columns to change, all by default, and how; None stands for the usual way."""
    require_columns(people, [])
    names = list(people.columns) if variables is None else as_names(variables)
    require_columns(people, names)
    options = variables if isinstance(variables, Mapping) else {}
    return {name: options.get(name) for name in names}


def column(people: Any, name: str) -> pd.Series:
    """Return one column as a pandas Series; a pandas one keeps its type."""
    values = people[name]
    return values if isinstance(values, pd.Series) else pd.Series(as_list(values, name), name=name)


def take_rows(people: Any, rows: Rows) -> Any:
    """Return some rows of a pandas or polars dataframe."""
    return people.iloc[rows] if isinstance(people, pd.DataFrame) else people[rows]


def with_numbers(people: Any, name: str, values: NDArray[np.float64]) -> Any:
    """Return a copy of the table with other numbers in the place of these; days become dates where those were."""
    if is_date(column(people, name)):
        return _with_dates(people, name, dates_from_days(values))
    if isinstance(people, pd.DataFrame):
        return people.assign(**{name: values})
    return people.with_columns(type(people[name])(name, values))


def _with_dates(people: Any, name: str, dates: pd.Series) -> Any:
    if isinstance(people, pd.DataFrame):
        return people.assign(**{name: dates.array})
    moments = [None if pd.isna(date) else date.to_pydatetime() for date in dates]
    return people.with_columns(type(people[name])(name, moments))


def with_level(people: Any, name: str, level: Any) -> Any:
    """Return a copy of the table in which everybody has this level of a category, of the same type as before."""
    values = [level] * len(people)
    if isinstance(people, pd.DataFrame):
        return people.assign(**{name: pd.Series(values, index=people.index, dtype=people[name].dtype)})
    return people.with_columns(type(people[name])(name, values).cast(people[name].dtype))


def is_category(values: pd.Series) -> bool:
    """Return whether a column has categories, truth values or text, not numbers or dates."""
    if pd.api.types.is_numeric_dtype(values):
        return pd.api.types.is_bool_dtype(values)
    return not is_date(values)


def is_date(values: pd.Series) -> bool:
    """Return whether a column has dates or moments of time."""
    if isinstance(values.dtype, pd.CategoricalDtype) or pd.api.types.is_numeric_dtype(values):
        return False
    return pd.api.types.infer_dtype(values, skipna=True) in ("date", "datetime", "datetime64")


def numbers(people: Any, name: str) -> NDArray[np.float64]:
    """Return a numeric column as floats, and one of dates in days since 1970; a gap in it becomes NaN."""
    values = column(people, name)
    if is_date(values):
        return days_of(values)
    if is_category(values):
        raise ValueError(f"column {name!r} is not numeric ({values.dtype}); only numbers have slopes and steps.")
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def levels_of(values: pd.Series) -> list:
    """Return the levels of a category that occur: in the order of its type where it has one, else sorted."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.cat.remove_unused_categories().cat.categories.to_list()
    distinct = values.dropna().unique().tolist()
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def cells(people: Any, by: Sequence[str]) -> Cells:
    """Find the combinations of some columns; missing values are a level of their own, no columns one cell."""
    if not by:
        return Cells(pd.DataFrame(index=[0]), np.zeros(len(people), dtype=np.intp))
    table = pd.DataFrame({name: column(people, name).reset_index(drop=True) for name in by})
    grouped = table.groupby(list(by), sort=True, observed=True, dropna=False)
    codes = grouped.ngroup().to_numpy(dtype=np.intp)
    _, first = np.unique(codes, return_index=True)
    return Cells(table.iloc[first].reset_index(drop=True), codes)


def read_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Check survey weights, one per person; everybody counts the same without any."""
    if weights is None:
        return np.ones(n_rows)
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n_rows,):
        raise ValueError(
            f"weights must hold one number for each of the {n_rows} people, got shape {values.shape}. "
            "Pass the column of weights of the same table."
        )
    bad = ~(np.isfinite(values) & (values >= 0.0))
    if bad.any():
        first = int(np.argmax(bad))
        row = row_number(weights.index, first) if isinstance(weights, pd.Series) else first
        raise ValueError(
            f"weights must be 0 or more, got {values[first]} at row {row}; drop or correct such rows."
        )
    if not values.sum() > 0.0:
        raise ValueError("weights are all 0; at least one person must count.")
    return values
