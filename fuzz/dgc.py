"""Breaks the reader of checkpoints: ``python -m fuzz.dgc --runs 100000``.

An input is a series of forgeries of a good checkpoint, whose checksums are mended. What is not refused is resumed
for a few sweeps, so that compiled code sees it: a reader that lets too much through ends the process.
"""

from __future__ import annotations

import _thread
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fuzz.choices import Choices
from fuzz.dgz import forged
from fuzz.running import Target, main

SHORT = {"n_chains": 2, "n_draws": 200, "n_burn": 2, "n_jobs": 1, "random_state": 0, "kernel": "rbf", "gamma": 1.0}
KINDS: tuple[dict[str, Any], ...] = (
    {"n_replicas": 1},
    {"n_replicas": 3},
    {"weights": "sparse"},
    {"weights": "sparse", "n_replicas": 3},
)


def make_fit(kind: dict[str, Any]) -> Callable[..., Any]:
    """Return a small fit, to be called with what says how to resume it."""
    import numpy as np

    import disaggregate as dg

    groups = np.repeat(["a", "b", "c"], [2, 4, 3])
    X = np.random.default_rng(0).normal(size=(len(groups), 2))
    shares = {"a": 0.5, "b": 0.25, "c": 0.9}

    def fit(**how: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # six draws are too few to judge
            return dg.GroupStatsClassifier(**SHORT, **kind).fit(X, shares, groups=groups, **how)

    return fit


def seed_of(kind: dict[str, Any], folder: Path) -> bytes:
    """Return the checkpoint of a fit that was stopped half-way."""
    path = folder / f"{len(list(folder.iterdir()))}.dgc"
    with _stopped_after(5), suppress(KeyboardInterrupt):
        make_fit(kind)(checkpoint=path)
    return path.read_bytes()


def make_target() -> Target:
    """Return what takes bytes, forges a checkpoint by them and resumes it."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-dgc-"))
    seeds = [(seed_of(kind, folder), make_fit(kind)) for kind in KINDS]
    path = folder / "it.dgc"

    def target(data: bytes) -> Callable[[], str]:
        choices = Choices(data)
        seed, fit = choices.one_of(seeds)
        path.write_bytes(forged([seed], choices))

        def read() -> str:
            try:
                with _stopped_after(8):
                    fit(checkpoint=path, resume=True)
            except (ValueError, OSError):
                return "refused"
            except KeyboardInterrupt:  # it was stopped before anything was drawn
                pass
            return "resumed"

        return read

    return target


@contextmanager
def _stopped_after(n_batches: int) -> Iterator[None]:
    """Interrupt chains after so many batches in all, as a forged number of draws may have no end."""
    from disaggregate.sampler.chain import SparseChain
    from disaggregate.sampler.dense.chains import DenseChains
    from disaggregate.sampler.ladder import LadderChain

    kinds, left = (SparseChain, DenseChains, LadderChain), [n_batches]
    before = [kind.advance for kind in kinds]

    def counted(advance: Callable[[Any], None]) -> Callable[[Any], None]:
        def count(chain: Any) -> None:
            left[0] -= 1
            if left[0] >= 0:
                advance(chain)
                return
            if left[0] == -1:
                _thread.interrupt_main()
            time.sleep(0.002)

        return count

    for kind, advance in zip(kinds, before, strict=True):
        kind.advance = counted(advance)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for kind, advance in zip(kinds, before, strict=True):
            kind.advance = advance  # type: ignore[method-assign]


if __name__ == "__main__":
    main("checkpoints", make_target, ["disaggregate.saving", "disaggregate.fitting"])
