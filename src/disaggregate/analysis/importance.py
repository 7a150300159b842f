"""Permutation importance: how much worse the reports are predicted without each feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from disaggregate.posterior.summaries import interval_ends
from disaggregate.tables.people import as_names, require_columns, take_rows


def permutation_importance(
    score: Callable[[Any], float],
    people: Any,
    features: str | Sequence[str | tuple[str, ...]],
    n_repeats: int = 5,
    rng: np.random.Generator | int | None = 0,
    *,
    level: float = 0.9,
) -> pd.DataFrame:
    """Compute how much worse the reports are predicted when a feature is permuted among all people.

    Parameters
    ----------
    score : callable
        From a table of people to a score, better when larger, such as the mean log likelihood of the groups'
        reports: ``lambda people: model.score(people, shares, groups)``.
    people : dataframe
        One row per person.
    features : str, or sequence of str or tuple of str
        Columns; those in a tuple are shuffled together, as the columns of one category must be.
    n_repeats : int, default=5
        How often each is shuffled, at least twice.
    rng : Generator, int or None, default=0
        Shuffles.
    level : float, default=0.9
        Probability of the confidence intervals, which depend on the shuffling alone.

    Returns
    -------
    DataFrame
        Columns ``term, contrast, estimate, std_error, conf_low, conf_high``, most important first: the loss of
        score, averaged over the repeats, and the error of that average.
    """
    bundles = [as_names(feature) for feature in ([features] if isinstance(features, str) else features)]
    require_columns(people, [name for bundle in bundles for name in bundle])
    if n_repeats < 2:
        raise ValueError(f"n_repeats must be 2 or more, to estimate a standard error; got {n_repeats!r}.")
    generator = np.random.default_rng(rng)
    whole = score(people)
    losses = np.array(
        [[whole - score(_shuffled(people, bundle, generator)) for _ in range(n_repeats)] for bundle in bundles]
    )
    estimate, error = losses.mean(axis=1), losses.std(axis=1, ddof=1) / np.sqrt(n_repeats)
    low, high = student.ppf(interval_ends(level), n_repeats - 1)
    table = pd.DataFrame(
        {
            "term": [", ".join(bundle) for bundle in bundles],
            "contrast": "shuffled",
            "estimate": estimate,
            "std_error": error,
            "conf_low": estimate + low * error,
            "conf_high": estimate + high * error,
        }
    )
    return table.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)


def _shuffled(people: Any, names: list[str], rng: np.random.Generator) -> Any:
    order = rng.permutation(len(people))
    shuffled = take_rows(people[names], order)
    if isinstance(people, pd.DataFrame):
        return people.assign(**{name: shuffled[name].array for name in names})
    return people.with_columns(shuffled)
