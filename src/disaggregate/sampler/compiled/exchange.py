"""Compiled twin of ``sampler.exchange``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import fill, greater, lesser
from disaggregate.sampler.compiled.compile import part
from disaggregate.sampler.compiled.counts import count_law, log_evidence_given_law
from disaggregate.sampler.compiled.normal import chances_of
from disaggregate.sampler.evidence import WHOLE_GROUP, EvidenceArrays


@part
def rung_of(ladder, rung):
    return EvidenceArrays(
        ladder.offsets,
        ladder.units,
        ladder.starts,
        ladder.piece,
        ladder.log_likelihood[rung],
        ladder.likelihood[rung],
        ladder.fewest[rung],
        ladder.most[rung],
    )


@part
def swap_order(ladder, fitted, scores, swapped, log_ratios, rng):
    n_rungs = fitted.shape[0]
    table = np.empty((n_rungs, n_rungs))
    for replica in range(n_rungs):
        fill(table[replica], 0.0)
    add_likelihoods(ladder, scores, fitted, WHOLE_GROUP, table)
    return swap_replicas(table, swapped, log_ratios, rng)


@part
def swap_replicas(table, swapped, log_ratios, rng):
    n_rungs = table.shape[0]
    order = np.empty(n_rungs, dtype=np.int64)
    for rung in range(n_rungs):
        order[rung] = rung
        if rung + 1 < n_rungs:
            log_ratios[rung, 0] = table[rung + 1, rung] - table[rung + 1, rung + 1]
            log_ratios[rung, 1] = table[rung, rung] - table[rung, rung + 1]
            swapped[rung] += math.exp(lesser(log_ratios[rung, 0] - log_ratios[rung, 1], 0.0))
    for turn in range(n_rungs):
        for rung in range(turn % 2, n_rungs - 1, 2):
            cold = order[rung]
            hot = order[rung + 1]
            stays = table[cold, rung] + table[hot, rung + 1]
            if -rng.standard_exponential() < table[hot, rung] + table[cold, rung + 1] - stays:
                order[rung] = hot
                order[rung + 1] = cold
    return order


@part
def add_likelihoods(ladder, labels, fitted, in_one_piece, table):
    """Add the log likelihood of each replica, in rows, under each rung's evidence, in columns.

    The law of a group's count is found once for each replica and weighed by the evidence of each rung. Groups of
    more than ``in_one_piece`` members have the count of their labels, which are above zero for positive members.
    """
    n_rungs = fitted.shape[0]
    law = np.empty(widest_piece(ladder, in_one_piece))
    longer = np.empty(law.size)
    for replica in range(n_rungs):
        positive, negative, _ = chances_of(fitted[replica])
        for group in range(ladder.offsets.size - 1):
            start = ladder.offsets[group]
            stop = ladder.offsets[group + 1]
            first = ladder.starts[group]
            last = ladder.starts[group + 1]
            units = ladder.units[start:stop]
            if stop - start > in_one_piece:
                for row in range(start, stop):
                    first += ladder.units[row] * (labels[replica, row] > 0)
                for rung in range(n_rungs):
                    table[replica, rung] += ladder.log_likelihood[rung, first]
                continue
            found = count_law(positive[start:stop], negative[start:stop], units, law, longer)
            for rung in range(n_rungs):
                table[replica, rung] += log_evidence_given_law(
                    found, fitted[replica, start:stop], units, ladder.likelihood[rung, first:last],
                    ladder.log_likelihood[rung, first:last],
                )  # fmt: skip


@part
def widest_piece(evidence, in_one_piece):
    """Return how many counts the largest group in one piece has, and as many for its members at least."""
    widest = 1
    for group in range(evidence.offsets.size - 1):
        if evidence.offsets[group + 1] - evidence.offsets[group] <= in_one_piece:
            widest = greater(widest, evidence.starts[group + 1] - evidence.starts[group])
    return widest
