"""Compile what tests use, before several processes would each do so.

python -m tests.helpers.compile_first [dense] [places] [outcomes] [sparse] [published]
"""

from __future__ import annotations

import sys

import tests.conftest  # noqa: F401  # for the folder of the cache
from disaggregate.sampler.prepare import prepare, prepare_dense, prepare_outcomes


def compile_first(kind: str) -> None:
    """Fill the cache with the code of one kind of fit."""
    if kind == "dense":
        prepare_dense()
        prepare_dense(in_partitions=True)
    elif kind == "places":
        prepare_dense(has_places=True)
    elif kind == "outcomes":
        prepare_outcomes()
    else:
        prepare(kind)  # type: ignore[arg-type]


if __name__ == "__main__":
    for name in sys.argv[1:] or ["dense", "places", "outcomes", "sparse", "published"]:
        compile_first(name)
