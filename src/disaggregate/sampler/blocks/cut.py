"""Where the data are cut: blocks of whole groups, and in them tiles that fit a core's own cache."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from disaggregate.sampler.evidence import EvidenceArrays, EvidenceLadder

Arrays = TypeVar("Arrays", EvidenceArrays, EvidenceLadder)

# Rows of a block, about. Data of more rows than this are worked on in blocks.
BLOCK_ROWS = 50_000

# Blocks at most, about: of very large data they are larger, as every block is a task at every step and a cluster's
# scheduler takes its time for each.
MOST_BLOCKS = 400

# Labels are summed out of groups up to this size; of larger ones they are part of the state, as blocks of them are
# then worth the loss.
IN_ONE_PIECE = 1000

# Rows of a tile, about: with a few hundred columns both products with it find it in the cache.
TILE_ROWS = 1024


def blocks_of_groups(offsets: np.ndarray) -> list[tuple[int, int]]:
    """Cut groups into blocks; see :func:`runs_of_groups`."""
    return runs_of_groups(offsets, max(BLOCK_ROWS, int(offsets[-1]) // MOST_BLOCKS))


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


def evidence_of_run(evidence: Arrays, first: int, last: int) -> Arrays:
    """Take the evidence of some groups that follow each other."""
    row, end = evidence.offsets[first], evidence.offsets[last]
    count, stop = evidence.starts[first], evidence.starts[last]
    return type(evidence)(
        offsets=evidence.offsets[first : last + 1] - row,
        units=evidence.units[row:end],
        starts=evidence.starts[first : last + 1] - count,
        piece=evidence.piece,
        log_likelihood=evidence.log_likelihood[..., count:stop],
        likelihood=evidence.likelihood[..., count:stop],
        fewest=evidence.fewest[..., first:last],
        most=evidence.most[..., first:last],
    )
