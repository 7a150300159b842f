"""Normalised cuts: a graph of affinities falls into parts that are alike inside and unlike each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh


class Cut(NamedTuple):
    """The cheapest cut of a part in two: what it costs, and the members of either side."""

    cost: float
    sides: tuple[NDArray[np.int64], NDArray[np.int64]]


def normalised_cuts(affinity: NDArray[np.float64], n_parts: int) -> NDArray[np.int64]:
    """Cut a graph in two again and again, each time where it costs least (Shi & Malik, 2000).

    scikit-image's ``cut_normalized`` cuts up to a threshold instead, which does not control the number of parts,
    and its iterative eigensolver may not converge on flat or noisy pictures. Graphs of regions are small, so
    that all of their eigenvectors are cheap.

    Parameters
    ----------
    affinity : ndarray of shape (n, n)
        Symmetric weights of 0 or more between the nodes, each at full affinity with itself.
    n_parts : int
        How many parts to make; n of them if n is smaller.

    Returns
    -------
    ndarray of shape (n,)
        The part of each node, from 0.
    """
    cuts = [_cheapest_cut(affinity, np.arange(len(affinity)))]
    while len(cuts) < min(n_parts, len(affinity)):
        cheapest = cuts.pop(int(np.argmin([cut.cost for cut in cuts])))
        cuts += [_cheapest_cut(affinity, side) for side in cheapest.sides]
    part = np.zeros(len(affinity), dtype=np.int64)
    for number, cut in enumerate(cuts):
        part[np.concatenate(cut.sides)] = number
    return part


def _cheapest_cut(affinity: NDArray[np.float64], members: NDArray[np.int64]) -> Cut:
    """Order the members by the second eigenvector and try every place to cut that order."""
    if len(members) == 1:
        return Cut(np.inf, (members, members[:0]))
    weights = affinity[np.ix_(members, members)]
    order = np.argsort(_second_eigenvector(weights), kind="stable")
    ordered = weights[np.ix_(order, order)]
    reach = np.cumsum(ordered.sum(axis=1))
    inside = np.cumsum(np.cumsum(ordered, axis=0), axis=1).diagonal()
    between = (reach - inside)[:-1]
    costs = between / reach[:-1] + between / (reach[-1] - reach[:-1])
    index = int(np.argmin(costs)) + 1
    return Cut(float(costs[index - 1]), (members[order[:index]], members[order[index:]]))


def _second_eigenvector(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the generalised eigenvector (D - W) y = e D y of the second smallest e."""
    root = np.sqrt(weights.sum(axis=1))
    trivial = root / np.linalg.norm(root)
    # The first eigenvector is known: twice its outer product lifts it above all others, which end at 2.
    lifted = np.eye(len(weights)) - weights / np.outer(root, root) + 2.0 * np.outer(trivial, trivial)
    second: NDArray[np.float64] = eigh(lifted, subset_by_index=[0, 0])[1][:, 0] / root
    return second
