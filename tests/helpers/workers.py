"""What workers of local clusters need, loaded once: the server that forks them imports this module."""

from __future__ import annotations

from importlib import import_module

import tests.conftest  # noqa: F401  # for the folder of the cache
from disaggregate.sampler.prepare import prepare, prepare_dense

prepare_dense()
prepare_dense(in_partitions=True)
prepare("sparse")


def serve(name: str, arguments: list[str]) -> None:
    """Be what ``dask scheduler`` or ``dask worker`` starts."""
    import_module(f"distributed.cli.dask_{name}").main(arguments)
