"""Small data in partitions: what only large data have else."""

import pytest

from disaggregate.fitting import kernels
from disaggregate.sampler.dense import partition, partitioned


def use_small_partitions(patch: pytest.MonkeyPatch, n_rows: int = 100, tile_rows: int = 30) -> None:
    """Cut data into partitions of so many rows, and these into tiles, until the patch ends."""
    for module in (partition, partitioned):
        patch.setattr(module, "PARTITION_ROWS", n_rows)
    for module in (partition, kernels):
        patch.setattr(module, "TILE_ROWS", tile_rows)
