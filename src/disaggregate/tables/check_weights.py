"""Checks of survey weights and replicate weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from disaggregate.tables.counts import sound_counts
from disaggregate.tables.kinds import numbers_of
from disaggregate.tables.messages import plural
from disaggregate.tables.problems import Problem, TableError, column_of
from disaggregate.tables.roles import Roles


def weight_problems(people: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield what is wrong with the weights: text, missing, infinite or negative values, or nothing but zeros.

    Parameters
    ----------
    people : DataFrame
        One row per individual, or per cell.
    roles : Roles
        Which column is what.
    """
    for name in (*roles.names("weight"), *roles.replicates):
        for complaint in _complaints(people[name]):
            yield Problem("error", column_of("people", name), complaint)
    counts = sound_counts(people, roles)
    for name in roles.names("weight"):
        without = (pd.to_numeric(people[name], errors="coerce") == 0.0).to_numpy(dtype=bool, na_value=False)
        n_without = int(without.sum() if counts is None else counts[without].sum())
        if n_without and not without.all():
            who = plural(n_without, "person has", "people have")
            yield Problem("advice", column_of("people", name), f"{who} weight 0; the fit leaves them out.")


def _complaints(column: pd.Series) -> Iterator[str]:
    try:
        weights = numbers_of(column)
    except TableError as error:
        yield f"weights must be numbers: {error}"
        return
    faults = {
        "missing": np.isnan(weights),
        "infinite": np.isinf(weights),
        "negative": weights < 0.0,
    }
    for fault, where in faults.items():
        if where.any():
            yield (
                f"{plural(int(where.sum()), 'weight')} {fault}; expected a number of 0 or more for every person. "
                "Drop these people, or give weight 0 to those who should not count."
            )
    if not (weights > 0.0).any():
        yield "no weight is above 0; no person would count."
