"""What a column holds, numbers, categories or dates, and its values as such."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api import types

from disaggregate.tables.problems import TableError
from disaggregate.tables.row_numbers import row_number

Kind = Literal["number", "category", "date"]

_OBJECTS: dict[str, Kind] = {
    "integer": "number",
    "floating": "number",
    "mixed-integer-float": "number",
    "decimal": "number",
    "empty": "number",
    "string": "category",
    "boolean": "category",
    "categorical": "category",
    "mixed": "category",
    "mixed-integer": "category",
    "date": "date",
    "datetime": "date",
    "datetime64": "date",
}
_DAY = np.timedelta64(1, "D")


def kind_of(column: pd.Series) -> Kind:
    """Classify a column: numbers, categories (text, True and False, pandas categories) or dates."""
    if isinstance(column.dtype, pd.CategoricalDtype) or is_yes_no(column):
        return "category"
    if types.is_datetime64_any_dtype(column.dtype):
        return "date"
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return "number"
    inferred = types.infer_dtype(column, skipna=True)
    if inferred not in _OBJECTS or (inferred.startswith("mixed") and not _are_scalars(column)):
        raise TableError(
            f"column {column.name!r} holds {_described(column, inferred)}, which is neither number, category nor "
            "date; turn it into one of these, or ignore it."
        )
    return _OBJECTS[inferred]


def is_yes_no(column: pd.Series) -> bool:
    """Return whether a column holds only True, False and missing values."""
    if types.is_bool_dtype(column.dtype):
        return True
    return column.dtype == object and types.infer_dtype(column, skipna=True) == "boolean"


def is_text(column: pd.Series) -> bool:
    """Return whether a column holds only text and missing values, at least one text among them."""
    return types.infer_dtype(column, skipna=True) == "string"


def numbers_of(column: pd.Series) -> np.ndarray:
    """Values as float64, NaN where missing; text is read as numbers, and refused where it is none."""
    return numeric_of(column).to_numpy(dtype=np.float64, na_value=np.nan)


def numeric_of(column: pd.Series) -> pd.Series:
    """Values as a numeric column, whole numbers as such where none is missing; text as by :func:`numbers_of`."""
    try:
        numbers = pd.to_numeric(
            column if types.is_numeric_dtype(column.dtype) else column.astype(object), errors="coerce"
        )
    except OverflowError as error:
        raise TableError(
            f"column {column.name!r} holds a whole number too large for a float; divide it."
        ) from error
    _require_read(column, numbers, "numbers")
    return numbers


def dates_of(column: pd.Series) -> pd.Series:
    """Values as dates without a time zone (that of UTC), NaT where missing; text is read as ISO dates."""
    if kind_of(column) == "number" and column.notna().any():
        raise TableError(f"column {column.name!r} must hold dates such as 2024-01-31, got numbers.")
    reading = {"format": "ISO8601"} if is_text(column) else {}
    dates = pd.to_datetime(column.astype(object), errors="coerce", utc=True, **reading)
    _require_read(column, dates, "dates such as 2024-01-31")
    return dates.dt.tz_localize(None)


def days_of(column: pd.Series) -> np.ndarray:
    """Dates as float64 days since the start of 1970, NaN where missing."""
    moments = dates_of(column).to_numpy(dtype="datetime64[us]")
    return (moments - np.datetime64(0, "us")) / _DAY


def dates_from_days(days: Any) -> pd.Series:
    """Dates from days since the start of 1970, the way back from :func:`days_of`."""
    moments = np.asarray(days, dtype=np.float64) * (_DAY / np.timedelta64(1, "us"))
    unknown = np.isnan(moments)
    whole = np.where(unknown, 0.0, moments).round().astype(np.int64).astype("datetime64[us]")
    return pd.Series(np.where(unknown, np.datetime64("NaT"), whole))


def levels_of(column: pd.Series) -> np.ndarray:
    """Values as text, None where missing; whole numbers are written without a decimal point."""
    codes, values = pd.factorize(column)
    texts = np.array([*(text_of(value) for value in values), None], dtype=object)
    return texts[codes]  # a missing value has code -1, the None at the end


def text_of(value: Any) -> str:
    """Write a value as text, whole numbers without a decimal point."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _require_read(column: pd.Series, read: pd.Series, expected: str) -> None:
    failed = (read.isna() & column.notna()).to_numpy()
    if failed.any():
        value, row = column[failed].iloc[0], row_number(column.index, int(failed.argmax()))
        many = f" ({int(failed.sum())} such values in all)" if failed.sum() > 1 else ""
        raise TableError(f"column {column.name!r} must hold {expected}, got {value!r} at row {row}{many}.")


def _are_scalars(column: pd.Series) -> bool:
    return all(types.is_scalar(value) for value in column.dropna())


def _described(column: pd.Series, inferred: str) -> str:
    known = column.dropna()
    example = f", such as {known.iloc[0]!r}" if len(known) else ""
    return f"{inferred} values ({column.dtype}){example}"
