"""Small data in partitions: what only large data have else."""

import pytest

from disaggregate.fitting import kernel_model
from disaggregate.sampler.dense import partition, partitioned


def use_small_partitions(patch: pytest.MonkeyPatch, n_rows: int = 100, tile_rows: int | None = None) -> None:
    """Cut data into partitions of so many rows until the patch ends, and these into tiles.

    Other processes know nothing of it: they cut tiles as ever, and sums over other tiles round otherwise.
    """
    for module in (partition, partitioned):
        patch.setattr(module, "PARTITION_ROWS", n_rows)
    for module in (partition, kernel_model) if tile_rows else ():
        patch.setattr(module, "TILE_ROWS", tile_rows)
