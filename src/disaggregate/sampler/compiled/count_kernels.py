"""Likelihoods of some replicas or draws where groups report counts of their own, with labels summed out.

``place_kernels`` has the same for groups with intercepts, and for samples of populations.
"""

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, greater
from disaggregate.sampler.compiled.compile import kernel
from disaggregate.sampler.compiled.count_likelihood import (
    add_count_likelihoods,
    add_group_likelihood,
    add_offsets,
    likelihood_gradient,
)
from disaggregate.sampler.compiled.expected import add_expected
from disaggregate.sampler.compiled.information import fill_pieces
from disaggregate.sampler.compiled.normal import fill_chances


@kernel
def replica_gradients(
    reports, rungs, individual, group, deviation, error, log_likelihood, by_row, by_group, by_error, by_scale,
    by_correlation,
):  # fmt: skip
    """Fill log likelihoods and gradients of some replicas; cells are alike only where groups have intercepts."""
    workspace = np.empty((4, individual.shape[1]))
    for index in range(rungs.size):
        by_error[index] = 0.0
        by_scale[index] = 0.0
        by_correlation[index] = 0.0
        log_likelihood[index] = likelihood_gradient(
            reports, rungs[index], individual[index], group[index], workspace, by_row[index], by_group[index]
        )


@kernel
def replica_table(reports, individual, group, deviation, error):
    """Return the log likelihood of each replica, in rows, under each rung's evidence, in columns."""
    n_rungs = reports.powers.size
    table = np.zeros((error.size, n_rungs))
    workspace = np.empty((4, individual.shape[1]))
    for index in range(error.size):
        add_count_likelihoods(
            reports, individual[index], group[index], np.int64(0), n_rungs, workspace, table[index]
        )
    return table


@kernel
def replica_expectations(reports, individual, group, deviation, error, noise, label_sums, share_tallies):
    """Add expected labels and shares of some replicas."""
    workspace = np.empty((4, individual.shape[1]))
    no_moments = np.empty((2, group.shape[1]))
    if label_sums.shape[1] == 0:
        return
    for index in range(error.size):
        add_expected(
            reports,
            individual[index],
            group[index],
            no_moments,
            workspace,
            label_sums[index],
            share_tallies[index],
        )


@kernel
def information_pieces(reports, rung, individual, group, deviation, error, centers, slope, starts, worth, owner):
    """Find the information of each report; see ``sampler.compiled.information``. ``centers`` are the offsets."""
    copy(centers, group)
    return fill_pieces(reports, rung, individual, centers, slope, starts, worth, owner)


@kernel
def evidence_by_draw(reports, individual, group, deviation):
    """Log likelihood of each group's report in each draw, one per row."""
    n_draws, n_groups = group.shape
    result = np.zeros((n_draws, n_groups))
    n_rows = individual.shape[1]
    workspace = np.empty((4, n_rows))
    people = greater(reports.capacity[0], 1)
    laws = np.empty((2, greater(reports.capacity[1], 1)))
    spread = np.empty((5, people))
    units = np.empty(people, dtype=np.int64)
    rung = np.int64(0)
    for draw in range(n_draws):
        add_offsets(reports.offsets, individual[draw], group[draw], workspace[0])
        fill_chances(workspace[0], workspace[1], workspace[2], workspace[3])
        for j in range(n_groups):
            add_group_likelihood(
                reports, j, workspace, laws, spread, units, rung, rung + 1, result[draw, j : j + 1]
            )
    return result
