"""Reported and implied share of each group."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from disaggregate.groups.grouped import GroupedData
from disaggregate.posterior.summaries import interval_ends
from disaggregate.tables.dataframes import dataframe_of

if TYPE_CHECKING:
    from pandas import DataFrame


def group_table(data: GroupedData, count_tallies: np.ndarray, level: float) -> DataFrame:
    """Tabulate the groups.

    Parameters
    ----------
    data : GroupedData
        Groups and evidence.
    count_tallies : ndarray of shape (n_tallies,)
        How often each group had each share of positives; see ``GroupedData.tally_starts``.
    level : float
        Probability of the credible intervals.

    Returns
    -------
    DataFrame
        Columns ``group, n, reported, implied, conf_low, conf_high``: the reported share, the posterior mean
        of the true share of the members, and its credible interval.
    """
    tails = interval_ends(level)
    shares = [share_summary(count_tallies[i:j], tails) for i, j in pairwise(data.tally_starts)]
    implied, low, high = np.array(shares).T
    return dataframe_of(
        {
            "group": data.names,
            "n": data.people,
            "reported": data.reported_shares,
            "implied": implied,
            "conf_low": low,
            "conf_high": high,
        }
    )


def share_summary(tallies: np.ndarray, tails: tuple[float, float]) -> tuple[float, float, float]:
    """Mean and central interval of a share whose counts occurred so many times."""
    n = len(tallies) - 1
    below = np.cumsum(tallies) / tallies.sum()
    low, high = np.searchsorted(below, tails)
    return float(np.arange(n + 1) @ tallies / (n * tallies.sum())), float(low / n), float(high / n)
