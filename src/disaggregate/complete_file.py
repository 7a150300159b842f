"""Files that are whole or not there: when something goes wrong, an earlier one of that name stays as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def complete_or_absent(target: Path) -> Iterator[Path]:
    """Give a hidden path beside the target to write to, which takes the target's name at the end.

    Parameters
    ----------
    target : Path
        Where the file is to be. On any failure, an interrupt among them, nothing is left of the new one.
    """
    partial = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    try:
        yield partial
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
