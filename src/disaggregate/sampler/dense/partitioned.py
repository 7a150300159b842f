"""The back end for large data: partitions compute sums over their rows, on threads or on Dask workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disaggregate.groups import GroupedData
from disaggregate.model.components import Components
from disaggregate.model.reports import make_reports, run_of_groups
from disaggregate.parallel.one_blas_thread import one_blas_thread_here
from disaggregate.parallel.partitions import Partitions
from disaggregate.sampler.dense.advance import advance_in_numpy
from disaggregate.sampler.dense.metric import Information
from disaggregate.sampler.dense.partition import (
    PARTITION_ROWS,
    ArraySource,
    Partition,
    PartitionSource,
    Recipe,
    Tile,
    make_partition,
    partition_groups,
)
from disaggregate.sampler.dense.state import Sweeps
from disaggregate.sampler.dense.target import LikelihoodGradient, Query, Target
from disaggregate.sampler.dense.whole import (
    one_by_one,
    replica_expectations,
    replica_gradient,
    replica_information,
    values_of,
)


@dataclass(frozen=True)
class PartitionSources:
    """Rows of all partitions, and what the driver knows of them.

    Attributes
    ----------
    rows : sequence of PartitionSource
        The rows of each partition.
    n_rows, n_groups : tuple of int
        How many rows and groups each partition has.
    n_tallies : tuple of int
        Length of the tallies of its groups' shares.
    """

    rows: Sequence[PartitionSource]
    n_rows: tuple[int, ...]
    n_groups: tuple[int, ...]
    n_tallies: tuple[int, ...]


def is_for_partitions(n_rows: int, data: GroupedData) -> bool:
    """Return whether data have more rows than one partition; samples of populations are pooled, and stay whole."""
    return n_rows > PARTITION_ROWS and not any(population is not None for population in data.populations)


def partition_rows(X: np.ndarray, data: GroupedData) -> PartitionSources:
    """Cut individuals, sorted by group, into partitions; the features are not copied."""
    reports = make_reports(data)
    runs = partition_groups(data.offsets)
    rows: list[PartitionSource] = [
        ArraySource(index, X[data.offsets[first] : data.offsets[last]], run_of_groups(reports, first, last))
        for index, (first, last) in enumerate(runs)
    ]
    return with_sizes(rows, runs, data)


def with_sizes(
    rows: Sequence[PartitionSource], runs: Sequence[tuple[int, int]], data: GroupedData
) -> PartitionSources:
    """Put partitions together whose groups are those of ``data``, in the same order."""
    tallies = data.tally_starts
    return PartitionSources(
        rows=rows,
        n_rows=tuple(int(data.offsets[last] - data.offsets[first]) for first, last in runs),
        n_groups=tuple(last - first for first, last in runs),
        n_tallies=tuple(int(tallies[last] - tallies[first]) for first, last in runs),
    )


class PartitionedLikelihood:
    """Sums over all partitions, added in their order, so that they round alike wherever partitions are.

    See :class:`disaggregate.sampler.dense.target.Likelihood`.

    Parameters
    ----------
    partitions : Partitions
        The partitions.
    sizes : PartitionSources
        How large they are.
    """

    def __init__(self, partitions: Partitions, sizes: PartitionSources) -> None:
        self._partitions, self._sizes = partitions, sizes

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        """Log likelihood of each replica under its rung's evidence, and its gradient."""
        parts = self._query(gradient_of, query, rungs)
        return LikelihoodGradient(
            _sum([part.log_likelihood for part in parts]),
            _sum([part.columns for part in parts]),
            np.hstack([part.group for part in parts]),
            _sum([part.error for part in parts]),
            _sum([part.scale for part in parts]),
            correlation=_sum([part.correlation for part in parts]),
        )

    def table(self, query: Query) -> np.ndarray:
        """Log likelihood of each replica under each rung's evidence."""
        return _sum(self._query(table_of, query))

    def information(self, query: Query, rungs: np.ndarray) -> list[Information]:
        """Find the expected curvature at each replica."""
        parts = self._query(information_in, query, rungs)
        return [
            Information(
                _sum([own.columns for own in replica]),
                np.hstack([own.cross for own in replica]),
                np.concatenate([own.group for own in replica]),
                sum(own.scale for own in replica),
                cell=sum(own.cell for own in replica),
            )
            for replica in zip(*parts, strict=True)
        ]

    def add_expected(
        self, query: Query, noise: np.ndarray, label_sums: np.ndarray, share_tallies: np.ndarray
    ) -> np.ndarray:
        """Draw the groups' offsets of each replica, and add the expected labels and shares."""
        row = tally = 0
        offsets = []
        with_labels = label_sums.shape[1] > 0
        for group, labels, tallies in self._query(expected_in, query, with_labels, split=(noise,)):
            label_sums[:, row : row + labels.shape[1]] += labels
            share_tallies[:, tally : tally + tallies.shape[1]] += tallies
            row, tally = row + labels.shape[1], tally + tallies.shape[1]
            offsets.append(group)
        return np.hstack(offsets)

    def _query(
        self, function: Callable[..., Any], query: Query, *given: Any, split: tuple[np.ndarray, ...] = ()
    ) -> list[Any]:
        """Query every partition; of arrays by group each one has its own part."""
        ends = np.cumsum(self._sizes.n_groups)[:-1]
        arrays = [np.split(array, ends, axis=1) for array in (query.group, *split)]
        own = [tuple(np.ascontiguousarray(part) for part in parts) for parts in zip(*arrays, strict=True)]
        return self._partitions.query(function, own, query._replace(group=query.group[:, :0]), *given)


