"""The density that chains draw from, for any back end of the likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from disaggregate.model.components import Components, Scores, energy_and_force, scores_at
from disaggregate.sampler.dense.metric import Information, posterior_curvature


class LikelihoodGradient(NamedTuple):
    """Log likelihood of some replicas, shape (n_replicas,), and its gradient.

    The gradient is in the columns' weights, shape (n_replicas, n_columns), in the centres of the groups' offsets,
    shape (n_replicas, n_groups), in z, in the log scale of the offsets, in that of the reports' noise, and in how
    alike people of one cell are, shape (n_replicas,).
    """

    log_likelihood: np.ndarray
    columns: np.ndarray
    group: np.ndarray
    error: np.ndarray
    scale: np.ndarray
    noise: np.ndarray | float = 0.0
    correlation: np.ndarray | float = 0.0


class Query(NamedTuple):
    """Where some replicas are.

    Attributes
    ----------
    weights : ndarray of shape (n_replicas, n_columns)
        Weights of the columns.
    group : ndarray of shape (n_replicas, n_groups)
        Centres of the groups' offsets.
    deviation : ndarray of shape (n_replicas,)
        Deviation of the offsets around them; 0 without intercepts.
    error : ndarray of shape (n_replicas,)
        z.
    noise : ndarray of shape (n_replicas,) or None
        Logarithm of 1 / chi, where it is learned how exact reports are; else it says nothing.
    correlation : ndarray of shape (n_replicas,) or None
        How alike people of one cell are; None or 0 for no more than their features say.
    """

    weights: np.ndarray
    group: np.ndarray
    deviation: np.ndarray
    error: np.ndarray
    noise: np.ndarray | None = None
    correlation: np.ndarray | None = None


class Likelihood(Protocol):
    """The likelihood of the reports, with intercepts integrated out: all data at once, or in partitions."""

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        """Log likelihood of each replica under its rung's evidence, and its gradient."""

    def table(self, query: Query) -> np.ndarray:
        """Log likelihood of each replica under each rung's evidence, shape (n_replicas, n_rungs)."""

    def information(self, query: Query, rungs: np.ndarray) -> list[Information]:
        """Find the expected curvature at each replica."""

    def add_expected(
        self, query: Query, noise: np.ndarray, label_sums: np.ndarray, share_tallies: np.ndarray
    ) -> np.ndarray:
        """Draw and return the groups' offsets of each replica; add the expected labels and shares."""


@dataclass(frozen=True)
class Target:
    """Posterior densities on all rungs.

    Attributes
    ----------
    components : Components
        What weights mean, and their priors.
    likelihood : Likelihood
        Of the reports.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence.
    """

    components: Components
    likelihood: Likelihood
    powers: np.ndarray

    def query(self, position: np.ndarray) -> Query:
        """Compute what the likelihood depends on at positions of shape (n_positions, n_coordinates)."""
        return _query(self.components, scores_at(self.components, position))

    def evaluate(self, position: np.ndarray, rungs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Energy and force at some positions, each on its own rung."""
        scores = scores_at(self.components, position)
        found = self.likelihood.gradient(_query(self.components, scores), rungs)
        return energy_and_force(self.components, position, scores, *found)

    def table(self, position: np.ndarray) -> np.ndarray:
        """Log likelihood of each position under each rung's evidence."""
        return self.likelihood.table(self.query(position))

    def curvature(self, position: np.ndarray, rungs: np.ndarray) -> np.ndarray:
        """Find the expected curvature at some positions, each on its own rung."""
        return posterior_curvature(self.components, position, self.information(position, rungs))

    def information(self, position: np.ndarray, rungs: np.ndarray) -> list[Information]:
        """Find the expected curvature of the likelihood alone, in weights, centres of offsets, and z."""
        return self.likelihood.information(self.query(position), rungs)


def _query(components: Components, scores: Scores) -> Query:
    columns = np.ascontiguousarray(scores.weights[:, : components.n_columns])
    return Query(columns, scores.group, scores.deviation, scores.error, scores.noise, scores.correlation)
