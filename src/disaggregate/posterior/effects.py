"""Effects of features: average slopes and comparisons.

Verbs and columns are those of the package ``marginaleffects``. Each estimate is an average over all people given,
taken in every posterior draw; only the feature in question is changed, all others stay as each person has them.
An effect is what the *model* predicts to change, which is no proof that the feature causes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from disaggregate.posterior.blocks import Predict, average_draws
from disaggregate.posterior.dependence import predictions
from disaggregate.posterior.importance import permutation_importance
from disaggregate.posterior.summaries import summarise
from disaggregate.tables.people import (
    column,
    is_category,
    levels_of,
    numbers,
    read_variables,
    read_weights,
    require_columns,
    with_column,
    with_level,
)

__all__ = ["avg_comparisons", "avg_slopes", "permutation_importance", "predictions"]

FloatArray = NDArray[np.float64]


def avg_slopes(
    predict: Predict,
    people: Any,
    variables: str | Sequence[str] | None = None,
    *,
    weights: ArrayLike | None = None,
    level: float = 0.9,
    eps: float = 1e-3,
) -> pd.DataFrame:
    """Average marginal effects: the derivative of the probability by each numeric feature, averaged over people.

    Parameters
    ----------
    predict : callable
        From a table of people to their probabilities in each draw, shape (n_draws, n_rows), such as
        ``model.predict_draws``.
    people : dataframe
        Over whom to average.
    variables : str or sequence of str, optional
        Numeric columns; all of them by default.
    weights : array-like of shape (n_rows,), optional
        Survey weights.
    level : float, default=0.9
        Probability of the credible intervals.
    eps : float, default=1e-3
        Step to either side, in standard deviations of the feature.

    Returns
    -------
    DataFrame
        Columns ``term, contrast, estimate, std_error, conf_low, conf_high``; the contrast is "dY/dX".
    """
    names = list(read_variables(people, variables)) if variables is not None else _numeric_columns(people)
    if not eps > 0.0:
        raise ValueError(f"eps must be above 0, such as 0.001; got {eps!r}.")
    weight = read_weights(weights, len(people))
    found = []
    for name in names:
        values = numbers(people, name)
        step = eps * _spread(values, name)
        above, below = (
            average_draws(predict, with_column(people, name, values + h), weight) for h in (step, -step)
        )
        found.append((name, "dY/dX", (above - below) / (2.0 * step)))
    return _table(found, level)


def avg_comparisons(
    predict: Predict,
    people: Any,
    variables: str | Sequence[str] | Mapping[str, Any] | None = None,
    *,
    weights: ArrayLike | None = None,
    level: float = 0.9,
) -> pd.DataFrame:
    """Average differences in probability when everybody's feature is changed.

    A number is raised by a step from where each person has it; a category is set, for everybody, to each of its
    levels in turn and compared with the reference.

    Parameters
    ----------
    predict : callable
        From a table of people to their probabilities in each draw, shape (n_draws, n_rows).
    people : dataframe
        Over whom to average.
    variables : str, sequence of str, or mapping, optional
        Columns; all of them by default. A mapping says how: for a number the step, or "sd" for one standard
        deviation (1 by default); for a category its reference level (the first by default), or None.
    weights : array-like of shape (n_rows,), optional
        Survey weights.
    level : float, default=0.9
        Probability of the credible intervals.

    Returns
    -------
    DataFrame
        Columns ``term, contrast, estimate, std_error, conf_low, conf_high``; contrasts such as "+1", "+1 sd" or
        "female - male".
    """
    how = read_variables(people, variables)
    weight = read_weights(weights, len(people))
    as_it_is = average_draws(predict, people, weight)
    found: list[tuple[str, str, FloatArray]] = []
    for name, option in how.items():
        if is_category(column(people, name)):
            found += _compare_levels(predict, people, name, option, weight)
        else:
            found.append(_compare_step(predict, people, name, option, weight, as_it_is))
    return _table(found, level)


def _table(found: list[tuple[str, str, FloatArray]], level: float) -> pd.DataFrame:
    """Tabulate the draws of some contrasts of some terms."""
    if not found:
        raise ValueError("there is nothing to compare: name columns that vary in variables.")
    terms, contrasts, draws = zip(*found, strict=True)
    table = pd.DataFrame({"term": terms, "contrast": contrasts})
    return table.assign(**summarise(np.column_stack(draws), level))


def _compare_step(
    predict: Predict, people: Any, name: str, step: Any, weight: FloatArray, as_it_is: FloatArray
) -> tuple[str, str, FloatArray]:
    values = numbers(people, name)
    if step == "sd":
        size, label = _spread(values, name), "+1 sd"
    elif step is None or (isinstance(step, (int, float, np.number)) and step != 0):
        size = 1.0 if step is None else float(step)
        label = f"{size:+g}"
    else:
        raise ValueError(f'the step of {name!r} must be a number other than 0, or "sd"; got {step!r}.')
    raised = average_draws(predict, with_column(people, name, values + size), weight)
    return name, label, raised - as_it_is


def _compare_levels(
    predict: Predict, people: Any, name: str, reference: Any, weight: FloatArray
) -> list[tuple[str, str, FloatArray]]:
    levels = levels_of(column(people, name))
    chosen = next(iter(levels), None) if reference is None else reference
    if chosen not in levels:
        raise ValueError(f"the reference of {name!r} must be one of its levels {levels}, got {chosen!r}.")
    base = average_draws(predict, with_level(people, name, chosen), weight)
    return [
        (name, f"{other} - {chosen}", average_draws(predict, with_level(people, name, other), weight) - base)
        for other in levels
        if other != chosen
    ]


def _numeric_columns(people: Any) -> list[str]:
    require_columns(people, [])
    return [name for name in people.columns if not is_category(column(people, name))]


def _spread(values: FloatArray, name: str) -> float:
    spread = float(np.nanstd(values))
    if not spread > 0.0:
        raise ValueError(f"column {name!r} is the same for everybody, so its spread gives no step; leave it out.")
    return spread
