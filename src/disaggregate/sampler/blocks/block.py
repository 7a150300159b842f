"""A block: the columns and the evidence of some groups, in tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, cast

import numpy as np

from disaggregate.basis import Basis
from disaggregate.basis.centers import memory
from disaggregate.sampler.blocks import cut
from disaggregate.sampler.blocks.cut import evidence_of_run, runs_of_groups
from disaggregate.sampler.evidence import EvidenceArrays, EvidenceLadder, make_ladder

Storage = Literal["float64", "float32", "recomputed"]


# Share of this machine's memory that columns may take before they are rather worked out again each time.
_SHARE_OF_MEMORY = 0.5


def storage_for(wanted: str, n_rows: int, n_columns: int) -> Storage:
    """Settle how columns are kept: "auto" is in double precision if that fits into memory, else not at all."""
    if wanted != "auto":
        return cast(Storage, wanted)
    fits = 8 * n_rows * n_columns <= _SHARE_OF_MEMORY * memory()
    return "float64" if fits else "recomputed"


class Rows(Protocol):
    """The individuals of a block, sorted by group, and what their groups report; read when they are needed."""

    @property
    def place(self) -> int:
        """Which block it is."""

    def features(self) -> np.ndarray:
        """Return the features, a row an individual."""

    def evidence(self) -> EvidenceArrays:
        """Return what the groups report."""


@dataclass(frozen=True)
class RowsInMemory:
    """Rows that are there already.

    Attributes
    ----------
    place : int
        Which block it is.
    X : ndarray of shape (n_rows, n_features)
        Features.
    reports : EvidenceArrays
        What the groups report.
    """

    place: int
    X: np.ndarray
    reports: EvidenceArrays

    def features(self) -> np.ndarray:
        """Return the features."""
        return self.X

    def evidence(self) -> EvidenceArrays:
        """Return what the groups report."""
        return self.reports


@dataclass(frozen=True)
class Recipe:
    """How rows become a block.

    Attributes
    ----------
    basis : Basis
        Kernels on their centres.
    to_kernels : ndarray of shape (n_columns, n_kernels)
        Turns weights of the columns into weights of the kernels, and so kernels into columns.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence.
    storage : {"float64", "float32", "recomputed"}
        How columns are kept, or that they are worked out anew each time they are needed. The first and the last
        give the same draws.
    in_one_piece : int
        Labels of groups of more members are part of the state.
    """

    basis: Basis
    to_kernels: np.ndarray
    powers: np.ndarray
    storage: Storage = "float64"
    in_one_piece: int = cut.IN_ONE_PIECE


class Tile(NamedTuple):
    """Some groups of a block, and their rows."""

    rows: slice
    groups: slice
    ladder: EvidenceLadder


@dataclass(frozen=True)
class Block:
    """Columns and evidence of some groups; nothing in it changes.

    Attributes
    ----------
    place : int
        Which block it is.
    recipe : Recipe
        How it was made.
    tiles : tuple of Tile
        Its rows and groups, tile by tile.
    has_large_groups : bool
        Whether labels are part of the state.
    kept : ndarray of shape (n_rows, n_columns), or (n_rows, n_features) where columns are recomputed
        What columns come from.
    """

    place: int
    recipe: Recipe
    tiles: tuple[Tile, ...]
    has_large_groups: bool
    kept: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of individuals."""
        return len(self.kept)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.tiles[-1].groups.stop

    @cached_property
    def largest_tile(self) -> int:
        """Number of rows of the largest tile."""
        return max(tile.rows.stop - tile.rows.start for tile in self.tiles)

    @cached_property
    def n_table(self) -> int:
        """Numbers that the tables of the largest groups take.

        Room for them is made once a question and not for every tile: the allocator of Dask's workers gives such
        memory back at once, and new memory is dear.
        """
        from disaggregate.sampler.compiled.blocks import room_for_tables

        return max(room_for_tables(tile.ladder, self.recipe.in_one_piece) for tile in self.tiles)

    def columns(self) -> Iterator[tuple[Tile, np.ndarray]]:
        """Go through the tiles; yield each with its columns, of shape (n_rows, n_columns), in double precision.

        They last until the next tile is asked for: columns of single precision are all widened in one place, as
        memory that is new costs more than the work that is done in it.
        """
        if self.recipe.storage == "float32":
            wide = np.empty((self.largest_tile, self.kept.shape[1]))
        for tile in self.tiles:
            part = self.kept[tile.rows]
            if self.recipe.storage == "recomputed":
                part = tile_columns(part, self.recipe)
            elif self.recipe.storage == "float32":
                wide[: len(part)] = part
                part = wide[: len(part)]
            yield tile, part


def make_block(rows: Rows, recipe: Recipe) -> Block:
    """Work out the columns tile by tile, so that they are the same as when they are recomputed later."""
    evidence, X = rows.evidence(), rows.features()
    tiles = tuple(tiles_of(evidence, recipe.powers))
    kept = X
    if recipe.storage != "recomputed":
        kept = np.empty((len(X), len(recipe.to_kernels)), dtype=recipe.storage)
        for tile in tiles:
            kept[tile.rows] = tile_columns(X[tile.rows], recipe)
    large = bool((np.diff(evidence.offsets) > recipe.in_one_piece).any())
    return Block(rows.place, recipe, tiles, large, kept)


def tiles_of(evidence: EvidenceArrays, powers: np.ndarray) -> Iterator[Tile]:
    """Cut a block into tiles."""
    for first, last in runs_of_groups(evidence.offsets, cut.TILE_ROWS):
        rows = slice(int(evidence.offsets[first]), int(evidence.offsets[last]))
        yield Tile(rows, slice(first, last), make_ladder(evidence_of_run(evidence, first, last), powers))


def tile_columns(X: np.ndarray, recipe: Recipe) -> np.ndarray:
    """Orthonormal columns at some rows, shape (n_rows, n_columns)."""
    return recipe.basis.columns(X).T @ recipe.to_kernels.T
