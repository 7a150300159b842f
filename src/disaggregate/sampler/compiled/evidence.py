"""Likelihood of the groups' reports for many draws of the scores at once."""

import math

import numpy as np

from disaggregate.model.reports import NOTHING
from disaggregate.sampler.compiled.arrays import greater
from disaggregate.sampler.compiled.compile import kernel
from disaggregate.sampler.compiled.places import evaluate_nodes, lay_nodes, make_room, make_shares


@kernel
def evidence_by_draw(reports, individual, group, deviation):
    """Log likelihood of each group's report in each draw, one per row, with z = 0.

    ``deviation`` is that of each group's offset around its centre ``group``, 0 where the offset is known.
    """
    n_draws, n_groups = group.shape
    result = np.zeros((n_draws, n_groups))
    rung = np.int64(0)
    for draw in range(n_draws):
        widest = 0.0
        for j in range(n_groups):
            widest = greater(widest, deviation[draw, j])
        shares = make_shares(reports, individual[draw], group[draw], widest, 0.0)
        room = make_room(reports, shares)
        for j in range(n_groups):
            has_counts = reports.law[j] != NOTHING
            if not (has_counts or reports.is_sample[j] > 0):
                continue
            own = deviation[draw, j]
            n = lay_nodes(reports, rung, j, individual[draw], group[draw, j], own, shares, has_counts, room)
            best, mass = evaluate_nodes(
                reports, rung, j, individual[draw], group[draw, j], own, shares, has_counts, n, room
            )
            result[draw, j] = best + math.log(mass)
    return result
