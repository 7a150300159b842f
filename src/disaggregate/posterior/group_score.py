"""Posterior predictive likelihood of the reports of groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from disaggregate.groups.grouped import GroupedData
from disaggregate.model.powers import log_maxima
from disaggregate.model.report_noise import reports_with_confidence
from disaggregate.model.reports import Reports, run_of_groups
from disaggregate.posterior.individuals import Individuals, as_individuals
from disaggregate.posterior.mixture import Posterior
from disaggregate.posterior.thinning import thinned_to
from disaggregate.sampler.dense.kernels import log_likelihood_by_draw

VALUES_AT_ONCE = 2**23

# The square of a score must stay a number; beyond this no evidence could show a difference.
_FARTHEST = 1e150


def group_log_scores(posterior: Posterior, rows: Any, data: GroupedData) -> np.ndarray:
    """Log posterior predictive likelihood of each group's report.

    The logarithm of the average over draws of p(report given f), with the labels summed out: a proper score that
    needs no labels. A confidence of reports that was learned is taken at its median.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    rows : Individuals or ndarray of shape (n_rows, n_features)
        Individuals in the caller's order.
    data : GroupedData
        Groups and evidence.
    """
    reports, maxima = reports_with_confidence(data, posterior.log_confidence), log_maxima(data)
    scores = np.empty(len(data.names))
    individuals = as_individuals(rows)
    if reports.is_sample.any():  # compositions are pooled over all rows, so all of them are needed at once
        posterior = thinned_to(posterior, VALUES_AT_ONCE // len(individuals))
        runs = [(0, len(data.names))]
    else:
        runs = runs_of_groups(data.sizes, max(1, VALUES_AT_ONCE // posterior.delta2.size))
    for first, last in runs:
        own = individuals[data.order[data.offsets[first] : data.offsets[last]]]
        by_draw = group_log_likelihood(run_of_groups(reports, first, last), posterior, own)
        scores[first:last] = logsumexp(by_draw, axis=0) - np.log(len(by_draw)) + maxima[first:last]
    return scores


def group_log_likelihood(reports: Reports, posterior: Posterior, rows: Individuals) -> np.ndarray:
    """Log likelihood of each group's report in each draw, labels summed out, shape (n_draws, n_groups).

    The intercept that the members of a new group share is integrated out.

    Parameters
    ----------
    reports : Reports
        What the groups report.
    posterior : Posterior
        Draws.
    rows : Individuals
        Members of the groups, group after group.
    """
    first, sizes = reports.offsets[:-1], np.diff(reports.offsets)
    of_groups = rows[first]
    group_index = of_groups.known_groups
    deviation = posterior.place_deviation(group_index)
    scores = posterior.scores(rows) * np.repeat(np.sqrt(1.0 + deviation**2), sizes, axis=1)
    scores = np.clip(scores, -_FARTHEST, _FARTHEST)
    offsets = np.zeros_like(deviation)
    if reports.is_sample.any():
        offsets = posterior.offsets(of_groups.context, group_index)
    individual = scores - np.repeat(offsets, sizes, axis=1)
    individual, offsets, deviation = map(np.ascontiguousarray, (individual, offsets, deviation))
    return log_likelihood_by_draw(reports, individual, offsets, deviation, posterior.correlation)


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
