"""The likelihood of reports on several outcomes with the groups' intercepts integrated out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from disaggregate.model.outcome_places import (
    MOST_RISE,
    Expansion,
    Modes,
    Nodes,
    find_modes,
    log_weights_of,
    nodes_around,
    rule_of,
)
from disaggregate.model.outcome_reports import OutcomeReports


def _quiet() -> np.errstate:
    """Let trajectories diverge without warnings: a state without finite energy is rejected."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Integrated(NamedTuple):
    """Log likelihood of each group's report, and the gradient of their sum.

    Attributes
    ----------
    log_likelihood : ndarray of shape (n_groups,)
        With intercepts integrated out.
    by_score : ndarray of shape (n_contrasts, n_rows)
        Gradient in the individual component of the scores.
    by_center : ndarray of shape (n_contrasts, n_groups)
        Gradient in the centres of the offsets.
    by_scale : float
        Gradient in the log scale of the place component.
    spread : ndarray of shape (n_groups, n_contrasts, n_contrasts)
        Average products of the offsets given the reports, less their centres.
    """

    log_likelihood: np.ndarray
    by_score: np.ndarray
    by_center: np.ndarray
    by_scale: float
    spread: np.ndarray

    def draw(self, center: np.ndarray, deviation: float, noise: np.ndarray) -> np.ndarray:
        """Draw offsets given the reports; they are normal, with the mean and the covariance of their density.

        Parameters
        ----------
        center, noise : ndarray of shape (n_contrasts, n_groups)
            Centres of the offsets, and standard normal noise.
        deviation : float
            Of the offsets around them.
        """
        away = deviation**2 * self.by_center.T
        root = np.linalg.cholesky(self.spread - away[:, :, None] * away[:, None, :])
        return center + (away + np.einsum("gab,bg->ga", root, noise)).T


def integrated(
    reports: OutcomeReports,
    contrasts: np.ndarray,
    individual: np.ndarray,
    center: np.ndarray,
    deviation: float,
) -> Integrated:
    """Log likelihood of the reports, intercepts integrated out, and its gradient, compiled.

    Parameters
    ----------
    reports, contrasts, individual, center, deviation
        As for :class:`OutcomePlaces`.
    """
    from disaggregate.sampler.compiled.outcome_places import integrated_gradients

    d, n_groups = center.shape
    rule = rule_of(d)
    value, by_scale = np.empty((2, n_groups))
    by_score, by_center, spread = np.empty_like(individual), np.empty((n_groups, d)), np.empty((n_groups, d, d))
    integrated_gradients(
        reports,
        contrasts,
        np.ascontiguousarray(individual),
        np.ascontiguousarray(center.T),
        deviation,
        rule.nodes,
        log_weights_of(rule, deviation),
        value,
        by_score,
        by_center,
        by_scale,
        spread,
    )
    return Integrated(value, by_score, np.ascontiguousarray(by_center.T), float(by_scale.sum()), spread)


class OutcomePlaces:
    """Offsets of all groups given the individual component of scores, in NumPy; its gradient is the plain twin.

    Parameters
    ----------
    reports : OutcomeReports
        What the groups report.
    contrasts : ndarray of shape (n_contrasts, n_outcomes)
        As of :func:`disaggregate.model.outcomes.contrasts`.
    individual : ndarray of shape (n_contrasts, n_rows)
        Individual component of the scores.
    center : ndarray of shape (n_contrasts, n_groups)
        Centres of the offsets.
    deviation : float
        Of the offsets around them.
    """

    def __init__(
        self,
        reports: OutcomeReports,
        contrasts: np.ndarray,
        individual: np.ndarray,
        center: np.ndarray,
        deviation: float,
    ) -> None:
        self.reports, self._contrasts, self.individual = reports, contrasts, individual
        self.center, self.deviation = np.ascontiguousarray(center.T), deviation
        self._sizes = np.diff(reports.offsets)
        with _quiet():
            self.modes: Modes = find_modes(self._expand, self.center, deviation, reports.is_large)

    @property
    def mode_scores(self) -> np.ndarray:
        """Scores of all rows at the most probable offsets, shape (n_contrasts, n_rows)."""
        return self._scores(self.modes.offsets)

    def _scores(self, offsets: np.ndarray) -> np.ndarray:
        return self.individual + np.repeat(offsets.T, self._sizes, axis=1)

    def _expand(self, offsets: np.ndarray, wanted: np.ndarray) -> Expansion:
        from disaggregate.sampler.compiled.outcomes import offset_slopes

        n_groups, d = offsets.shape
        expansion = Expansion(np.zeros(n_groups), np.zeros((n_groups, d)), np.zeros((n_groups, d, d)))
        offset_slopes(self.reports, self._contrasts, self._scores(offsets), wanted, *expansion)
        return expansion

    def _nodes(self) -> Nodes:
        return nodes_around(self.modes, self.center, self.deviation)

    def _node_scores(self, nodes: Nodes) -> np.ndarray:
        """Scores of all rows at each node, shape (n_nodes, n_contrasts, n_rows)."""
        return self.individual + np.repeat(np.swapaxes(nodes.offsets, 1, 2), self._sizes, axis=2)

    def gradient(self) -> Integrated:
        """Log likelihood of the reports, intercepts integrated out, and its gradient."""
        with _quiet():
            return self._gradient()

    def _gradient(self) -> Integrated:
        from disaggregate.sampler.compiled.outcomes import replica_gradients

        nodes = self._nodes()
        scores = self._node_scores(nodes)
        by_group, by_node = np.empty(nodes.log_weight.shape), np.empty_like(scores)
        replica_gradients(self.reports, self._contrasts, scores, by_group, by_node)
        chance = np.exp(np.minimum(nodes.log_weight + by_group - self.modes.value, MOST_RISE))
        total = chance.sum(axis=0)
        chance /= total
        away = (nodes.offsets - self.center) / self.deviation
        spread = np.einsum("ng,nga,ngb->gab", chance, away, away)
        return Integrated(
            self.modes.value + np.log(total),
            np.einsum("ni,nai->ai", np.repeat(chance, self._sizes, axis=1), by_node),
            np.einsum("ng,nga->ag", chance, away) / self.deviation,
            0.5 * float(np.sum(np.trace(spread, axis1=1, axis2=2) - len(self._contrasts))),
            self.deviation**2 * spread,
        )
