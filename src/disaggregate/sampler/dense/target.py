"""The density that chains draw from, whoever computes its likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from disaggregate.model.components import Components, energy_and_force, scores_at
from disaggregate.sampler.dense.metric import Curvature, Information, posterior_curvature


class LikelihoodGradient(NamedTuple):
    """Log likelihood of some replicas, shape (n_replicas,), and its gradient.

    The gradient is in the columns' weights, shape (n_replicas, n_columns), in the groups' offsets, shape
    (n_replicas, n_groups), and in z, shape (n_replicas,).
    """

    log_likelihood: np.ndarray
    columns: np.ndarray
    group: np.ndarray
    error: np.ndarray


class Likelihood(Protocol):
    """The likelihood of the reports at some weights, offsets and errors z: all data at once, or in partitions."""

    def gradient(
        self, weights: np.ndarray, group: np.ndarray, error: np.ndarray, rungs: np.ndarray
    ) -> LikelihoodGradient:
        """Log likelihood of each replica under its rung's evidence, and its gradient."""

    def table(self, weights: np.ndarray, group: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Log likelihood of each replica under each rung's evidence, shape (n_replicas, n_rungs)."""

    def information(
        self, weights: np.ndarray, group: np.ndarray, error: np.ndarray, rungs: np.ndarray
    ) -> list[Information]:
        """Find the expected curvature at each replica."""

    def add_expected(
        self,
        weights: np.ndarray,
        group: np.ndarray,
        error: np.ndarray,
        label_sums: np.ndarray,
        share_tallies: np.ndarray,
    ) -> None:
        """Add the expected labels and shares of each replica, given the reports themselves."""


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

    def evaluate(self, position: np.ndarray, rungs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Energy and force at positions of shape (n_positions, n_coordinates), each on its own rung."""
        scores = scores_at(self.components, position)
        columns = np.ascontiguousarray(scores.weights[:, : self.components.n_columns])
        found = self.likelihood.gradient(columns, scores.group, scores.error, rungs)
        return energy_and_force(self.components, position, scores, *found)

    def table(self, position: np.ndarray) -> np.ndarray:
        """Log likelihood of each position under each rung's evidence."""
        scores = scores_at(self.components, position)
        columns = np.ascontiguousarray(scores.weights[:, : self.components.n_columns])
        return self.likelihood.table(columns, scores.group, scores.error)

    def curvature(self, position: np.ndarray, rungs: np.ndarray) -> Curvature:
        """Find the expected curvature at some positions, each on its own rung."""
        return posterior_curvature(self.components, position, self.information(position, rungs))

    def information(self, position: np.ndarray, rungs: np.ndarray) -> list[Information]:
        """Find the expected curvature of the likelihood alone, in weights, offsets and z."""
        scores = scores_at(self.components, position)
        columns = np.ascontiguousarray(scores.weights[:, : self.components.n_columns])
        return self.likelihood.information(columns, scores.group, scores.error, rungs)
