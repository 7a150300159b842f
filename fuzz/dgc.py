"""Breaks the reader of checkpoints: ``python -m fuzz.dgc --runs 100000``.

An input is a series of forgeries of a good checkpoint: of its bytes, with checksums that are mended, or of what it
holds. What is not refused is resumed for a few sweeps, so that compiled code sees it: a reader that lets too much
through ends the process. Some go through a whole fit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from fuzz.choices import Choices
from fuzz.dgz import forged
from fuzz.resuming import KINDS, StoppedFit
from fuzz.running import Target, in_memory, main
from fuzz.trees import forged_tree

_WHOLE_EVERY = 64


def make_target() -> Target:
    """Return what takes bytes, forges a checkpoint by them and resumes it."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-dgc-", dir=in_memory()))
    fits = [StoppedFit(kind, folder / str(number), in_folder=False) for number, kind in enumerate(KINDS)]

    def target(data: bytes) -> Callable[[], str]:
        choices = Choices(data)
        fit = choices.one_of(fits)
        if choices.flip():
            return partial(fit.resume, forged_tree(fit.tree, choices))
        fit.checkpoint.write_bytes(forged([fit.saved], choices))
        return fit.resume_whole if choices.below(_WHOLE_EVERY) == _WHOLE_EVERY - 1 else fit.resume

    return target


if __name__ == "__main__":
    main("checkpoints", make_target, ["disaggregate.saving", "disaggregate.fitting"])
