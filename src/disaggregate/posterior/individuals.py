"""Individuals as the posterior sees them: their features, and the group that they belong to."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Individuals:
    """Some rows; ``individuals[rows]`` are some of them.

    Attributes
    ----------
    features : ndarray of shape (n_rows, n_features), or what gives such an array for ``features[rows]``
        Features.
    context : ndarray of shape (n_rows, n_context), the same, or None
        Context of each row's group, where the fit has one.
    group_index : ndarray of int, shape (n_rows,), or None
        Index of each row's group among those of the fit, -1 for groups that were not in it; None for all of these.
    """

    features: Any
    context: Any = None
    group_index: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, rows: Any) -> Individuals:
        return Individuals(
            self.features[rows],
            None if self.context is None else self.context[rows],
            None if self.group_index is None else self.group_index[rows],
        )

    @property
    def known_groups(self) -> np.ndarray:
        """Index of each row's group among those of the fit, -1 for all others."""
        return np.full(len(self), -1) if self.group_index is None else self.group_index

    def with_context(self) -> np.ndarray:
        """Return the features with the context of each row after them."""
        if self.context is None:
            return np.hstack([self.features, np.zeros_like(self.features)])
        return np.hstack([self.features, self.context])


@dataclass(frozen=True)
class ContextByGroup:
    """The context of rows by their number, from that of their groups.

    Attributes
    ----------
    of_group : ndarray of shape (n_groups, n_context)
        Context of each group.
    group : ndarray of int, shape (n_rows,)
        Group of each row.
    """

    of_group: np.ndarray
    group: np.ndarray

    def __len__(self) -> int:
        return len(self.group)

    def __getitem__(self, rows: Any) -> np.ndarray:
        return self.of_group[self.group[rows]]


@dataclass(frozen=True)
class GroupEffects:
    """The groups that have an intercept.

    Attributes
    ----------
    names : tuple
        Group ids, in the order of the posterior's intercepts.
    """

    names: tuple[Hashable, ...]


def as_individuals(rows: Any) -> Individuals:
    """Take plain features as people of whose groups nothing is known."""
    return rows if isinstance(rows, Individuals) else Individuals(rows)
