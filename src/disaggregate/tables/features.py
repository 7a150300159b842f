"""Features in: dataframes and arrays become one float64 matrix, with errors that name the column and row."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from disaggregate.groups.forms import is_dataframe

_ENCODE = "encode it first, for instance with scikit-learn's OneHotEncoder, or leave it out."


def read_features(estimator: BaseEstimator, X: Any, *, fitting: bool) -> np.ndarray:
    """Validate the features of ``X`` and return them as a float64 matrix.

    Parameters
    ----------
    estimator : BaseEstimator
        Remembers the columns when fitting, and is compared with them afterwards.
    X : dataframe or array-like of shape (n_rows, n_features)
        One row per individual.
    fitting : bool
        Whether the columns are to be remembered (fit) or compared (predict).
    """
    if hasattr(X, "collect"):
        raise ValueError(f"X is a {type(X).__name__}, which holds no rows yet; pass X.collect().")
    if is_dataframe(X):
        _require_table(X)
        names = X.columns if fitting else getattr(estimator, "feature_names_in_", X.columns)
        _require_numeric_columns(X, [name for name in X.columns if name in set(names)])
    try:
        features = validate_data(
            estimator,
            X,
            reset=fitting,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=1,
        )
    except ValueError as error:
        if "could not convert string" in str(error):
            _raise_for_text(X, error)
        raise
    _require_finite(features, _column_names(X))
    return features


def _require_table(X: Any) -> None:
    if X.shape[0] == 0:
        raise ValueError("X is an empty table: it has columns but no rows (0 samples); give one row per person.")
    if X.shape[1] == 0:
        raise ValueError(f"X is an empty table: 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    name, times = Counter(X.columns).most_common(1)[0]
    if times > 1:
        raise ValueError(f"X has {times} columns called {name!r}; rename or drop all but one.")


def _require_numeric_columns(X: Any, names: list) -> None:
    for name in names:
        if not _is_numeric(X[name]):
            raise ValueError(f"column {name!r} is not numeric ({X[name].dtype}); {_ENCODE}")


def _is_numeric(column: Any) -> bool:
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return values.dtype.kind in "biuf"
    if any(isinstance(value, str) for value in values):
        return False
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _raise_for_text(X: Any, error: ValueError) -> None:
    """Name the first cell that is no number."""
    for row, cells in enumerate(np.asarray(X, dtype=object)):
        for column, cell in enumerate(cells):
            try:
                float(cell)
            except ValueError:
                raise ValueError(f"column {column} is not numeric ({cell!r} at row {row}); {_ENCODE}") from error


def _column_names(X: Any) -> list | None:
    return list(X.columns) if is_dataframe(X) else None


def _require_finite(features: np.ndarray, names: list | None) -> None:
    bad = ~np.isfinite(features)
    if not bad.any():
        return
    row, column = (int(index) for index in np.argwhere(bad)[0])
    what = "NaN" if np.isnan(features[row, column]) else "infinity"
    where = f"column {names[column]!r}" if names is not None else f"column {column}"
    raise ValueError(
        f"Input X contains {what}: {where}, row {row} ({int(bad.sum())} such values in all); "
        "impute or drop them first. NaN and infinity cannot enter a kernel."
    )
