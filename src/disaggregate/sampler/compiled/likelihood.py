"""Compiled twin of ``model.likelihood``."""

from disaggregate.sampler.compiled.arrays import fill
from disaggregate.sampler.compiled.compile import part
from disaggregate.sampler.compiled.count_likelihood import add_count_likelihoods, add_offsets, count_gradient
from disaggregate.sampler.compiled.normal import fill_chances
from disaggregate.sampler.compiled.places import add_marginal_gradient, add_marginals


@part
def likelihood_gradient(reports, rung, individual, group, deviation, error, room, by_row, by_group):
    """Fill the gradient in u and in the centres of the groups' offsets.

    Returns the log likelihood, and its gradients in z and in the log variance of the offsets, whose deviation is 0
    without intercepts. ``room`` has at least four rows as long as there are rows, and is overwritten.
    """
    n_rows = individual.size
    total = 0.0
    fill(by_group, 0.0)
    if deviation == 0.0:
        fitted = room[0, :n_rows]
        add_offsets(reports.offsets, individual, group, fitted)
        fill_chances(fitted, room[1, :n_rows], room[2, :n_rows], room[3, :n_rows])
        total = count_gradient(reports, rung, fitted, room[1, :n_rows], room[2, :n_rows], room[3, :n_rows], by_row)
        for j in range(group.size):
            for row in range(reports.offsets[j], reports.offsets[j + 1]):
                by_group[j] += by_row[row]
        if reports.room[3] == 0:
            return total, 0.0, 0.0
    else:
        fill(by_row, 0.0)
    value, by_error, by_scale = add_marginal_gradient(
        reports, rung, individual, group, deviation, error, deviation > 0.0, by_row, by_group
    )
    return total + value, by_error, by_scale


@part
def add_likelihoods(reports, individual, group, deviation, error, first_rung, last_rung, room, result):
    """Add the log likelihood of one replica under the evidence of some rungs."""
    if deviation == 0.0:
        add_count_likelihoods(reports, individual, group, first_rung, last_rung, room, result)
        if reports.room[3] == 0:
            return
    add_marginals(reports, individual, group, deviation, error, first_rung, last_rung, deviation > 0.0, result)
