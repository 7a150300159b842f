"""Replica exchange: neighbours on the ladder swap states, with labels and scores summed out."""

from __future__ import annotations

import math

import numpy as np

from disaggregate.model.counts import log_evidence_given_fitted
from disaggregate.sampler.evidence import (
    WHOLE_GROUP,
    EvidenceArrays,
    EvidenceLadder,
    group_evidence,
    group_rows_of,
    rung_of,
)


def swap_order(
    ladder: EvidenceLadder,
    fitted: np.ndarray,
    scores: np.ndarray,
    swapped: np.ndarray,
    log_ratios: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Propose swaps between neighbours, even and odd pairs in turn, as many rounds as there are rungs.

    One table of likelihoods, of every replica under every rung's evidence, serves all rounds, because a swap
    moves replicas without changing them.

    Parameters
    ----------
    ladder : EvidenceLadder
        Evidence at each rung.
    fitted, scores : ndarray of shape (n_rungs, n_rows)
        f and latent scores of the replica at each rung.
    swapped : ndarray of shape (n_rungs - 1,)
        The acceptance probability of each pair is added.
    log_ratios : ndarray of shape (n_rungs - 1, 2)
        Filled, for each pair, with the log likelihood ratio of the colder to the hotter rung: at the
        hotter replica, and at the colder one.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of int, shape (n_rungs,)
        Which replica now stands on each rung.
    """
    return swap_replicas(likelihood_table(ladder, fitted, scores), swapped, log_ratios, rng)


def swap_replicas(
    table: np.ndarray, swapped: np.ndarray, log_ratios: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Propose the swaps of :func:`swap_order`, given the likelihood of every replica under every rung."""
    n_rungs = len(table)
    for rung in range(n_rungs - 1):
        log_ratios[rung, 0] = table[rung + 1, rung] - table[rung + 1, rung + 1]
        log_ratios[rung, 1] = table[rung, rung] - table[rung, rung + 1]
        swapped[rung] += math.exp(min(log_ratios[rung, 0] - log_ratios[rung, 1], 0.0))
    order = np.arange(n_rungs)
    for turn in range(n_rungs):
        for rung in range(turn % 2, n_rungs - 1, 2):
            cold, hot = order[rung], order[rung + 1]
            stays = table[cold, rung] + table[hot, rung + 1]
            if -rng.standard_exponential() < table[hot, rung] + table[cold, rung + 1] - stays:
                order[rung], order[rung + 1] = hot, cold
    return order


def likelihood_table(ladder: EvidenceLadder, fitted: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Log likelihood of each replica, in rows, under the evidence of each rung, in columns.

    Labels and scores are summed out but in large groups, where the present labels count.
    """
    rungs = [rung_of(ladder, rung) for rung in range(len(fitted))]
    return np.array(
        [[_log_likelihood(evidence, f, s) for evidence in rungs] for f, s in zip(fitted, scores, strict=True)]
    )


def _log_likelihood(evidence: EvidenceArrays, fitted: np.ndarray, scores: np.ndarray) -> float:
    total = 0.0
    for group in range(len(evidence.offsets) - 1):
        rows = group_rows_of(evidence, group)
        log_likelihood = group_evidence(evidence, group)
        if rows.stop - rows.start <= WHOLE_GROUP:
            total += log_evidence_given_fitted(fitted[rows], evidence.units[rows], log_likelihood)
        else:
            total += float(log_likelihood[evidence.units[rows] @ (scores[rows] > 0.0)])
    return total