class PartitionedData:
    """Sweeps of all chains in lock step, so that one query to a partition serves all of them.

    Parameters
    ----------
    components : Components
        What weights mean.
    rows : Partitions
        Rows of the partitions, where they will be worked on.
    sizes : PartitionSources
        How large they are.
    recipe : Recipe
        How rows become partitions.
    """

    sweeps_per_batch = 1
    n_starts = 2
    n_adapting = 0  # chains in lock step share their steps, and must not depend on each other

    def __init__(self, components: Components, rows: Partitions, sizes: PartitionSources, recipe: Recipe) -> None:
        self._rows, self._sizes, self._recipe = rows, sizes, recipe
        likelihood = PartitionedLikelihood(rows.map(make_partition, recipe), sizes)
        self.target = Target(components, likelihood, recipe.powers)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self._sizes.n_rows)

    @property
    def n_tallies(self) -> int:
        """Length of the tallies of all groups' shares."""
        return sum(self._sizes.n_tallies)

    def with_powers(self, powers: np.ndarray) -> PartitionedData:
        """Return the same data with another ladder."""
        recipe = Recipe(self._recipe.basis, self._recipe.to_kernels, powers, self._recipe.storage)
        return PartitionedData(self.target.components, self._rows, self._sizes, recipe)

    def advance(self, sweeps: Sweeps) -> int:
        """Do some sweeps of all chains; return how many draws were recorded."""
        return advance_in_numpy(self.target, sweeps)


def gradient_of(
    partition: Partition, own: tuple[np.ndarray], query: Query, rungs: np.ndarray
) -> LikelihoodGradient:
    """Log likelihood of the reports of one partition, and its gradient."""
    n_replicas, [group] = len(rungs), own
    total = LikelihoodGradient(
        np.zeros(n_replicas),
        np.zeros_like(query.weights),
        np.zeros_like(group),
        np.zeros(n_replicas),
        np.zeros(n_replicas),
        correlation=np.zeros(n_replicas),
    )
    for tile, columns in _tiles(partition):
        found = replica_gradient(tile.reports, columns.T, _of_tile(query, group, tile), rungs)
        total.group[:, tile.groups] = found.group
        for name in ("log_likelihood", "columns", "error", "scale", "correlation"):
            getattr(total, name)[:] += getattr(found, name)
    return total


def table_of(partition: Partition, own: tuple[np.ndarray], query: Query) -> np.ndarray:
    """Log likelihood of each replica under the evidence of each rung."""
    total = np.zeros((len(query.error), len(partition.recipe.powers)))
    for tile, columns in _tiles(partition):
        part = _of_tile(query, own[0], tile)
        total += values_of(tile.reports, columns.T, part)
    return total


def information_in(
    partition: Partition, own: tuple[np.ndarray], query: Query, rungs: np.ndarray
) -> list[Information]:
    """Find the expected curvature of one partition's log likelihood at each replica."""
    size, n_groups = query.weights.shape[1], own[0].shape[1]
    totals = []
    for one, rung in zip(one_by_one(query._replace(group=own[0])), rungs, strict=True):
        total = Information(np.zeros((size, size)), np.zeros((size, n_groups)), np.zeros(n_groups), 0.0)
        for tile, columns in _tiles(partition):
            part = _of_tile(one, one.group, tile)
            found = replica_information(tile.reports, int(rung), columns.T, part)
            total.columns[:] += found.columns
            total.cross[:, tile.groups] = found.cross
            total.group[tile.groups] = found.group
            total = total._replace(scale=total.scale + found.scale, cell=total.cell + found.cell)
        totals.append(total)
    return totals


def expected_in(
    partition: Partition, own: tuple[np.ndarray, np.ndarray], query: Query, with_labels: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw the offsets of one partition's groups at each replica; on request, find expected labels and shares."""
    group, noise = own
    n_replicas = len(query.error)
    offsets, labels, tallies = np.empty_like(group), np.zeros((n_replicas, partition.n_rows * with_labels)), []
    for tile, columns in _tiles(partition):
        part = _of_tile(query, group, tile)
        of_rows = np.zeros((n_replicas, len(columns) * with_labels))
        shares = np.zeros((n_replicas, int(tile.reports.tally_starts[-1]) * with_labels))
        of_groups = np.ascontiguousarray(noise[:, tile.groups])
        offsets[:, tile.groups] = replica_expectations(tile.reports, columns.T, part, of_groups, of_rows, shares)
        if with_labels:
            labels[:, tile.rows] = of_rows
        tallies.append(shares)
    return offsets, labels, np.hstack(tallies)


def _of_tile(query: Query, group: np.ndarray, tile: Tile) -> Query:
    return query._replace(group=np.ascontiguousarray(group[:, tile.groups]))


def _tiles(partition: Partition) -> Iterator[tuple[Tile, np.ndarray]]:
    """Go through the tiles; yield each with its columns, on one thread of BLAS."""
    with one_blas_thread_here(), np.errstate(over="ignore", invalid="ignore"):
        yield from partition.columns()


def _sum(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0].copy()
    with np.errstate(over="ignore", invalid="ignore"):  # trajectories that diverge give NaN, and are rejected
        for part in parts[1:]:
            total += part
    return total
