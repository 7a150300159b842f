"""Differences and ratios between subgroups, with intervals."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from disaggregate.posterior.subgroups import SubgroupDraws, squares, with_counts
from disaggregate.posterior.summaries import summarise

FloatArray = NDArray[np.float64]

_SIGNS = {"difference": "-", "ratio": "/"}


def contrast(
    first: SubgroupDraws,
    second: SubgroupDraws,
    kind: Literal["difference", "ratio"] = "difference",
    level: float = 0.9,
) -> pd.DataFrame:
    """Compare subgroups with others, draw by draw, so that common uncertainty cancels.

    Parameters
    ----------
    first, second : SubgroupDraws
        Subgroups from one call of :meth:`disaggregate.Analysis.subgroup_draws`, or from two of the same analysis.
        The same number in both, which are compared one by one; or one in either, which is compared with all
        others.
    kind : "difference" or "ratio", default="difference"
        First minus second, or first over second.
    level : float, default=0.9
        Probability of the credible intervals.

    Returns
    -------
    DataFrame
        Columns ``contrast, estimate, std_error, conf_low, conf_high, n, weight``, the last two of both together;
        with replicate weights also ``std_error_posterior, std_error_design``.

    Examples
    --------
    >>> rates = analysis.subgroup_draws(people, by="sex")  # doctest: +SKIP
    >>> contrast(rates.only(sex="female"), rates.only(sex="male"))  # doctest: +SKIP
    """
    if kind not in _SIGNS:
        raise ValueError(f'kind must be "difference" or "ratio", got {kind!r}.')
    _require_comparable(first, second)
    draws = _compare(first.draws, second.draws, kind)
    variance = _design_variance(first, second, kind)
    bounds = (-1.0, 1.0) if kind == "difference" else (0.0, np.inf)
    return with_counts(
        pd.DataFrame({"contrast": _labels(first.keys, second.keys, _SIGNS[kind])}),
        summarise(draws, level, variance, bounds),
        first.n + second.n,
        first.weight + second.weight,
    )


def _compare(first: FloatArray, second: FloatArray, kind: str) -> FloatArray:
    if kind == "difference":
        return first - second
    if (second == 0.0).any():
        raise ValueError(
            "the rate of the second subgroup is 0 in some draws, so that the ratio has no mean; "
            'ask for kind="difference", or put the larger rate second.'
        )
    return first / second


def _design_variance(first: SubgroupDraws, second: SubgroupDraws, kind: str) -> FloatArray | None:
    """Both rates move together under a set of replicate weights, so the contrast is taken under each."""
    if first.replicates is None or second.replicates is None:
        return None
    estimate = _compare(first.draws.mean(axis=0), second.draws.mean(axis=0), kind)
    return first.design_factor * squares(_compare(first.replicates, second.replicates, kind), estimate)


def _labels(first: pd.DataFrame, second: pd.DataFrame, sign: str) -> list[str]:
    names, others = ([", ".join(map(str, row)) or "all" for row in keys.to_numpy()] for keys in (first, second))
    longer = max(len(names), len(others))
    names, others = (labels * longer if len(labels) == 1 else labels for labels in (names, others))
    return [f"{name} {sign} {other}" for name, other in zip(names, others, strict=True)]


def _require_comparable(first: SubgroupDraws, second: SubgroupDraws) -> None:
    sizes = first.draws.shape[1], second.draws.shape[1]
    if sizes[0] != sizes[1] and 1 not in sizes:
        raise ValueError(
            f"both sides must have the same number of subgroups, or one side a single one; got {sizes[0]} and "
            f"{sizes[1]}. "
            'Choose them with only(), such as draws.only(sex="female").'
        )
    if len(first.draws) != len(second.draws):
        raise ValueError(
            f"both sides must come from the same posterior draws, got {len(first.draws)} and {len(second.draws)}."
        )
    if _design(first) != _design(second):
        raise ValueError("replicate weights must be the same on both sides, or absent on both.")


def _design(subgroups: SubgroupDraws) -> tuple[int, float] | None:
    return None if subgroups.replicates is None else (len(subgroups.replicates), subgroups.design_factor)
