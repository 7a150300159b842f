"""Plain labels: supervised learning, in which every row is a group of one."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from disaggregate.groups.evidence import Count, Evidence
from disaggregate.groups.forms import is_missing
from disaggregate.groups.grouped import GroupedData, group_rows
from disaggregate.groups.outcome_evidence import Counts
from disaggregate.groups.outcomes import group_outcomes

_HINT = "For group shares pass groups=, the group id of each row of X."


def read_labels(y: Any, n_rows: int) -> tuple[np.ndarray, GroupedData]:
    """Read labels of two classes or more; return the classes, and every row as a group of one.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels.
    n_rows : int
        Number of rows of X.
    """
    labels = label_column(y, n_rows)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"The type of the target is {type_of_target(labels)}: expected two classes or more, got "
            f"{len(classes)} class(es). {_HINT}"
        )
    if len(classes) > 2:
        names = classes.tolist()
        own: dict[Hashable, Counts] = {row: Counts({names[code]: 1}) for row, code in enumerate(codes)}
        return classes, group_outcomes(range(n_rows), own, names)
    evidence: dict[Hashable, Evidence] = {row: Count(int(code)) for row, code in enumerate(codes)}
    return classes, group_rows(range(n_rows), evidence)


def label_column(y: Any, n_rows: int) -> np.ndarray:
    """Check that ``y`` holds one label per row.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels.
    n_rows : int
        Number of rows of X.
    """
    if y is None:
        raise ValueError(f"requires y to be passed, but the target y is None: give labels. {_HINT}")
    labels = column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise ValueError(f"y has {len(labels)} labels but X has {n_rows} rows; give one label per row. {_HINT}")
    for row, label in enumerate(labels.tolist()):
        if is_missing(label):
            raise ValueError(f"Input y contains NaN: the label of row {row} is missing; drop the row.")
        if isinstance(label, float) and math.isinf(label):
            raise ValueError(f"Input y contains infinity: the label of row {row}.")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise ValueError(f"{error} {_HINT}") from error
    return labels
