"""The context of groups in partitions: averages are worked out where the rows are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.groups import GroupedData
from disaggregate.groups.context import Context, usable_scale
from disaggregate.parallel.partitions import Partitions
from disaggregate.sampler.dense.partition import PartitionSource


class _Totals(NamedTuple):
    """Features summed: over each group's units, and over rows, with their squares."""

    by_group: np.ndarray
    in_all: np.ndarray
    squares: float


def context_of_partitions(rows: Partitions, data: GroupedData) -> Context:
    """Average the features of each group in one reading of the partitions; see ``groups.context.context_of``.

    Parameters
    ----------
    rows : Partitions
        The rows of each partition.
    data : GroupedData
        Their groups, in the same order.
    """
    parts: list[_Totals] = rows.query(_totals_of, None)
    n_rows = len(data.order)
    origin = np.sum([part.in_all for part in parts], axis=0) / n_rows
    variance = sum(part.squares for part in parts) / n_rows - float(origin @ origin)
    means = np.vstack([part.by_group for part in parts]) / data.totals[:, None]
    return Context(data.names, means, origin, usable_scale(np.sqrt(max(variance, 0.0))))


def _totals_of(rows: PartitionSource, own: None) -> _Totals:
    X, reports = rows.features(), rows.reports()
    weight = (reports.units * reports.counts)[:, None]
    by_group = np.add.reduceat(X * weight, reports.offsets[:-1], axis=0)
    return _Totals(by_group, X.sum(axis=0), float(np.sum(X * X)))
