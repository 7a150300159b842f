"""Where chains of replicas start: some from a quick regression, some at random."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from disaggregate.sampler.dense.model import DenseProblem, Replicas, fitted_scores
from disaggregate.sampler.dense.moves import draw_signs
from disaggregate.sampler.evidence import WHOLE_GROUP, EvidenceArrays, group_evidence, group_rows_of, rung_of
from disaggregate.sampler.model import LOG_SCALE_BOUND, Prior
from disaggregate.sampler.starts import first_up_to

_MIDDLING = (0.02, 0.98)
_ALTERNATIONS = 20
_CLOSEST = 0.999


def start_at(problem: DenseProblem, prior: Prior, guess: np.ndarray | None, rng: np.random.Generator) -> Replicas:
    """Put the replicas somewhere between a guess and the prior.

    Parameters
    ----------
    problem, prior : DenseProblem, Prior
        Data and hyper-parameters.
    guess : ndarray of shape (n_columns,) or None
        Weights in units of delta times their deviation; None starts from the prior alone.
    rng : numpy.random.Generator
        The chain's own generator.
    """
    n_columns, n_rows = problem.columns.shape
    n_rungs = len(problem.ladder.log_likelihood)
    log_scale = np.log(prior.nu / prior.mu) + 0.5 * rng.standard_normal((n_rungs, 1))
    standard = rng.standard_normal((n_rungs, n_columns))
    if guess is not None:
        closeness = np.linspace(_CLOSEST, 0.0, n_rungs)[:, None]
        standard = closeness * guess + np.sqrt(1.0 - closeness**2) * standard
    bound = LOG_SCALE_BOUND - 1.0
    replicas = Replicas(
        position=np.column_stack([standard, np.clip(log_scale, -bound, bound)]),
        fitted=np.empty((n_rungs, n_rows)),
        scores=np.empty((n_rungs, n_rows)),
        sweep=np.zeros(1, dtype=np.int64),
    )
    replicas.fitted[:] = fitted_scores(problem, replicas.position)
    for rung in range(n_rungs):
        labels = likely_labels(rung_of(problem.ladder, rung), replicas.fitted[rung])
        replicas.scores[rung] = np.where(labels, 1.0, -1.0)
        draw_signs(problem, replicas, rung, WHOLE_GROUP, rng)
    return replicas


def regression_guesses(problem: DenseProblem, prior: Prior) -> list[np.ndarray]:
    """Find good weights quickly: ridge regression of the groups' means, and then of alternating labels.

    The second guesses labels from the fit, as many positive in each group as its report makes likely, and
    regresses on those, until nothing changes.
    """
    evidence = rung_of(problem.ladder, 0)
    sizes = np.diff(evidence.offsets)
    totals = np.diff(evidence.starts) - 1
    share = np.array([np.argmax(group_evidence(evidence, group)) / n for group, n in enumerate(totals)])
    delta = np.sqrt(prior.nu / prior.mu)
    features = problem.columns * (delta * problem.deviation)[:, None]
    means = np.add.reduceat(features * evidence.units, evidence.offsets[:-1], axis=1) / totals
    by_means = _ridge(means, ndtri(np.clip(share, *_MIDDLING)), 1.0 / sizes)
    guess = by_means
    labels = likely_labels(evidence, guess @ features)
    for _ in range(_ALTERNATIONS):
        guess = _ridge(features, np.where(labels, 1.0, -1.0), np.ones(len(labels)))
        before, labels = labels, likely_labels(evidence, guess @ features)
        if np.array_equal(before, labels):
            break
    return [by_means, guess]


def _ridge(features: np.ndarray, target: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Posterior mean of weights that are N(0, I) a priori."""
    scaled = features / noise
    return np.linalg.solve(scaled @ features.T + np.eye(len(features)), scaled @ target)


def likely_labels(evidence: EvidenceArrays, fitted: np.ndarray) -> np.ndarray:
    """Give each group its likeliest count of positives, those of the highest scores."""
    labels = np.zeros(len(fitted), dtype=bool)
    for group in range(len(evidence.offsets) - 1):
        rows = group_rows_of(evidence, group)
        count = int(np.argmax(group_evidence(evidence, group)))
        labels[rows] = first_up_to(count, evidence.units[rows], np.argsort(-fitted[rows], kind="stable"))
    return labels
