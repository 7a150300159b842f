"""Sums over all blocks, added in the order of the blocks, so that they round alike wherever blocks are."""

from __future__ import annotations

import numpy as np

from disaggregate.execute.held import Held
from disaggregate.sampler.blocks.answers import (
    Draw,
    Labels,
    Pull,
    Question,
    gradient_of,
    information_of,
    labels_of,
    likely_labels_of,
    table_of,
)

Bits = list[np.ndarray | None]


class Sums:
    """All blocks together.

    Parameters
    ----------
    blocks : Held
        The blocks.
    n_columns : int
        Number of columns.
    """

    def __init__(self, blocks: Held, n_columns: int) -> None:
        self._blocks, self.n_columns = blocks, n_columns

    def gradient(self, question: Question, bits: Bits, *, is_exact: bool) -> Pull:
        """Log likelihood and its gradient; see :func:`gradient_of`."""
        return _added(self._blocks.ask(gradient_of, bits, question, is_exact))

    def approach(self, question: Question) -> Pull:
        """Nearly the same without labels, for finding a start."""
        return _added(self._blocks.ask(gradient_of, None, question, False, False))

    def labels(self, question: Question, bits: Bits, draw: Draw) -> list[Labels]:
        """Draw new labels in each block."""
        return self._blocks.ask(labels_of, bits, question, draw)

    def likely_labels(self, question: Question) -> Bits:
        """Labels to start from, in the blocks where they matter."""
        return self._blocks.ask(likely_labels_of, None, question)

    def table(self, question: Question, bits: Bits) -> np.ndarray:
        """Likelihoods under all rungs; see :func:`table_of`."""
        return _sum(self._blocks.ask(table_of, bits, question))

    def information(self, question: Question, *, hold: bool) -> np.ndarray:
        """Find the expected curvature; see :func:`information_of`."""
        return _sum(self._blocks.ask(information_of, None, question, hold))


def pull_of(answers: list[Labels]) -> Pull | None:
    """Add up what came with new labels."""
    pulls = [answer.pull for answer in answers if answer.pull is not None]
    return _added(pulls) if pulls else None


def _sum(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0].copy()
    with np.errstate(over="ignore", invalid="ignore"):  # from too far away nothing is a number, and is not taken
        for part in parts[1:]:
            total += part
    return total


def _added(parts: list[Pull]) -> Pull:
    return Pull(_sum([part.log_likelihood for part in parts]), _sum([part.pull for part in parts]))
