"""The context of groups in blocks: averages are worked out where the rows are, and put beside them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from disaggregate.execute.held import Held
from disaggregate.groups import GroupedData
from disaggregate.groups.context import Context, usable_scale
from disaggregate.sampler.blocks.block import Rows
from disaggregate.sampler.blocks.data import BlockData
from disaggregate.sampler.evidence import EvidenceArrays


class _Totals(NamedTuple):
    """Features summed: over each group's units, and over rows, with their squares."""

    by_group: np.ndarray
    in_all: np.ndarray
    squares: float


def context_of_blocks(rows: Held, data: GroupedData) -> Context:
    """Average the features of each group in one reading of the blocks; see ``groups.context.context_of``.

    Parameters
    ----------
    rows : Held
        The rows of each block.
    data : GroupedData
        Their groups, in the same order.
    """
    parts: list[_Totals] = rows.ask(_totals_of, None)
    n_rows = len(data.order)
    origin = np.sum([part.in_all for part in parts], axis=0) / n_rows
    variance = sum(part.squares for part in parts) / n_rows - float(origin @ origin)
    means = np.vstack([part.by_group for part in parts]) / data.totals[:, None]
    return Context(data.names, means, origin, usable_scale(np.sqrt(max(variance, 0.0))))


def _totals_of(rows: Rows, own: None) -> _Totals:
    X, evidence = rows.features(), rows.evidence()
    by_group = np.add.reduceat(X * evidence.units[:, None], evidence.offsets[:-1], axis=0)
    return _Totals(by_group, X.sum(axis=0), float(np.sum(X * X)))


@dataclass(frozen=True)
class RowsInCompany:
    """Rows of a block, with the context of their groups after their features; see ``sampler.blocks.block.Rows``.

    Attributes
    ----------
    rows : Rows
        Without it.
    company : ndarray of shape (n_groups, n_features)
        The context of each group of the block.
    """

    rows: Rows
    company: np.ndarray

    @property
    def place(self) -> int:
        """Which block it is."""
        return self.rows.place

    def features(self) -> np.ndarray:
        """Return features and context."""
        sizes = np.diff(self.rows.evidence().offsets)
        return np.hstack([self.rows.features(), np.repeat(self.company, sizes, axis=0)])

    def evidence(self) -> EvidenceArrays:
        """Return what the groups report."""
        return self.rows.evidence()


@dataclass(frozen=True)
class EverybodyInCompany:
    """All rows by their numbers, with the context of their groups after their features.

    Attributes
    ----------
    everybody : sequence
        Without it; ``everybody[rows]`` are the features of some.
    company : ndarray of shape (n_groups, n_features)
        The context of each group.
    group : ndarray of shape (n_rows,)
        The place of each row's group.
    """

    everybody: Any
    company: np.ndarray
    group: np.ndarray

    def __len__(self) -> int:
        return len(self.group)

    def __getitem__(self, rows: Any) -> np.ndarray:
        return np.hstack([self.everybody[rows], self.company[self.group[rows]]])


def in_company(
    context: Context, blocks: BlockData, everybody: Any, data: GroupedData
) -> tuple[BlockData, EverybodyInCompany]:
    """Put the context of their group beside all rows, in blocks and by number.

    Parameters
    ----------
    context : Context
        Of the groups of ``data``, in the same order.
    blocks : BlockData
        Blocks of whole groups.
    everybody : sequence
        The same rows by their numbers.
    data : GroupedData
        Groups.
    """
    company = context.relative_means
    n_groups = [len(rows.evidence().offsets) - 1 for rows in blocks.rows]
    parts: Sequence[np.ndarray] = np.split(company, np.cumsum(n_groups)[:-1])
    rows = [RowsInCompany(*pair) for pair in zip(blocks.rows, parts, strict=True)]
    group = data.in_caller_order(np.repeat(np.arange(len(data.names)), data.sizes))
    return replace(blocks, rows=rows), EverybodyInCompany(everybody, company, group)
