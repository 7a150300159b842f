"""Effects of features: average slopes and comparisons.

Verbs and columns are those of the package ``marginaleffects``. Each estimate is an average over all people given,
taken in every posterior draw; only the feature in question is changed, all others stay as each person has them.
An effect is what the *model* predicts to change, which does not prove that the feature causes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from disaggregate.posterior.batches import Predict, average_draws
from disaggregate.posterior.contraction import CONTRACTION, RESTS_ON, change_contraction, in_words
from disaggregate.posterior.summaries import summarise
from disaggregate.tables.counts import Counts, read_counts, weights_of_rows
from disaggregate.tables.kinds import text_of
from disaggregate.tables.people import (
    column,
    is_category,
    is_date,
    levels_of,
    numbers,
    read_variables,
    read_weights,
    require_columns,
    with_level,
    with_numbers,
)
from disaggregate.tables.suppression import NOTE, SUPPRESSED, effective_members, hidden

FloatArray = NDArray[np.float64]

# Days of the steps that a date may take.
_DATE_STEPS = {"year": 365.25, "month": 365.25 / 12.0, "day": 1.0}
# The dates of a column must span this many steps for the step to be the usual one.
_STEPS_SPANNED = 2.0
INTERVALS = ("estimate", "std_error", "conf_low", "conf_high")


def avg_slopes(
    predict: Predict,
    people: Any,
    variables: str | Sequence[str] | None = None,
    *,
    weights: ArrayLike | None = None,
    counts: ArrayLike | None = None,
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
        Columns of numbers or dates, the latter by day; all numbers by default.
    weights : array-like of shape (n_rows,), optional
        Survey weights.
    counts : array-like of shape (n_rows,), optional
        Number of people per row, one by default. Weights are per person.
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
    n_each = read_counts(counts, len(people))
    weight = weights_of_rows(weights, n_each)
    found = []
    for name in names:
        values = numbers(people, name)
        known = _of_known(weight, values, name)
        step = eps * _spread(values, name, n_each)
        above, below = (
            average_draws(predict, with_numbers(people, name, values + h), known) for h in (step, -step)
        )
        found.append((name, "dY/dX", (above - below) / (2.0 * step)))
    terms, contrasts, slopes = zip(*found, strict=True)
    table = pd.DataFrame({"term": terms, "contrast": contrasts})
    return table.assign(**summarise(np.column_stack(slopes), level))


def avg_comparisons(
    predict: Predict,
    people: Any,
    variables: str | Sequence[str] | Mapping[str, Any] | None = None,
    *,
    weights: ArrayLike | None = None,
    counts: ArrayLike | None = None,
    level: float = 0.9,
    min_group_size: int = 1,
    prior: Predict | None = None,
) -> pd.DataFrame:
    """Average differences in probability when a feature of all people is changed.

    A number or date is increased by a step from each person's value, and the average is over people with
    a value. A category is set, for all people, to each of its levels and compared with the reference; so is
    a number that is only ever 0 or 1.

    Parameters
    ----------
    predict : callable
        From a table of people to their probabilities in each draw, shape (n_draws, n_rows).
    people : dataframe
        Over whom to average.
    variables : str, sequence of str, or mapping, optional
        Columns; by default all that vary. A mapping gives, for a number, the step, or
        "sd" for one standard deviation (1 by default); for a date "year", "month", "day" (by default the longest
        of which the dates span two), "sd" or a number of days; for a category its reference level (the first by
        default); None for the default.
    weights : array-like of shape (n_rows,), optional
        Survey weights.
    counts : array-like of shape (n_rows,), optional
        Number of people per row, one by default. Weights are per person.
    level : float, default=0.9
        Probability of the credible intervals.
    min_group_size : int, default=1
        Levels that fewer people have, and rows that would reveal them, have no comparisons, and steps of numbers
        that fewer people have are not shown; a column ``note`` says so.
    prior : callable, optional
        As ``predict``, in draws from the prior.

    Returns
    -------
    DataFrame
        Columns ``term, contrast, estimate, std_error, conf_low, conf_high``; contrasts such as "+1", "+1 sd",
        "+1 year" or "female - male". With a prior also ``contraction``, the share of its variance that the reports
        removed, and ``rests_on``, the same in words.
    """
    how = read_variables(people, variables)
    n_each = read_counts(counts, len(people))
    weight = weights_of_rows(weights, n_each)
    suppressed = _Suppressed(read_weights(weights, len(people)), n_each, min_group_size)
    if variables is None:
        how = {name: None for name in how if column(people, name).notna().any()}

    def compared(by: Predict) -> list[_Compared]:
        as_it_is = cache(lambda: average_draws(by, people, weight))
        found: list[_Compared] = []
        for name, option in how.items():
            if _has_levels(people, name, option):
                found += _compare_levels(by, people, name, option, weight, suppressed)
            else:
                found.append(_compare_step(by, people, name, option, weight, n_each, as_it_is, suppressed))
        return found

    return _suppressed(compared(predict), None if prior is None else compared(prior), level, min_group_size)


# Term, contrast, and the rates after and before the change in each draw; None where nothing may be shown.
_Compared = tuple[str, str, tuple[FloatArray, FloatArray] | None]


@dataclass(frozen=True)
class _Suppressed:
    """Which effects must not be shown.

    Attributes
    ----------
    weight : ndarray of shape (n_rows,)
        Survey weight of each person of a row.
    counts : ndarray of shape (n_rows,)
        People per row.
    min_group_size : int
        Fewest people that an effect may describe.
    """

    weight: FloatArray
    counts: Counts
    min_group_size: int

    def about_levels(self, values: pd.Series, levels: list[Any]) -> list[bool]:
        """Find levels that too few people have, or that would reveal such a level; missing values are a level."""
        codes = pd.Index(levels, dtype=object).get_indexer(values.astype(object))  # -1 for the missing
        sizes = effective_members(self.weight, self.counts, codes + 1, len(levels) + 1)
        is_there = np.bincount(codes + 1, minlength=len(levels) + 1) > 0
        hide = np.zeros(len(sizes), dtype=bool)
        hide[is_there] = hidden(sizes[is_there], self.min_group_size)
        return [bool(flag) for flag in hide[1:]]

    def about_those_with(self, known: NDArray[np.bool_]) -> bool:
        """Return whether too few people have a value."""
        size = effective_members(self.weight * known, self.counts, np.zeros(len(known), dtype=np.intp), 1)
        return bool(size[0] < self.min_group_size) and self.min_group_size > 1


def _suppressed(
    found: list[_Compared], prior: list[_Compared] | None, level: float, min_group_size: int
) -> pd.DataFrame:
    """Tabulate contrasts, without numbers where there are no draws."""
    if not found:
        raise ValueError("there is nothing to compare: name columns that vary in variables.")
    table = pd.DataFrame([(term, contrast) for term, contrast, _ in found], columns=["term", "contrast"])
    is_shown = np.array([rates is not None for _, _, rates in found])
    table[[*INTERVALS, *([] if prior is None else [CONTRACTION])]] = np.nan
    if is_shown.any():
        after, before = _rates_of(found)
        columns = summarise(after - before, level)
        if prior is not None:
            columns[CONTRACTION] = change_contraction((after, before), _rates_of(prior))
        for name, values in columns.items():
            table.loc[is_shown, name] = values
    if prior is not None:
        table[RESTS_ON] = in_words(table[CONTRACTION].to_numpy())
    if min_group_size == 1:
        return table
    why = f"{SUPPRESSED}: fewer than {min_group_size} people, or a row that would reveal them"
    return table.assign(**{NOTE: np.where(is_shown, "", why)})


def _rates_of(found: list[_Compared]) -> tuple[FloatArray, FloatArray]:
    """Rates after and before each change that may be shown, each of shape (n_draws, n_changes)."""
    pairs = [rates for _, _, rates in found if rates is not None]
    after, before = zip(*pairs, strict=True)
    return np.column_stack(after), np.column_stack(before)


def _compare_step(
    predict: Predict,
    people: Any,
    name: str,
    step: Any,
    weight: FloatArray,
    counts: Counts,
    as_it_is: Callable[[], FloatArray],
    suppressed: _Suppressed,
) -> _Compared:
    values = numbers(people, name)
    known = _of_known(weight, values, name)
    choose = _date_step if is_date(column(people, name)) else _step
    size, label = choose(values, name, step, counts)
    if suppressed.about_those_with(~np.isnan(values)):
        return name, label, None
    raised = average_draws(predict, with_numbers(people, name, values + size), known)
    before = average_draws(predict, people, known) if np.isnan(values).any() else as_it_is()
    return name, label, (raised, before)


def _step(values: FloatArray, name: str, step: Any, counts: Counts) -> tuple[float, str]:
    """Return the step of a number, and its label."""
    if isinstance(step, str) and step == "sd":
        return _spread(values, name, counts), "+1 sd"
    if step is None or _is_number(step):
        size = 1.0 if step is None else float(step)
        return size, f"{size:+g}"
    raise ValueError(f'the step of {name!r} must be a number other than 0, or "sd"; got {step!r}.')


def _date_step(values: FloatArray, name: str, step: Any, counts: Counts) -> tuple[float, str]:
    """Return the step of a date in days, and its label."""
    if isinstance(step, str) and step == "sd":
        return _spread(values, name, counts), "+1 sd"
    if _is_number(step):
        return float(step), f"{float(step):+g} days"
    unit = _usual_unit(values) if step is None else step
    if unit not in _DATE_STEPS:
        raise ValueError(
            f"the step of the date {name!r} must be one of {', '.join(map(repr, (*_DATE_STEPS, 'sd')))}, or a "
            f"number of days other than 0; got {step!r}."
        )
    return _DATE_STEPS[unit], f"+1 {unit}"


def _usual_unit(days: FloatArray) -> str:
    span = float(np.nanmax(days) - np.nanmin(days))
    return next((unit for unit, length in _DATE_STEPS.items() if span >= _STEPS_SPANNED * length), "day")


def _is_number(step: Any) -> bool:
    is_number = isinstance(step, (int, float, np.number)) and not isinstance(step, bool)
    return is_number and bool(np.isfinite(step)) and step != 0


def _has_levels(people: Any, name: str, option: Any) -> bool:
    values = column(people, name)
    if is_category(values):
        return True
    return option is None and not is_date(values) and set(values.dropna().unique()) == {0, 1}


def _compare_levels(
    predict: Predict, people: Any, name: str, reference: Any, weight: FloatArray, suppressed: _Suppressed
) -> list[_Compared]:
    levels = levels_of(column(people, name))
    if not levels:
        raise ValueError(f"column {name!r} holds no values, so there is nothing to compare; leave it out.")
    named = {text_of(level): level for level in levels}
    silent = suppressed.about_levels(column(people, name), levels)
    shown = [level for level, is_silent in zip(levels, silent, strict=True) if not is_silent]
    chosen = next(iter([*shown, *levels])) if reference is None else named.get(text_of(reference))
    if chosen is None:
        raise ValueError(f"the reference of {name!r} must be one of its levels {levels}, got {reference!r}.")

    @cache
    def rate(level: Any) -> FloatArray:
        return average_draws(predict, with_level(people, name, level), weight)

    return [
        (
            name,
            f"{text_of(other)} - {text_of(chosen)}",
            (rate(other), rate(chosen)) if other in shown and chosen in shown else None,
        )
        for other in levels
        if other != chosen
    ]


def _of_known(weight: FloatArray, values: FloatArray, name: str) -> FloatArray:
    """Weights of people with a value: missing values cannot be increased, and would dilute the average."""
    known = np.where(np.isnan(values), 0.0, weight)
    if not known.any():
        raise ValueError(f"column {name!r} holds no values, so there is nothing to increase; leave it out.")
    return known


def _numeric_columns(people: Any) -> list[str]:
    require_columns(people, [])
    known = {name: column(people, name) for name in people.columns}
    return [name for name, values in known.items() if not (is_category(values) or is_date(values))]


def _spread(values: FloatArray, name: str, counts: Counts) -> float:
    """Return the standard deviation over those who have a value, each row counting as that many people."""
    inside = ~np.isnan(values) & (counts > 0)
    known, people = values[inside], counts[inside]
    spread = 0.0
    if known.size and np.ptp(known) > 0.0:
        spread = float(np.sqrt(np.average((known - np.average(known, weights=people)) ** 2, weights=people)))
    if not spread > 0.0:
        raise ValueError(f"column {name!r} is constant, so its standard deviation is no step; leave it out.")
    return spread
