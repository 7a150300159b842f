"""Context: the average features of the members of each group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from disaggregate.groups.grouped import GroupedData


@dataclass(frozen=True)
class Context:
    """Average features of groups, by which people of the same features may differ between groups.

    Attributes
    ----------
    names : tuple
        Group ids.
    means : ndarray of shape (n_groups, n_features)
        Average features of each group's members.
    origin : ndarray of shape (n_features,)
        Average features of all.
    scale : float
        Root mean square distance of people from it. In its units a weight of the context counts, a priori, as
        much as that of a person's own feature under a linear kernel.
    """

    names: tuple[Hashable, ...]
    means: np.ndarray
    origin: np.ndarray
    scale: float

    @property
    def relative_means(self) -> np.ndarray:
        """Each group as it stands beside its people: how far from all of them it is, in units of the scale."""
        return (self.means - self.origin) / self.scale

    @property
    def norm(self) -> float:
        """Root mean square length of the groups' context, or 1 where there is none to divide by."""
        return usable_scale(float(np.sqrt(np.mean(np.sum(self.relative_means**2, axis=1)))))

    def beside(self, X: np.ndarray, groups: Sequence[Hashable] | None) -> np.ndarray:
        """Return the features with the context of each row after them, shape (n_rows, 2 * n_features).

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Individuals.
        groups : sequence of hashable, optional
            The group of each; None for people whose group is not known, or for all of them. They are taken for
            members of a group that is like all people together.
        """
        return np.hstack([X, self.of_rows(X, groups)])

    def of_rows(self, X: np.ndarray, groups: Sequence[Hashable] | None) -> np.ndarray:
        """Return the context of each row, shape (n_rows, n_features); arguments as for :meth:`beside`."""
        if groups is None:
            return np.zeros_like(X)
        known = self.with_groups([(X, groups)])
        index = indices_of(groups, known.names)
        return np.where(index[:, None] >= 0, known.relative_means[index], 0.0)

    def with_groups(self, pieces: Iterable[tuple[np.ndarray, Sequence[Hashable]]]) -> Context:
        """Return a context that knows more groups, each by the average of its rows in all pieces.

        Parameters
        ----------
        pieces : iterable of pairs
            Individuals, shape (n_rows, n_features), and the group of each, None where it is not known.
        """
        old = set(self.names)
        sums: dict[Hashable, np.ndarray] = {}
        counts: Counter[Hashable] = Counter()
        for X, groups in pieces:
            for group, rows in _rows_by_group(groups).items():
                if group is not None and group not in old:
                    sums[group] = sums.get(group, 0.0) + X[rows].sum(axis=0)
                    counts[group] += len(rows)
        means = [total / counts[group] for group, total in sums.items()]
        return replace(self, names=(*self.names, *sums), means=np.vstack([self.means, *means]))


def indices_of(groups: Sequence[Hashable], names: Sequence[Hashable]) -> np.ndarray:
    """Find each row's group among some names; -1 where it is not."""
    index = {name: number for number, name in enumerate(names)}
    return np.array([index.get(group, -1) for group in groups], dtype=np.int64)


def _rows_by_group(groups: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    rows: dict[Hashable, list[int]] = defaultdict(list)
    for row, group in enumerate(groups):
        rows[group].append(row)
    return rows


def context_of(X: np.ndarray, data: GroupedData) -> Context:
    """Average the features of each group, by survey weight where there is one; a cell counts as its people do.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Training individuals, in the caller's order.
    data : GroupedData
        Their groups.
    """
    rows, weight = X[data.order], data.row_weights[:, None]
    means = np.add.reduceat(rows * weight, data.offsets[:-1], axis=0)
    means /= np.add.reduceat(weight, data.offsets[:-1], axis=0)
    people = None if data.counts is None else data.in_caller_order(data.counts)
    origin = np.average(X, axis=0, weights=people)
    spread = np.sqrt(np.average(np.sum((X - origin) ** 2, axis=1), weights=people))
    return Context(data.names, means, origin, usable_scale(spread))


def usable_scale(spread: float) -> float:
    """Return the spread of people, or 1 where there is none to divide by."""
    return float(spread) if np.finfo(np.float64).tiny < spread < np.inf else 1.0
