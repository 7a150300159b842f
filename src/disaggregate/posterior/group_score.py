"""How well the posterior predicts what groups report."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from disaggregate.groups.grouped import GroupedData
from disaggregate.posterior.mixture import Posterior
from disaggregate.sampler.evidence import EvidenceArrays, log_peaks, make_evidence

_VALUES_AT_ONCE = 2**23

# The square of a score must stay a number; beyond this nothing changes that any evidence could tell.
_FARTHEST = 1e150


def group_log_scores(posterior: Posterior, X: np.ndarray, data: GroupedData) -> np.ndarray:
    """Log posterior predictive likelihood of each group's evidence.

    The logarithm of the average over draws of p(evidence given f), with the labels summed out through the
    Poisson-binomial law of their count: a proper score that needs nobody's label.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    X : ndarray of shape (n_rows, n_features)
        Individuals in the caller's order.
    data : GroupedData
        Groups and evidence.
    """
    from disaggregate.sampler.compiled.evidence import evidence_by_draw

    evidence, peaks = make_evidence(data), log_peaks(data)
    n_draws = posterior.delta2.size
    scores = np.empty(len(data.names))
    for first, last in runs_of_groups(data.sizes, max(1, _VALUES_AT_ONCE // n_draws)):
        rows = slice(data.offsets[first], data.offsets[last])
        counts = slice(evidence.starts[first], evidence.starts[last])
        fitted = np.clip(posterior.scores(X[data.order[rows]]), -_FARTHEST, _FARTHEST)
        offsets = data.offsets[first : last + 1] - data.offsets[first]
        by_draw = evidence_by_draw(
            fitted,
            offsets,
            evidence.units[rows],
            evidence.starts[first : last + 1] - evidence.starts[first],
            evidence.likelihood[counts],
            evidence.log_likelihood[counts],
        )
        scores[first:last] = logsumexp(by_draw, axis=0) - np.log(n_draws) + peaks[first:last]
    return scores


def group_log_likelihood(evidence: EvidenceArrays, group: int, fitted: np.ndarray) -> np.ndarray:
    """Log likelihood of one group's evidence in each draw of its members' scores, labels summed out.

    Parameters
    ----------
    evidence : EvidenceArrays
        What all groups report.
    group : int
        Place of the group.
    fitted : ndarray of shape (n_draws, n_members)
        Scores f.
    """
    from disaggregate.sampler.compiled.evidence import evidence_by_draw

    rows = slice(*evidence.offsets[group : group + 2])
    counts = slice(*evidence.starts[group : group + 2])
    return evidence_by_draw(
        np.ascontiguousarray(np.clip(fitted, -_FARTHEST, _FARTHEST)),
        evidence.offsets[group : group + 2] - rows.start,
        evidence.units[rows],
        evidence.starts[group : group + 2] - counts.start,
        evidence.likelihood[counts],
        evidence.log_likelihood[counts],
    )[:, 0]


def runs_of_groups(sizes: np.ndarray, most_rows: int) -> list[tuple[int, int]]:
    """Cut the groups into runs of at most so many rows (or one group)."""
    runs, first, rows = [], 0, 0
    for group, n in enumerate(sizes.tolist()):
        if rows and rows + n > most_rows:
            runs.append((first, group))
            first, rows = group, 0
        rows += n
    runs.append((first, len(sizes)))
    return runs
