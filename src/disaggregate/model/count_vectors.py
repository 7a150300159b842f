"""The counts of several outcomes in a group: their exact law, a programme over a lattice, and the normal one.

A lattice holds the count vectors that lead to a vector that the evidence allows: a layer for each number of people
counted so far, from none to all. Evidence that leaves little choice, such as exact tallies, makes a small lattice.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from disaggregate.groups.outcome_evidence import OutcomeEvidence

# Vectors of a lattice up to which the exact law is used: tallies of three outcomes among some 95 people.
MOST_NODES = 2**15

# Count vectors that a report makes less likely than the best one by this exponent are left out.
_NEGLIGIBLE = 50.0


class Lattice(NamedTuple):
    """Count vectors that lead to allowed ones.

    Attributes
    ----------
    starts : ndarray of int, shape (n_people + 2,)
        Where each layer starts among the nodes, and where the last one ends.
    successor : ndarray of int, shape (n_nodes, n_categories)
        The node after one more person of each category, -1 where that leads nowhere.
    final : ndarray of int, shape (n_final, n_categories)
        The count vectors of the last layer.
    """

    starts: np.ndarray
    successor: np.ndarray
    final: np.ndarray


def allowed_counts(report: OutcomeEvidence, n: int, has_rest: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """Find the count vectors that a report allows, and their log likelihoods; None where they are too many.

    Parameters
    ----------
    report : OutcomeEvidence
        What is known.
    n : int
        Number of people.
    has_rest : bool
        Whether there are outcomes that the report does not name.
    """
    first = report.likely(n, has_rest)[None].astype(np.int64)
    found, values = first, report.log_likelihood(first)
    if not np.isfinite(values[0]):
        raise ValueError(f"{report!r} cannot hold in a group of {n}: no counts agree with it.")
    if np.prod(first + 1.0) > MOST_NODES:  # all that leads to this one alone
        return None
    width = first.shape[1]
    moves = np.array([np.eye(width, dtype=np.int64)[k] - np.eye(width, dtype=np.int64)[j]
                      for j in range(width) for k in range(width) if j != k]).reshape(-1, width)  # fmt: skip
    seen, frontier = {found[0].tobytes()}, found
    while len(frontier):
        tried = (frontier[:, None] + moves).reshape(-1, width)
        tried = np.unique(tried[(tried >= 0).all(axis=1)], axis=0)
        tried = tried[[row.tobytes() not in seen for row in tried]] if len(tried) else tried
        if not len(tried):
            break
        seen.update(row.tobytes() for row in tried)
        log_likelihood = report.log_likelihood(tried)
        is_likely = log_likelihood > max(values.max(), log_likelihood.max()) - _NEGLIGIBLE
        frontier = tried[is_likely]
        found, values = np.concatenate([found, frontier]), np.concatenate([values, log_likelihood[is_likely]])
        if len(found) > MOST_NODES:
            return None
    order = np.lexsort(found.T[::-1])
    order = order[values[order] > values.max() - _NEGLIGIBLE]
    return found[order], values[order]


def make_lattice(final: np.ndarray) -> Lattice | None:
    """Find what leads to some count vectors of the same sum; None where that is too much.

    Parameters
    ----------
    final : ndarray of int, shape (n_final, n_categories)
        In lexicographic order.
    """
    n, most = int(final[0].sum()), final.max(axis=0)
    if np.prod(most + 1.0) > 2.0**62:
        return None
    stride = np.concatenate([np.cumprod((most + 1)[::-1])[::-1][1:], [1]]).astype(np.int64)
    layers, vectors, n_nodes = [final @ stride], final, len(final)
    for _ in range(n):
        before = (vectors[:, None] - np.eye(final.shape[1], dtype=np.int64)).reshape(-1, final.shape[1])
        before = before[(before >= 0).all(axis=1)]
        codes, index = np.unique(before @ stride, return_index=True)
        vectors = before[index]
        layers.append(codes)
        n_nodes += len(codes)
        if n_nodes > MOST_NODES:
            return None
    layers = layers[::-1]
    starts = np.concatenate([[0], np.cumsum([len(codes) for codes in layers])])
    successor = np.full((n_nodes, final.shape[1]), -1, dtype=np.int64)
    for i in range(n):
        codes, after = layers[i], layers[i + 1]
        # A full category would carry into the next one.
        digits = codes[:, None] // stride % (most + 1)
        for k in range(final.shape[1]):
            wanted = codes + stride[k]
            position = np.minimum(np.searchsorted(after, wanted), len(after) - 1)
            is_there = (after[position] == wanted) & (digits[:, k] < most[k])
            successor[starts[i] : starts[i + 1], k] = np.where(is_there, starts[i + 1] + position, -1)
    return Lattice(starts, successor, final)


class Expected(NamedTuple):
    """Log likelihood of a group's report, and what is expected given it.

    Attributes
    ----------
    log_likelihood : float
        With labels summed out.
    labels : ndarray of shape (n_people, n_categories)
        Probability of each category for each person, given the report; its difference from the probability without
        it is the gradient in the logits.
    final : ndarray of shape (n_final,)
        Probability of each allowed count vector given the report; empty under the normal law.
    """

    log_likelihood: float
    labels: np.ndarray
    final: np.ndarray


def exact_expected(p: np.ndarray, lattice: Lattice, log_likelihood: np.ndarray) -> Expected:
    """Sum labels out along the lattice, backward for the likelihood and forward for what is expected.

    Parameters
    ----------
    p : ndarray of shape (n_people, n_categories)
        Probability of each category for each person.
    lattice : Lattice
        Count vectors.
    log_likelihood : ndarray of shape (n_final,)
        Evidence for each allowed count vector.
    """
    n, starts = len(p), lattice.starts
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    ahead = np.full(starts[-1] + 1, -np.inf)  # the last entry is for missing successors
    ahead[starts[n] : starts[n + 1]] = log_likelihood
    for i in range(n - 1, -1, -1):
        layer = slice(starts[i], starts[i + 1])
        ahead[layer] = np.logaddexp.reduce(log_p[i] + ahead[lattice.successor[layer]], axis=1)
    visited, labels = np.zeros(starts[-1] + 1), np.zeros_like(p)
    visited[0] = 1.0
    for i in range(n):
        layer = slice(starts[i], starts[i + 1])
        after = lattice.successor[layer]
        step = visited[layer, None] * np.exp(log_p[i] + ahead[after] - ahead[layer, None])
        labels[i] = step.sum(axis=0)
        np.add.at(visited, after, step)
    return Expected(float(ahead[0]), labels, visited[starts[n] : starts[n + 1]])


def normal_expected(
    p: np.ndarray, people: np.ndarray, counts: np.ndarray, noise: np.ndarray, log_unit: float
) -> Expected:
    """Approximate the counts by a normal distribution, and the report by one around them.

    The last category is left out, as the others determine it.

    Parameters
    ----------
    p : ndarray of shape (n_rows, n_categories)
        Probability of each category for each row.
    people : ndarray of shape (n_rows,)
        How many people each row stands for.
    counts, noise, log_unit
        As in :class:`disaggregate.groups.outcome_evidence.NormalReport`.
    """
    free = p.shape[1] - 1
    own, weighed = p[:, :free], p[:, :free] * people[:, None]
    covariance = np.diag(weighed.sum(axis=0)) - weighed.T @ own + noise[:free, :free]
    inverse = np.linalg.inv(covariance)
    scaled_error = inverse @ (counts[:free] - weighed.sum(axis=0))
    curve = 0.5 * (np.outer(scaled_error, scaled_error) - inverse)
    value = -0.5 * float((counts[:free] - weighed.sum(axis=0)) @ scaled_error) - 0.5 * free * math.log(
        2.0 * math.pi
    )
    value += free * log_unit - 0.5 * float(np.linalg.slogdet(covariance)[1])
    by_p = np.zeros_like(p)
    by_p[:, :free] = scaled_error + np.diag(curve) - 2.0 * own @ curve
    gradient = people[:, None] * p * (by_p - np.sum(p * by_p, axis=1, keepdims=True))
    return Expected(value, people[:, None] * p + gradient, np.empty(0))
