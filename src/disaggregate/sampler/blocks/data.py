"""Grouped data cut into blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disaggregate.groups import GroupedData
from disaggregate.sampler.blocks import cut
from disaggregate.sampler.blocks.block import Rows, RowsInMemory
from disaggregate.sampler.evidence import log_peaks, make_evidence


@dataclass(frozen=True)
class BlockData:
    """What the driver knows of the blocks.

    Attributes
    ----------
    rows : sequence of Rows
        The rows of each block.
    sizes : tuple of int
        How many these are.
    starts : ndarray of shape (n_groups + 1,)
        Where each group's counts start.
    peak : float
        Log likelihood that was taken out of the evidence to scale it.
    has_large_groups : bool
        Whether labels are part of a chain's state.
    """

    rows: Sequence[Rows]
    sizes: tuple[int, ...]
    starts: np.ndarray
    peak: float
    has_large_groups: bool


def is_for_blocks(n_rows: int) -> bool:
    """Tell whether data have more rows than one block."""
    return n_rows > cut.BLOCK_ROWS


def cut_into_blocks(X: np.ndarray, data: GroupedData) -> BlockData:
    """Cut individuals, sorted by group, into blocks; the features are not copied."""
    evidence = make_evidence(data)
    runs = cut.blocks_of_groups(evidence.offsets)
    rows: list[Rows] = [
        RowsInMemory(
            place,
            X[evidence.offsets[first] : evidence.offsets[last]],
            cut.evidence_of_run(evidence, first, last),
        )
        for place, (first, last) in enumerate(runs)
    ]
    return block_data(rows, [int(evidence.offsets[last] - evidence.offsets[first]) for first, last in runs], data)


def block_data(rows: Sequence[Rows], sizes: Sequence[int], data: GroupedData) -> BlockData:
    """Put blocks together whose groups are those of ``data``, in the same order."""
    return BlockData(
        rows=rows,
        sizes=tuple(sizes),
        starts=data.starts,
        peak=float(log_peaks(data).sum()),
        has_large_groups=bool((data.sizes > cut.IN_ONE_PIECE).any()),
    )
