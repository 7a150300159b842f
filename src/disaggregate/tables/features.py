"""Features in: dataframes and arrays become one float64 matrix, with errors that name the column and row."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from disaggregate.tables.reports import is_dataframe


def read_features(estimator: BaseEstimator, X: Any, *, fitting: bool) -> np.ndarray:
    """Validate the features of ``X`` and return them as a float64 matrix.

    Parameters
    ----------
    estimator : BaseEstimator
        Remembers the columns when fitting, and is compared with them afterwards.
    X : dataframe or array-like of shape (n_rows, n_features)
        One row an individual.
    fitting : bool
        Whether the columns are to be remembered (fit) or compared (predict).
    """
    if is_dataframe(X):
        _require_rows(X)
        _require_numeric_columns(X)
    features = validate_data(
        estimator,
        X,
        reset=fitting,
        dtype=np.float64,
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=1,
    )
    _require_finite(features, _column_names(X))
    return features


def row_labels(X: Any) -> Any:
    """Index of the rows of a pandas dataframe, None for anything else."""
    return X.index if hasattr(X, "index") and is_dataframe(X) else None


def _require_rows(X: Any) -> None:
    if X.shape[0] == 0:
        raise ValueError("X is an empty table: it has columns but no rows (0 samples); give one row a person.")


def _require_numeric_columns(X: Any) -> None:
    for name in X.columns:
        column = X[name]
        try:
            np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"column {name!r} is not numeric ({column.dtype}); encode it first, for instance with "
                "scikit-learn's OneHotEncoder, or leave it out."
            ) from error


def _column_names(X: Any) -> list | None:
    return list(X.columns) if is_dataframe(X) else None


def _require_finite(features: np.ndarray, names: list | None) -> None:
    bad = ~np.isfinite(features)
    if not bad.any():
        return
    row, column = (int(place) for place in np.argwhere(bad)[0])
    what = "NaN" if np.isnan(features[row, column]) else "infinity"
    where = f"column {names[column]!r}" if names is not None else f"column {column}"
    raise ValueError(
        f"Input X contains {what}: {where}, row {row} ({int(bad.sum())} such values in all); "
        "impute or drop them first. NaN and infinity cannot enter a kernel."
    )
