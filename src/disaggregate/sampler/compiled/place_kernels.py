"""Likelihoods of some replicas or draws where groups have intercepts, which are integrated out, or are samples."""

import math

import numpy as np

from disaggregate.sampler.compiled.arrays import copy, fill, greater
from disaggregate.sampler.compiled.compile import kernel, part
from disaggregate.sampler.compiled.count_likelihood import add_count_likelihoods, likelihood_gradient
from disaggregate.sampler.compiled.expected import add_expected
from disaggregate.sampler.compiled.information import fill_pieces
from disaggregate.sampler.compiled.places import (
    add_marginal_gradient,
    add_marginals,
    draw_offsets,
    fill_centers,
    integrate,
    make_shares,
    make_workspace,
    reports_count,
)
from disaggregate.sampler.compiled.populations import share_moments


@kernel
def replica_gradients(
    reports, rungs, individual, group, deviation, error, log_likelihood, by_row, by_group, by_error, by_scale,
    by_correlation,
):  # fmt: skip
    """Fill log likelihoods and gradients of some replicas.

    The gradient is in u, in the centres of the groups' offsets, in z, in the log variance of the offsets and in
    the correlation of cells.
    """
    workspace = np.empty((4, individual.shape[1]))
    for index in range(rungs.size):
        log_likelihood[index], by_error[index], by_scale[index], by_correlation[index] = marginal_gradient(
            reports, rungs[index], individual[index], group[index], deviation[index], error[index], workspace,
            by_row[index], by_group[index],
        )  # fmt: skip


@part
def marginal_gradient(reports, rung, individual, group, deviation, error, workspace, by_row, by_group):
    total = 0.0
    if deviation == 0.0:
        total = likelihood_gradient(reports, rung, individual, group, workspace, by_row, by_group)
    else:
        fill(by_row, 0.0)
        fill(by_group, 0.0)
    value, by_error, by_scale, by_correlation = add_marginal_gradient(
        reports, rung, individual, group, deviation, error, deviation > 0.0, by_row, by_group
    )
    return total + value, by_error, by_scale, by_correlation


@kernel
def replica_table(reports, individual, group, deviation, error):
    """Return the log likelihood of each replica, in rows, under each rung's evidence, in columns."""
    n_rungs = reports.powers.size
    table = np.zeros((error.size, n_rungs))
    workspace = np.empty((4, individual.shape[1]))
    first = np.int64(0)  # numba types the literal 0 differently, and would compile everything twice
    for index in range(error.size):
        if deviation[index] == 0.0:
            add_count_likelihoods(
                reports, individual[index], group[index], first, n_rungs, workspace, table[index]
            )
        add_marginals(
            reports, individual[index], group[index], deviation[index], error[index], first, n_rungs,
            deviation[index] > 0.0, table[index],
        )  # fmt: skip
    return table


@kernel
def replica_expectations(reports, individual, group, deviation, error, noise, label_sums, share_tallies):
    """Draw the groups' offsets of some replicas, in place of ``group``, and add expected labels and shares."""
    workspace = np.empty((4, individual.shape[1]))
    centers = np.empty(group.shape[1])
    moments = np.empty((2, group.shape[1]))
    for index in range(error.size):
        copy(centers, group[index])
        draw_offsets(
            reports, individual[index], centers, deviation[index], error[index], noise[index], group[index]
        )
        if label_sums.shape[1] > 0:
            share_moments(reports, individual[index], group[index], error[index], moments)
            add_expected(
                reports,
                individual[index],
                group[index],
                moments,
                workspace,
                label_sums[index],
                share_tallies[index],
            )


@kernel
def information_pieces(reports, rung, individual, group, deviation, error, centers, slope, starts, worth, owner):
    """Find the information of each report at the most probable offset of its group, which is filled in.

    See ``sampler.compiled.information``.
    """
    fill_centers(reports, rung, individual, group, deviation, error, centers)
    return fill_pieces(reports, rung, individual, centers, slope, starts, worth, owner)


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
        workspace = make_workspace(reports, shares)
        for j in range(n_groups):
            has_counts = reports_count(reports, j)
            if not (has_counts or reports.is_sample[j] > 0):
                continue
            _, best, mass = integrate(
                reports,
                rung,
                j,
                individual[draw],
                group[draw, j],
                deviation[draw, j],
                shares,
                has_counts,
                workspace,
            )
            result[draw, j] = best + math.log(mass)
    return result
