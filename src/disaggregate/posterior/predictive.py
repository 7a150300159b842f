"""Posterior predictive check: each report against its prediction from the other groups.

A fit follows the reports that it was given, so that looking at them again would flatter it. Here each group is
judged as if it had been left out: draws that explain its own report well count the less (importance sampling).
Where reports lie farther from what is then expected than chance allows, groups differ in more than their members'
features, or reports are less exact than was claimed.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtr

from disaggregate.groups import GroupedData
from disaggregate.groups.evidence import Evidence
from disaggregate.model.powers import log_maxima
from disaggregate.model.report_noise import TAIL, make_report_noise, reports_with_confidence
from disaggregate.model.reports import Reports, make_reports, run_of_groups
from disaggregate.posterior.group_score import runs_of_groups
from disaggregate.posterior.individuals import as_individuals
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.thinning import thinned_to
from disaggregate.sampler.dense.kernels import log_likelihood_by_draw

# Draws that are looked at: beyond this many, evenly spaced ones. And reports that are simulated for comparison.
_MOST_DRAWS = 1000
_REPLICATES = 1000
VALUES_AT_ONCE = 2**23

# Members of the groups that are checked, about: beyond this many, evenly spaced groups.
_MOST_ROWS = 5_000

# Below this probability of larger discrepancies the reports are called surprising.
SURPRISING = 0.01

# Above this probability of the tail a report is said not to fit. And draws from which it is found.
MISFIT = 0.5
_MOST_MISFIT_DRAWS = 200

# Beyond this confidence a report is taken for exact.
_EXACT = 1e9

# A group of which f is certain would make any error infinite.
_LEAST_VARIANCE = 1e-6

# A report that is impossible in a draw counts as this improbable, so that weights stay numbers.
_FARTHEST = 1e150


@dataclass(frozen=True)
class PredictiveCheck:
    """Comparison of the reports with their predictions from the other groups.

    Attributes
    ----------
    p_value : float
        Probability of reports at least as far from their predictions, over all groups that report a share; NaN
        if none does. A small value means that the model explains the reports badly.
    groups : tuple
        The groups that were checked.
    surprise : ndarray of shape (n_groups,)
        Distance of each group's report above its prediction from the others, in standard deviations.
    misfits : dict
        Groups whose report does not fit, where the confidence of reports is learned, with the probability of that.
        They are not among ``groups``.
    """

    p_value: float
    groups: tuple
    surprise: np.ndarray
    misfits: dict = field(default_factory=dict)

    @property
    def is_surprising(self) -> bool:
        """Whether the model explains the reports badly."""
        return self.p_value < SURPRISING


def check_reports(posterior: Posterior, X: Any, data: GroupedData) -> PredictiveCheck:
    """Compare each report with what the other groups lead to expect.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    X : Individuals or ndarray of shape (n_rows, n_features)
        Training individuals in the caller's order.
    data : GroupedData
        Groups and evidence.
    """
    misfits = find_misfits(posterior, X, data)
    groups = _checked_groups(data)
    groups = groups[[data.names[group] not in misfits for group in groups]]
    # An intercept of its own explains any group's report, and a cell is no single person.
    if not len(groups) or posterior.has_places or data.counts is not None:
        return PredictiveCheck(np.nan, (), np.empty(0), misfits)
    rng = np.random.default_rng(len(X))  # the result is the same every time
    surprise, replicated = np.empty(len(groups)), np.empty((_REPLICATES, len(groups)))
    index = 0
    reports = reports_with_confidence(data, posterior.log_confidence)
    thinned = thinned_to(posterior, _MOST_DRAWS)
    for first, last in runs_of_groups(data.sizes[groups], max(1, VALUES_AT_ONCE // thinned.delta2.size)):
        rows = np.concatenate([np.arange(*data.offsets[group : group + 2]) for group in groups[first:last]])
        scores = thinned.scores(X[data.order[rows]])
        for group in groups[first:last]:
            own, scores = np.split(scores, [data.sizes[group]], axis=1)
            confidence = _confidence_in(data.evidence[group], posterior)
            surprise[index], replicated[:, index] = _compare(own, data, reports, int(group), confidence, rng)
            index += 1
    farther = (replicated**2).sum(axis=1) >= (surprise**2).sum()
    names = tuple(data.names[group] for group in groups)
    return PredictiveCheck(float(farther.mean()), names, surprise, misfits)


def find_misfits(posterior: Posterior, X: Any, data: GroupedData) -> dict[Hashable, float]:
    """Find the groups whose report is probably of the tail: it has nothing to do with their members.

    Given the scores, the probability of that is TAIL over the density of the report, which mixes the tail in.

    Parameters
    ----------
    posterior, X, data
        As for :func:`check_reports`.

    Returns
    -------
    dict
        From the name of a group to that probability, the most probable first; empty where none was learned.
    """
    learned = np.array([known.learns_confidence for known in data.evidence])
    if posterior.log_confidence is None or not learned.any():
        return {}
    log_density = group_log_likelihoods(posterior, X, data)[:, learned]
    probability = np.exp(np.log(TAIL) - log_density).mean(axis=0)
    names = [name for name, is_learned in zip(data.names, learned, strict=True) if is_learned]
    found = {name: min(float(p), 1.0) for name, p in zip(names, probability, strict=True) if p > MISFIT}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def group_log_likelihoods(posterior: Posterior, X: Any, data: GroupedData) -> np.ndarray:
    """Log likelihood of each group's report in some draws with their confidence, shape (n_draws, n_groups).

    Parameters
    ----------
    posterior, X, data
        As for :func:`check_reports`.
    """
    thinned = thinned_to(posterior, min(_MOST_MISFIT_DRAWS, max(VALUES_AT_ONCE // len(data.order), 1)))
    reports, noise, maxima = make_reports(data), make_report_noise(data), log_maxima(data)
    scales = thinned.scales["report"].ravel()
    group_index = np.arange(len(data.names)) if posterior.has_places else np.full(len(data.names), -1)
    offsets = thinned.offsets(None, group_index)  # of places alone: the context is in the scores
    individual = thinned.scores(as_individuals(X)[data.order]) - np.repeat(offsets, data.sizes, axis=1)
    individual = np.clip(individual, -_FARTHEST, _FARTHEST)
    rung, known = np.zeros(1, dtype=np.int64), np.zeros((1, len(data.names)))
    correlation = thinned.correlation
    rows = []
    for draw, scale in enumerate(scales):
        own = reports if noise is None else noise.tables(reports, rung, np.log([scale]))
        parts = np.ascontiguousarray(individual[draw : draw + 1]), np.ascontiguousarray(offsets[draw : draw + 1])
        alike = None if correlation is None else correlation[draw : draw + 1]
        rows.append(log_likelihood_by_draw(own, *parts, known, alike)[0] + maxima)
    return np.array(rows)


def _confidence_in(known: Evidence, posterior: Posterior) -> float:
    """Confidence of a report: as it says, or as was learned."""
    if known.learns_confidence and posterior.log_confidence is not None:
        return math.exp(posterior.log_confidence)
    return getattr(known, "confidence", np.inf)


def _checked_groups(data: GroupedData) -> np.ndarray:
    """Find the groups whose reports can be simulated; evenly spaced ones if they have very many members."""
    can_be_simulated = np.array([known.can_be_simulated for known in data.evidence])
    judged = np.flatnonzero(can_be_simulated & (data.sizes <= _MOST_ROWS))
    n_rows = int(data.sizes[judged].sum())
    n_groups = max(1, round(len(judged) * min(1.0, _MOST_ROWS / max(n_rows, 1))))
    return judged[np.unique(np.linspace(0, len(judged) - 1, n_groups).astype(int))] if len(judged) else judged


def _compare(
    scores: np.ndarray,
    data: GroupedData,
    reports: Reports,
    group: int,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[float, np.ndarray]:
    """Say how far a report lies from what the other groups lead to expect, and how far simulated ones would."""
    rows = slice(*data.offsets[group : group + 2])
    share_of = data.units[rows] / data.units[rows].sum()
    p = ndtr(scores)
    mean, variance = p @ share_of, (p * (1.0 - p)) @ share_of**2
    weight = _weights_without(scores, reports, group)
    expected = weight @ mean
    noise = expected * (1.0 - expected) / (confidence + 3.0)
    spread = np.sqrt(max(weight @ (variance + (mean - expected) ** 2) + noise, _LEAST_VARIANCE))
    drawn = p[rng.choice(len(p), _REPLICATES, p=weight)]
    made_up = _with_noise((rng.random(drawn.shape) < drawn) @ share_of, confidence, rng)
    reported = data.evidence[group].reported_share(len(share_of))
    return float((reported - expected) / spread), (made_up - expected) / spread


def _weights_without(scores: np.ndarray, reports: Reports, group: int) -> np.ndarray:
    """Weights that take the draws to those of a fit without the group, cut where few would count for all."""
    own = run_of_groups(reports, group, group + 1)
    clipped = np.ascontiguousarray(np.clip(scores, -_FARTHEST, _FARTHEST))
    no_offset = np.zeros((len(scores), 1))
    log_likelihood = np.maximum(log_likelihood_by_draw(own, clipped, no_offset, no_offset)[:, 0], -_FARTHEST)
    weight = np.exp(log_likelihood.min() - log_likelihood)
    weight = np.minimum(weight, weight.mean() * np.sqrt(len(weight)))
    return weight / weight.sum()


def _with_noise(share: np.ndarray, confidence: float, rng: np.random.Generator) -> np.ndarray:
    """Report the shares with the Beta noise of section 3.1; exact ones as they are."""
    if confidence >= _EXACT:
        return share
    return rng.beta(confidence * share + 1.0, confidence * (1.0 - share).clip(0.0) + 1.0)
