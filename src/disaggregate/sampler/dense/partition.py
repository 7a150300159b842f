"""A partition: the columns and the reports of some groups, in tiles that fit a core's own cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, cast

import numpy as np

from disaggregate.basis import Basis
from disaggregate.basis.centers import memory
from disaggregate.model.reports import Reports, run_of_groups, with_powers

Storage = Literal["float64", "float32", "recomputed"]

# Rows of a partition, about; and how many partitions there are at least, if they have so many rows: no core is to
# wait for another that has more of them.
PARTITION_ROWS = 50_000
FEWEST_PARTITIONS, LEAST_ROWS = 12, 4_000

# Partitions at most, about: of very large data they are larger, as every partition is a task at every step and a
# cluster's scheduler takes its time for each.
MOST_PARTITIONS = 400

# Rows of a tile, about: with a few hundred columns both products with it find it in the cache.
TILE_ROWS = 1024

# Share of this machine's memory that columns may take before they are rather worked out again each time.
_SHARE_OF_MEMORY = 0.5


def storage_for(wanted: str, n_rows: int, n_columns: int) -> Storage:
    """Settle how columns are stored: "auto" is in double precision if that fits into memory, else not at all."""
    if wanted != "auto":
        return cast(Storage, wanted)
    fits = 8 * n_rows * n_columns <= _SHARE_OF_MEMORY * memory()
    return "float64" if fits else "recomputed"


class PartitionSource(Protocol):
    """The rows of a partition, sorted by group, and what their groups report; read when they are needed."""

    @property
    def index(self) -> int:
        """Which partition it is."""

    def features(self) -> np.ndarray:
        """Return the features, one row per individual."""

    def reports(self) -> Reports:
        """Return what the groups report."""


@dataclass(frozen=True)
class ArraySource:
    """Rows that are there already.

    Attributes
    ----------
    index : int
        Which partition it is.
    X : ndarray of shape (n_rows, n_features)
        Features.
    group_reports : Reports
        What the groups report.
    """

    index: int
    X: np.ndarray
    group_reports: Reports

    def features(self) -> np.ndarray:
        """Return the features."""
        return self.X

    def reports(self) -> Reports:
        """Return what the groups report."""
        return self.group_reports


@dataclass(frozen=True)
class Recipe:
    """How rows become a partition.

    Attributes
    ----------
    basis : Basis
        Kernels on their centres.
    to_kernels : ndarray of shape (n_columns, n_kernels)
        Turns weights of the columns into weights of the kernels, and so kernels into columns.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence.
    storage : {"float64", "float32", "recomputed"}
        How columns are stored, or that they are worked out anew each time they are needed. The first and the last
        give the same draws.
    """

    basis: Basis
    to_kernels: np.ndarray
    powers: np.ndarray
    storage: Storage = "float64"


class Tile(NamedTuple):
    """Some groups of a partition, and their rows."""

    rows: slice
    groups: slice
    reports: Reports


@dataclass(frozen=True)
class Partition:
    """Columns and reports of some groups; nothing in it changes.

    Attributes
    ----------
    index : int
        Which partition it is.
    recipe : Recipe
        How it was made.
    tiles : tuple of Tile
        Its rows and groups, tile by tile.
    stored : ndarray of shape (n_rows, n_columns), or (n_rows, n_features) where columns are recomputed
        What columns come from.
    """

    index: int
    recipe: Recipe
    tiles: tuple[Tile, ...]
    stored: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.stored)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.tiles[-1].groups.stop

    @cached_property
    def largest_tile(self) -> int:
        """Number of rows of the largest tile."""
        return max(tile.rows.stop - tile.rows.start for tile in self.tiles)

    def columns(self) -> Iterator[tuple[Tile, np.ndarray]]:
        """Go through the tiles; yield each with its columns, of shape (n_rows, n_columns), in double precision.

        They last until the next tile is requested: columns of single precision are all widened in one place, as
        memory that is new costs more than the work that is done in it.
        """
        if self.recipe.storage == "float32":
            wide = np.empty((self.largest_tile, self.stored.shape[1]))
        for tile in self.tiles:
            part = self.stored[tile.rows]
            if self.recipe.storage == "recomputed":
                part = tile_columns(part, self.recipe)
            elif self.recipe.storage == "float32":
                wide[: len(part)] = part
                part = wide[: len(part)]
            yield tile, part


def make_partition(rows: PartitionSource, recipe: Recipe) -> Partition:
    """Work out the columns tile by tile, so that they are the same as when they are recomputed later."""
    reports, X = rows.reports(), rows.features()
    tiles = tuple(tiles_of(reports, recipe.powers))
    stored = X
    if recipe.storage != "recomputed":
        stored = np.empty((len(X), len(recipe.to_kernels)), dtype=recipe.storage)
        for tile in tiles:
            stored[tile.rows] = tile_columns(X[tile.rows], recipe)
    return Partition(rows.index, recipe, tiles, stored)


def tiles_of(reports: Reports, powers: np.ndarray) -> Iterator[Tile]:
    """Cut a partition into tiles."""
    for first, last in runs_of_groups(reports.offsets, TILE_ROWS):
        rows = slice(int(reports.offsets[first]), int(reports.offsets[last]))
        yield Tile(rows, slice(first, last), with_powers(run_of_groups(reports, first, last), powers))


def tile_columns(X: np.ndarray, recipe: Recipe) -> np.ndarray:
    """Columns of the individual component at some rows, shape (n_rows, n_columns)."""
    return recipe.basis.columns(X).T @ recipe.to_kernels.T


def partition_groups(offsets: np.ndarray) -> list[tuple[int, int]]:
    """Cut groups into partitions; see :func:`runs_of_groups`."""
    n_rows = int(offsets[-1])
    of_few = max(-(-n_rows // FEWEST_PARTITIONS), LEAST_ROWS)
    return runs_of_groups(offsets, max(min(PARTITION_ROWS, of_few), n_rows // MOST_PARTITIONS))


def runs_of_groups(offsets: np.ndarray, n_rows: int) -> list[tuple[int, int]]:
    """Cut groups into runs of at most so many rows; a larger group is a run by itself.

    The cut depends on the sizes of the groups alone, so that it is the same wherever the runs are worked on.

    Parameters
    ----------
    offsets : ndarray of shape (n_groups + 1,)
        Where each group starts.
    n_rows : int
        Rows of a run at most.

    Returns
    -------
    list of tuple
        First group of each run, and the one after its last.
    """
    runs, first, n_groups = [], 0, len(offsets) - 1
    while first < n_groups:
        last = int(np.searchsorted(offsets, offsets[first] + n_rows, side="right")) - 1
        last = max(last, first + 1)
        runs.append((first, last))
        first = last
    return runs
