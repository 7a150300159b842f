"""Compiled twin of ``sampler.exchange``."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import dot, fill, lesser
from disaggregate.sampler.compiled.compile import part
from disaggregate.sampler.compiled.counts import SAFE_TOTAL, count_law, log_evidence_by_logarithms
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
def swap_order(ladder, fitted, scores, swapped, stones, rng):
    n_rungs = fitted.shape[0]
    table = np.empty((n_rungs, n_rungs))
    fill_likelihood_table(ladder, fitted, scores, table)
    order = np.empty(n_rungs, dtype=np.int64)
    for rung in range(n_rungs):
        order[rung] = rung
        if rung + 1 < n_rungs:
            stones[rung, 0] = table[rung + 1, rung] - table[rung + 1, rung + 1]
            stones[rung, 1] = table[rung, rung] - table[rung, rung + 1]
            swapped[rung] += math.exp(lesser(stones[rung, 0] - stones[rung, 1], 0.0))
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
def fill_likelihood_table(ladder, fitted, scores, table):
    """Find the law of a group's count once for each replica, and weigh it by each rung's evidence."""
    n_rungs = fitted.shape[0]
    law = np.empty(ladder.piece[1] + 1)
    longer = np.empty(ladder.piece[1] + 1)
    for replica in range(n_rungs):
        fill(table[replica], 0.0)
    for group in range(ladder.offsets.size - 1):
        start = ladder.offsets[group]
        stop = ladder.offsets[group + 1]
        first = ladder.starts[group]
        last = ladder.starts[group + 1]
        for replica in range(n_rungs):
            count = 0
            if stop - start <= WHOLE_GROUP:
                found = count_law(fitted[replica, start:stop], ladder.units[start:stop], law, longer)
            else:
                found = law
                for row in range(start, stop):
                    count += ladder.units[row] * (scores[replica, row] > 0.0)
            for rung in range(n_rungs):
                evidence = ladder.log_likelihood[rung, first:last]
                if stop - start > WHOLE_GROUP:
                    table[replica, rung] += evidence[count]
                    continue
                total = dot(found, ladder.likelihood[rung, first:last])
                if total >= SAFE_TOTAL:
                    table[replica, rung] += math.log(total)
                else:
                    table[replica, rung] += log_evidence_by_logarithms(
                        fitted[replica, start:stop], ladder.units[start:stop], evidence,
                        np.empty(last - first), np.empty(last - first),
                    )  # fmt: skip
