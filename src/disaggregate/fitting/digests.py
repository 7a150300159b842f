"""Digests of columns: those computed for a resumed fit must equal those that its chains began with."""

from __future__ import annotations

import hashlib

import numpy as np


def digest(array: np.ndarray) -> str:
    """Return a digest of the bytes of an array."""
    return hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()


def require_same_digest(array: np.ndarray, before: str) -> None:
    """Refuse to go on from a checkpoint with an array of another digest.

    Parameters
    ----------
    array : ndarray
        As it came out now.
    before : str
        Its digest when the checkpoint was written.
    """
    if digest(array) != before:
        raise ValueError(
            "the checkpoint cannot be resumed here: the kernel's columns have other digits than before. "
            "Resume on the same kind of machine, with the same libraries."
        )
