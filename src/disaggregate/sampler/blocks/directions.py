"""The principal directions of a kernel from products that are added up block by block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.basis import Basis
from disaggregate.basis.directions import independent_features, leading_directions
from disaggregate.execute.held import Held
from disaggregate.execute.one_blas_thread import one_blas_thread_here
from disaggregate.sampler.blocks.block import Rows
from disaggregate.sampler.blocks.cut import TILE_ROWS


class BlockDirections(NamedTuple):
    """``spread`` and ``to_kernels`` of :class:`disaggregate.basis.Directions`; the columns are in the blocks."""

    spread: np.ndarray
    to_kernels: np.ndarray


def block_directions(rows: Held, basis: Basis) -> BlockDirections:
    """Find the directions of a kernel; see :func:`disaggregate.basis.principal_directions`."""
    half = independent_features(basis)
    parts = rows.ask(products_of, None, basis, half)
    gram = parts[0]
    for part in parts[1:]:
        gram += part
    spread, _, to_kernels = leading_directions(half, gram)
    return BlockDirections(spread, np.ascontiguousarray(to_kernels))


def products_of(rows: Rows, own: None, basis: Basis, half: np.ndarray) -> np.ndarray:
    """Products of the features over the rows of one block, some rows at a time."""
    X = rows.features()
    gram = np.zeros((half.shape[1], half.shape[1]))
    with one_blas_thread_here():
        for start in range(0, len(X), TILE_ROWS):
            features = half.T @ basis.columns(X[start : start + TILE_ROWS])
            gram += features @ features.T
    return gram
