"""Partial dependence: the average probability along a grid of one feature or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from disaggregate.groups.forms import as_list
from disaggregate.posterior.batches import Predict, average_draws
from disaggregate.posterior.summaries import summarise
from disaggregate.tables.kinds import dates_from_days, days_of
from disaggregate.tables.people import (
    column,
    is_category,
    is_date,
    levels_of,
    numbers,
    read_variables,
    read_weights,
    require_free_names,
    with_level,
    with_numbers,
)

_GRID_POINTS = 21
_GRID_ENDS = (0.05, 0.95)


def predictions(
    predict: Predict,
    people: Any,
    variables: str | Sequence[str] | Mapping[str, Any],
    *,
    weights: ArrayLike | None = None,
    level: float = 0.9,
) -> pd.DataFrame:
    """Partial dependence: the average probability if all people had a given value of a feature, with bands.

    Each point of the grid needs a prediction for all people; a random thousand of them is often enough.

    Parameters
    ----------
    predict : callable
        From a table of people to their probabilities in each draw, shape (n_draws, n_rows).
    people : dataframe
        Over whom to average.
    variables : str, sequence of str, or mapping
        Columns of the grid. A mapping gives the values of each, None for the usual ones: all levels of a
        category, all values of a number or date that has few, else 21 between its 5th and its 95th percentile.
        Several columns make a grid of all their combinations.
    weights : array-like of shape (n_rows,), optional
        Survey weights.
    level : float, default=0.9
        Probability of the credible band at each point.

    Returns
    -------
    DataFrame
        The columns of the grid, then ``estimate, std_error, conf_low, conf_high``.
    """
    how = read_variables(people, variables)
    require_free_names(how)
    grids = [_grid(people, name, values) for name, values in how.items()]
    weight = read_weights(weights, len(people))
    points = list(product(*grids))
    draws = []
    for point in points:
        changed = people
        for name, value in zip(how, point, strict=True):
            changed = _set(changed, name, value)
        draws.append(average_draws(predict, changed, weight))
    keys = {name: _typed(people, name, index) for name, index in zip(how, zip(*points, strict=True), strict=True)}
    return pd.DataFrame(keys).assign(**summarise(np.column_stack(draws), level))


def _grid(people: Any, name: str, values: Any) -> list[Any]:
    known = column(people, name)
    if values is not None:
        grid = _checked(values, name, levels_of(known) if is_category(known) else None)
        return days_of(pd.Series(grid, name=name)).tolist() if is_date(known) else grid
    if is_category(known):
        return levels_of(known)
    finite = numbers(people, name)
    finite = finite[np.isfinite(finite)]
    distinct = np.unique(finite)
    if len(distinct) <= _GRID_POINTS:
        return list(distinct.tolist())
    low, high = np.quantile(finite, _GRID_ENDS)
    return list(np.linspace(low, high, _GRID_POINTS).tolist())


def _checked(values: Any, name: str, levels: list[Any] | None) -> list[Any]:
    grid = as_list(values, f"the grid of {name!r}")
    if not grid:
        raise ValueError(f"the grid of {name!r} is empty; give some values, or None for the usual ones.")
    unknown = [value for value in grid if levels is not None and value not in levels]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not a level of {name!r}; its levels are {levels}.")
    return grid


def _set(people: Any, name: str, value: Any) -> Any:
    if is_category(column(people, name)):
        return with_level(people, name, value)
    return with_numbers(people, name, np.full(len(people), float(value)))


def _typed(people: Any, name: str, values: Sequence[Any]) -> pd.Series:
    """Categories keep their type, and with it their order; days become dates again."""
    known = column(people, name)
    if is_date(known):
        return dates_from_days(values)
    return pd.Series(values, dtype=known.dtype if isinstance(known.dtype, pd.CategoricalDtype) else None)
