"""The back end for large data: partitions compute sums over their rows, on threads or on Dask workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disaggregate.execute.held import Held
from disaggregate.execute.one_blas_thread import one_blas_thread_here
from disaggregate.groups import GroupedData
from disaggregate.model.components import Components, scores_at
from disaggregate.model.reports import make_reports, run_of_groups
from disaggregate.sampler.dense.information import information_of
from disaggregate.sampler.dense.metric import Information, Metric
from disaggregate.sampler.dense.partition import (
    PARTITION_ROWS,
    Partition,
    PartitionRows,
    Recipe,
    RowsInMemory,
    Tile,
    make_partition,
    partition_groups,
)
from disaggregate.sampler.dense.state import Record, State, Tally
from disaggregate.sampler.dense.sweep import dense_sweep
from disaggregate.sampler.dense.target import LikelihoodGradient, Target


@dataclass(frozen=True)
class PartitionedRows:
    """Rows of all partitions, and what the driver knows of them.

    Attributes
    ----------
    rows : sequence of PartitionRows
        The rows of each partition.
    n_rows, n_groups : tuple of int
        How many rows and groups each partition has.
    n_tallies : tuple of int
        Length of the tallies of its groups' shares.
    """

    rows: Sequence[PartitionRows]
    n_rows: tuple[int, ...]
    n_groups: tuple[int, ...]
    n_tallies: tuple[int, ...]


def is_for_partitions(n_rows: int, data: GroupedData) -> bool:
    """Tell whether data have more rows than one partition; samples of populations are pooled, and stay whole."""
    return n_rows > PARTITION_ROWS and not any(population is not None for population in data.populations)


def partition_rows(X: np.ndarray, data: GroupedData) -> PartitionedRows:
    """Cut individuals, sorted by group, into partitions; the features are not copied."""
    reports = make_reports(data)
    runs = partition_groups(data.offsets)
    rows: list[PartitionRows] = [
        RowsInMemory(index, X[data.offsets[first] : data.offsets[last]], run_of_groups(reports, first, last))
        for index, (first, last) in enumerate(runs)
    ]
    return with_sizes(rows, runs, data)


def with_sizes(
    rows: Sequence[PartitionRows], runs: Sequence[tuple[int, int]], data: GroupedData
) -> PartitionedRows:
    """Put partitions together whose groups are those of ``data``, in the same order."""
    tallies = data.tally_starts
    return PartitionedRows(
        rows=rows,
        n_rows=tuple(int(data.offsets[last] - data.offsets[first]) for first, last in runs),
        n_groups=tuple(last - first for first, last in runs),
        n_tallies=tuple(int(tallies[last] - tallies[first]) for first, last in runs),
    )


@dataclass(frozen=True)
class Query:
    """Where some replicas are.

    Attributes
    ----------
    weights : ndarray of shape (n_replicas, n_columns)
        Weights of the columns.
    error : ndarray of shape (n_replicas,)
        z.
    rungs : ndarray of int, shape (n_replicas,)
        On which rung of the ladder each one stands.
    """

    weights: np.ndarray
    error: np.ndarray
    rungs: np.ndarray


class PartitionedLikelihood:
    """Sums over all partitions, added in their order, so that they round alike wherever partitions are.

    See :class:`disaggregate.sampler.dense.target.Likelihood`.

    Parameters
    ----------
    partitions : Held
        The partitions.
    sizes : PartitionedRows
        How large they are.
    """

    def __init__(self, partitions: Held, sizes: PartitionedRows) -> None:
        self._partitions, self._sizes = partitions, sizes

    def gradient(
        self, weights: np.ndarray, group: np.ndarray, error: np.ndarray, rungs: np.ndarray
    ) -> LikelihoodGradient:
        """Log likelihood of each replica under its rung's evidence, and its gradient."""
        parts = self._ask(gradient_of, group, Query(weights, error, rungs))
        return LikelihoodGradient(
            _sum([part.log_likelihood for part in parts]),
            _sum([part.columns for part in parts]),
            np.hstack([part.group for part in parts]),
            _sum([part.error for part in parts]),
        )

    def table(self, weights: np.ndarray, group: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Log likelihood of each replica under each rung's evidence."""
        return _sum(self._ask(table_of, group, Query(weights, error, np.zeros(len(error), dtype=np.int64))))

    def information(
        self, weights: np.ndarray, group: np.ndarray, error: np.ndarray, rungs: np.ndarray
    ) -> list[Information]:
        """Find the expected curvature at each replica."""
        parts = self._ask(information_in, group, Query(weights, error, rungs))
        return [
            Information(
                _sum([own.columns for own in replica]),
                np.hstack([own.cross for own in replica]),
                np.concatenate([own.group for own in replica]),
            )
            for replica in zip(*parts, strict=True)
        ]

    def add_expected(
        self,
        weights: np.ndarray,
        group: np.ndarray,
        error: np.ndarray,
        label_sums: np.ndarray,
        share_tallies: np.ndarray,
    ) -> None:
        """Add the expected labels and shares of each replica, given the reports themselves."""
        query = Query(weights, error, np.zeros(len(error), dtype=np.int64))
        row = tally = 0
        for labels, tallies in self._ask(expected_in, group, query):
            label_sums[:, row : row + labels.shape[1]] += labels
            share_tallies[:, tally : tally + tallies.shape[1]] += tallies
            row, tally = row + labels.shape[1], tally + tallies.shape[1]

    def _ask(self, function: Callable[..., Any], group: np.ndarray, query: Query) -> list[Any]:
        ends = np.cumsum(self._sizes.n_groups)[:-1]
        own = [np.ascontiguousarray(part) for part in np.split(group, ends, axis=1)]
        return self._partitions.ask(function, own, query)


class PartitionedData:
    """Sweeps of all chains in lock step, so that one query to a partition serves all of them.

    Parameters
    ----------
    components : Components
        What weights mean.
    rows : Held
        Rows of the partitions, where they will be worked on.
    sizes : PartitionedRows
        How large they are.
    recipe : Recipe
        How rows become partitions.
    """

    sweeps_per_batch = 1
    n_starts = 2
    n_adapting = 0  # chains in lock step share their steps, and must not depend on each other

    def __init__(self, components: Components, rows: Held, sizes: PartitionedRows, recipe: Recipe) -> None:
        self._rows, self._sizes, self._recipe = rows, sizes, recipe
        likelihood = PartitionedLikelihood(rows.then(make_partition, recipe), sizes)
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

    def advance(
        self,
        metric: Metric,
        state: State,
        rngs: list[np.random.Generator],
        n_sweeps: int,
        n_burn: int,
        thin: int,
        tally: Tally,
        record: Record,
    ) -> int:
        """Do some sweeps of all chains; see :meth:`disaggregate.sampler.dense.whole.WholeData.advance`."""
        n_chains, n_rungs, _ = state.position.shape
        log_ratios = np.zeros((n_chains, n_rungs - 1, 2))
        kept = 0
        for _ in range(n_sweeps):
            dense_sweep(self.target, metric, state, tally, log_ratios, rngs)
            after_burn = int(state.sweep[0]) - n_burn
            if after_burn > 0 and after_burn % thin == 0:
                self._record(state, record, log_ratios, kept)
                kept += 1
        return kept

    def _record(self, state: State, record: Record, log_ratios: np.ndarray, kept: int) -> None:
        components = self.target.components
        scores = scores_at(components, state.position[:, 0])
        n_weights, n_scales = components.n_weights, len(components.priors)
        record.weights[kept] = scores.weights
        record.scales[kept] = np.exp(state.position[:, 0, n_weights : n_weights + n_scales])
        record.log_ratios[kept] = log_ratios
        if record.label_sums.shape[1]:
            columns = np.ascontiguousarray(scores.weights[:, : components.n_columns])
            self.target.likelihood.add_expected(
                columns, scores.group, scores.error, record.label_sums, record.share_tallies
            )


def gradient_of(partition: Partition, group: np.ndarray, query: Query) -> LikelihoodGradient:
    """Log likelihood of the reports of one partition, and its gradient."""
    from disaggregate.sampler.compiled.dense import replica_gradients

    n_replicas = len(query.error)
    total = LikelihoodGradient(
        np.zeros(n_replicas), np.zeros_like(query.weights), np.zeros_like(group), np.zeros(n_replicas)
    )
    for tile, columns, individual in _tiles(partition, query):
        by_row = np.empty_like(individual)
        own = np.ascontiguousarray(group[:, tile.groups])
        log_likelihood, by_group, by_error = np.empty(n_replicas), np.empty_like(own), np.empty(n_replicas)
        replica_gradients(
            tile.reports, query.rungs, individual, own, query.error, log_likelihood, by_row, by_group, by_error
        )
        total.log_likelihood[:] += log_likelihood
        total.columns[:] += by_row @ columns
        total.group[:, tile.groups] = by_group
        total.error[:] += by_error
    return total


def table_of(partition: Partition, group: np.ndarray, query: Query) -> np.ndarray:
    """Log likelihood of each replica under the evidence of each rung."""
    from disaggregate.sampler.compiled.dense import replica_table

    total = np.zeros((len(query.error), len(partition.recipe.powers)))
    for tile, _, individual in _tiles(partition, query):
        total += replica_table(tile.reports, individual, np.ascontiguousarray(group[:, tile.groups]), query.error)
    return total


def information_in(partition: Partition, group: np.ndarray, query: Query) -> list[Information]:
    """Find the expected curvature of one partition's log likelihood at each replica."""
    size, n_groups = query.weights.shape[1], group.shape[1]
    totals = [
        Information(np.zeros((size, size)), np.zeros((size, n_groups)), np.zeros(n_groups)) for _ in query.rungs
    ]
    for tile, columns, individual in _tiles(partition, query):
        for index, (total, rung) in enumerate(zip(totals, query.rungs, strict=True)):
            own = np.ascontiguousarray(group[index, tile.groups])
            found = information_of(tile.reports, int(rung), columns.T, individual[index], own, query.error[index])
            total.columns[:] += found.columns
            total.cross[:, tile.groups] = found.cross
            total.group[tile.groups] = found.group
    return totals


def expected_in(partition: Partition, group: np.ndarray, query: Query) -> tuple[np.ndarray, np.ndarray]:
    """Find the expected labels and shares of one partition at each replica."""
    from disaggregate.sampler.compiled.dense import replica_expectations

    n_replicas = len(query.error)
    labels, tallies = np.zeros((n_replicas, partition.n_rows)), []
    for tile, _, individual in _tiles(partition, query):
        own = np.zeros((n_replicas, individual.shape[1]))
        shares = np.zeros((n_replicas, int(tile.reports.tally_starts[-1])))
        of_groups = np.ascontiguousarray(group[:, tile.groups])
        replica_expectations(tile.reports, individual, of_groups, query.error, own, shares)
        labels[:, tile.rows] = own
        tallies.append(shares)
    return labels, np.hstack(tallies)


def _tiles(partition: Partition, query: Query) -> Iterator[tuple[Tile, np.ndarray, np.ndarray]]:
    """Go through the tiles; yield each with its columns and u of every replica, on one thread of BLAS."""
    with one_blas_thread_here(), np.errstate(over="ignore", invalid="ignore"):
        for tile, columns in partition.columns():
            yield tile, columns, query.weights @ columns.T


def _sum(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0].copy()
    with np.errstate(over="ignore", invalid="ignore"):  # from too far away nothing is a number, and is not taken
        for part in parts[1:]:
            total += part
    return total
