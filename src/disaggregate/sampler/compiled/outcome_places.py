"""Compiled twin of ``model.outcome_places``: intercepts of groups integrated out, for several outcomes.

Logits of a row are its individual component plus the offsets of its group, so that probabilities are products of
two exponentials, of which the first is the same for all offsets that are tried.
"""

import math
from typing import NamedTuple

import numpy as np

from disaggregate.model.outcome_places import (
    APART,
    JITTER,
    LONGEST,
    MOST_RISE,
    MOST_STEPS,
    NARROWEST,
    NEAR,
    WIDEST,
)
from disaggregate.model.outcomes import UNIT
from disaggregate.model.reports import EXACT, NORMAL
from disaggregate.sampler.compiled.compile import kernel, part
from disaggregate.sampler.compiled.outcome_normal import LANES, add_slopes, fill_values
from disaggregate.sampler.compiled.outcomes import (
    expect,
    invert,
    make_workspace,
    normal_likelihood,
    own_report,
)

# Logits differ by no more than this where probabilities are products of two exponentials.
_FARTHEST_LOGIT = 300.0


class Around(NamedTuple):
    """Work space for what one group's report says of offsets."""

    contrasts: np.ndarray  # of the outcomes, in the order of the exponents
    exponents: np.ndarray  # exp of the individual logits, (n_rows, n_outcomes)
    factors: np.ndarray  # exp of the logits of the offsets
    covariance: np.ndarray  # of counts, (n_outcomes, n_outcomes)
    jacobian: np.ndarray  # slopes of expected counts of categories in the offsets
    slope: np.ndarray  # in the offsets
    information: np.ndarray
    curvature: np.ndarray
    root: np.ndarray
    measured: np.ndarray
    step: np.ndarray
    offset: np.ndarray
    tried: np.ndarray
    by_logit: np.ndarray  # slopes in the logits of the rows, (n_rows, n_outcomes)


@kernel
def integrated_gradients(
    reports,
    contrasts,
    individual,
    center,
    deviation,
    nodes,
    log_weights,
    value,
    by_score,
    by_center,
    by_scale,
    spread,
):
    """Log likelihood of each group's report, intercepts integrated out, and its gradient.

    ``individual`` and ``by_score`` have shape (n_contrasts, n_rows), ``center`` and ``by_center`` (n_groups,
    n_contrasts); the gradients in the log scale of the place component, ``by_scale``, are by group. ``spread`` is
    the average product of each group's offsets, less the centre.
    """
    workspace = make_workspace(reports)
    p, expected, covariance, inverse, vectors = (
        workspace[0], workspace[1], workspace[6], workspace[7], workspace[8]
    )  # fmt: skip
    around = _make_around(p, len(contrasts))
    own_contrasts, exponents, factors, jacobian = (
        around.contrasts,
        around.exponents,
        around.factors,
        around.jacobian,
    )
    slope, information, curvature, cholesky = around.slope, around.information, around.curvature, around.measured
    root, step, offset, tried, by_logit = around.root, around.step, around.offset, around.tried, around.by_logit
    n_rows, n_outcomes = p.shape
    free = n_outcomes - 1
    at_nodes, factors_there = np.empty((free, LANES)), np.empty((n_outcomes, LANES))
    p_there, total = np.empty((n_rows, n_outcomes, LANES)), np.empty(LANES)
    value_there, chance = np.empty(LANES), np.empty(LANES)
    covariance_there, inverse_there = np.empty((free, free, LANES)), np.empty((free, free, LANES))
    error_there, scaled_there = np.empty((free, LANES)), np.empty((free, LANES))
    for j in range(len(reports.law)):
        first, last = reports.offsets[j], reports.offsets[j + 1]
        value[j], by_scale[j] = 0.0, 0.0
        by_center[j, :] = 0.0
        by_score[:, first:last] = 0.0
        spread[j, :, :] = 0.0
        if reports.law[j] != EXACT and reports.law[j] != NORMAL:
            for a in range(len(contrasts)):
                spread[j, a, a] = deviation**2
            continue
        own = own_report(reports, j)
        _fill_exponents(own.category, reports.is_large[j], contrasts, individual, first, last, around)
        by_logit[: last - first] = 0.0
        if reports.is_large[j]:
            best, log_volume = _mode_of_large(
                own.counts, own.reported, own.noise, own.constant, center[j], deviation, own_contrasts, exponents,
                factors, p, expected, covariance, inverse, vectors, jacobian, slope, information, curvature,
                cholesky, root, step, offset, tried,
            )  # fmt: skip
            mass = 0.0
            for start in range(0, len(nodes), LANES):
                _fill_nodes(
                    nodes, start, center[j], deviation, own_contrasts, offset, root, factors, tried, at_nodes,
                    factors_there, chance,
                )  # fmt: skip
                fill_values(
                    own.counts, own.reported, own.noise, own.constant, exponents, factors_there, p_there, total,
                    value_there, covariance_there, inverse_there, error_there, scaled_there,
                )  # fmt: skip
                mass += _sum_nodes(
                    log_weights, start, log_volume - best, center[j], at_nodes, value_there, chance,
                    by_center[j], spread[j],
                )  # fmt: skip
                add_slopes(
                    own.counts, p_there, total, inverse_there, error_there, scaled_there, chance, by_logit
                )  # fmt: skip
        else:
            best = _find_mode(own, center[j], deviation, around, workspace)
            log_volume, mass = _find_root(own, deviation, around, workspace), 0.0
            for n in range(len(nodes)):
                mass += _add_node(
                    own, center[j], deviation, nodes[n], log_weights[n] + log_volume - best, around, workspace,
                    by_center[j], spread[j],
                )  # fmt: skip
        value[j] = best + math.log(mass)
        for a in range(len(contrasts)):
            by_center[j, a] /= mass * deviation**2
            for b in range(len(contrasts)):
                spread[j, a, b] /= mass
            by_scale[j] += 0.5 * (spread[j, a, a] / deviation**2 - 1.0)
        for i in range(last - first):
            for a in range(len(contrasts)):
                slope_of_row = 0.0
                for k in range(contrasts.shape[1]):
                    slope_of_row += own_contrasts[a, k] * by_logit[i, k]
                by_score[a, first + i] = UNIT * slope_of_row / mass


@part
def _make_around(p, d):
    n_rows, n_outcomes = p.shape
    return Around(
        np.empty((d, n_outcomes)),
        np.empty((n_rows, n_outcomes)),
        np.empty(n_outcomes),
        np.empty((n_outcomes, n_outcomes)),
        np.empty((n_outcomes, d)),
        np.empty(d),
        np.empty((d, d)),
        np.empty((d, d)),
        np.empty((d, d)),
        np.empty((d, d)),
        np.empty(d),
        np.empty(d),
        np.empty(d),
        np.empty((n_rows, n_outcomes)),
    )


@part
def _fill_exponents(category, is_large, contrasts, scores, first, last, around):
    """Exponentials of the logits UNIT H' g of a group's rows, the largest of each 1.

    Of large groups outcomes are in the order of their categories.
    """
    own, exponents, n_outcomes = around.contrasts, around.exponents, contrasts.shape[1]
    for k in range(n_outcomes):
        for a in range(len(contrasts)):
            own[a, category[k] if is_large else k] = contrasts[a, k]
    for i in range(last - first):
        largest = -np.inf
        for k in range(n_outcomes):
            logit = 0.0
            for a in range(len(contrasts)):
                logit += own[a, k] * scores[a, first + i]
            exponents[i, k] = UNIT * logit
            if not exponents[i, k] <= largest:
                largest = exponents[i, k]
        for k in range(n_outcomes):
            exponents[i, k] = math.exp(max(exponents[i, k] - largest, -_FARTHEST_LOGIT))


@part
def _fill_factors(contrasts, offset, factors):
    """Exponentials of the logits of an offset, the largest 1."""
    largest = -np.inf
    for k in range(len(factors)):
        logit = 0.0
        for a in range(len(contrasts)):
            logit += contrasts[a, k] * offset[a]
        factors[k] = UNIT * logit
        if not factors[k] <= largest:
            largest = factors[k]
    for k in range(len(factors)):
        factors[k] = math.exp(max(factors[k] - largest, -_FARTHEST_LOGIT))


@part
def _fill_chances(exponents, factors, n_rows, p):
    """Probabilities of all rows, products of two exponentials."""
    for i in range(n_rows):
        total = 0.0
        for k in range(len(factors)):
            p[i, k] = exponents[i, k] * factors[k]
            total += p[i, k]
        total = 1.0 / total
        for k in range(len(factors)):
            p[i, k] *= total


@part
def _mode_of_large(
    counts, reported, noise, constant, center, deviation, contrasts, exponents, factors, p, expected, covariance,
    inverse, vectors, jacobian, slope, information, curvature, cholesky, root, step, offset, tried,
):  # fmt: skip
    """Find mode and root of a large group; return the log density there, and the root's log volume.

    As ``_find_mode``, with the arrays by themselves: taking them out of tuples costs as much as all the rest.
    """
    precision, d, free, n_rows = deviation**-2, len(center), len(factors) - 1, len(counts)
    tried[:] = center
    offset[:] = center
    factor, best, length = 1.0, -np.inf, np.inf
    for _ in range(MOST_STEPS + 1):
        _fill_factors(contrasts, tried, factors)
        _fill_chances(exponents, factors, n_rows, p)
        reached = constant + normal_likelihood(
            counts, reported, noise, free, p, expected, covariance, inverse, vectors
        )
        for a in range(d):
            reached -= 0.5 * precision * (tried[a] - center[a]) ** 2
        if reached >= best or best == -np.inf:
            if best > -np.inf:
                factor = min(2.0 * factor, 1.0)
            best = reached
            for a in range(d):
                offset[a] = tried[a]
                slope[a] = -precision * (tried[a] - center[a])
                for c in range(free):
                    jacobian[c, a] = 0.0
            for i in range(n_rows):
                people = float(counts[i])
                for a in range(d):
                    mean, total = 0.0, 0.0
                    for k in range(free + 1):
                        mean += contrasts[a, k] * p[i, k]
                        total += contrasts[a, k] * (expected[i, k] - people * p[i, k])
                    slope[a] += UNIT * total
                    for c in range(free):
                        jacobian[c, a] += UNIT * people * p[i, c] * (contrasts[a, c] - mean)
            _fill_sandwich(jacobian, inverse, free, d, information)
            length = _newton(precision, information, curvature, cholesky, slope, step)
        else:
            factor *= 0.5
        if not length > NEAR**2:
            break
        longest = LONGEST
        for a in range(d):
            longest = max(longest, abs(step[a]))
        for a in range(d):
            tried[a] = offset[a] + min(factor, LONGEST / longest) * step[a]
    _factor(curvature, cholesky)
    return best, _fill_root(cholesky, root)


@part
def _fill_nodes(
    nodes, start, center, deviation, contrasts, offset, root, factors, tried, at_nodes, factors_there, log_prior
):
    """Lay some nodes side by side; the last one is repeated where there are fewer."""
    for n in range(LANES):
        node, square = min(start + n, len(nodes) - 1), 0.0
        for a in range(len(center)):
            tried[a] = offset[a]
            for b in range(len(center)):
                tried[a] += root[a, b] * nodes[node, b]
            at_nodes[a, n] = tried[a]
            square += ((tried[a] - center[a]) / deviation) ** 2
        log_prior[n] = -0.5 * square
        _fill_factors(contrasts, tried, factors)
        for k in range(len(factors)):
            factors_there[k, n] = factors[k]


@part
def _sum_nodes(log_weights, start, log_volume, center, at_nodes, value, chance, first, second):
    """Turn log prior densities into chances, and add them to the averages of offsets; return their sum."""
    mass = 0.0
    for n in range(LANES):
        if start + n >= len(log_weights):
            chance[n] = 0.0
            continue
        log_weight = log_weights[start + n] + log_volume
        chance[n] = math.exp(min(value[n] + chance[n] + log_weight, MOST_RISE))
        mass += chance[n]
        for a in range(len(center)):
            away = chance[n] * (at_nodes[a, n] - center[a])
            first[a] += away
            for b in range(len(center)):
                second[a, b] += away * (at_nodes[b, n] - center[b])
    return mass


@part
def _evaluate(own, offset, around, workspace):
    """Log likelihood of the report at some offset; fill probabilities and expected counts of all rows."""
    _fill_factors(around.contrasts, offset, around.factors)
    _fill_chances(around.exponents, around.factors, len(own.counts), workspace[0])
    return expect(own, workspace[0], workspace[1], workspace)


@part
def _expand(own, offset, around, workspace):
    """Log likelihood of the report at some offset; fill its slope and information."""
    value = _evaluate(own, offset, around, workspace)
    _fill_slope(own, around, workspace)
    _fill_information(own, around, workspace)
    return value


@part
def _fill_slope(own, around, workspace):
    """Slope of the log likelihood in the offset that was evaluated last."""
    p, expected, contrasts = workspace[0], workspace[1], around.contrasts
    for a in range(len(contrasts)):
        total = 0.0
        for i in range(len(own.counts)):
            people = own.counts[i]
            for k in range(p.shape[1]):
                total += contrasts[a, k] * (expected[i, k] - people * p[i, k])
        around.slope[a] = UNIT * total


@part
def _fill_information(own, around, workspace):
    """Information of the report on the offset that was evaluated last; see ``offset_slopes``."""
    p, covariance, jacobian, inverse = workspace[0], around.covariance, around.jacobian, workspace[7]
    contrasts, free, category = around.contrasts, own.free, own.category
    d, n_outcomes = contrasts.shape
    covariance[:, :] = 0.0
    for i in range(len(own.counts)):
        people = float(own.counts[i])
        for k in range(n_outcomes):
            covariance[k, k] += people * p[i, k]
            for other in range(n_outcomes):
                covariance[k, other] -= people * p[i, k] * p[i, other]
    jacobian[:, :] = 0.0
    for k in range(n_outcomes):
        for a in range(d):
            total = 0.0
            for other in range(n_outcomes):
                total += covariance[k, other] * contrasts[a, other]
            jacobian[category[k], a] += UNIT * total
    if own.is_exact:  # the normal law has just inverted the same matrix
        weighed = workspace[6]
        for c in range(free):
            for other in range(free):
                weighed[c, other] = own.noise[c, other]
        for k in range(n_outcomes):
            for other in range(n_outcomes):
                if category[k] < free and category[other] < free:
                    weighed[category[k], category[other]] += covariance[k, other]
        invert(weighed, inverse, free)
    _fill_sandwich(jacobian, inverse, free, d, around.information)


@part
def _fill_sandwich(slopes, inverse, free, d, information):
    """Fill J' C^-1 J, from the slopes J of the expected counts and the inverse of their covariance C."""
    for a in range(d):
        for b in range(d):
            total = 0.0
            for c in range(free):
                for other in range(free):
                    total += slopes[c, a] * inverse[c, other] * slopes[other, b]
            information[a, b] = total


@part
def _find_mode(own, center, deviation, around, workspace):
    """Find the most probable offset by Newton's steps; return its log density without the prior's normaliser."""
    d, precision = len(center), deviation**-2
    offset, tried, step, slope = around.offset, around.tried, around.step, around.slope
    offset[:] = center
    factor, best = 1.0, _expand(own, offset, around, workspace)
    length = _step(precision, around)
    for _ in range(MOST_STEPS):
        if not length > NEAR**2:
            break
        longest, square = LONGEST, 0.0
        for a in range(d):
            longest = max(longest, abs(step[a]))
        for a in range(d):
            tried[a] = offset[a] + min(factor, LONGEST / longest) * step[a]
            square += (tried[a] - center[a]) ** 2
        reached = _expand(own, tried, around, workspace) - 0.5 * precision * square
        if reached >= best:
            best, factor = reached, min(2.0 * factor, 1.0)
            offset[:] = tried
            for a in range(d):
                slope[a] -= precision * (offset[a] - center[a])
            length = _step(precision, around)
        else:
            factor *= 0.5
    return best


@part
def _step(precision, around):
    """Fill Newton's step; return the square of its length in widths."""
    return _newton(
        precision, around.information, around.curvature, around.measured, around.slope, around.step
    )  # fmt: skip


@part
def _newton(precision, information, curvature, cholesky, slope, step):
    """Fill the curvature of the density and Newton's step; return the square of its length in widths."""
    d, size, is_finite = len(curvature), 0.0, True
    for a in range(d):
        size += information[a, a] + precision
        for b in range(d):
            curvature[a, b] = information[a, b]
            is_finite = is_finite and math.isfinite(information[a, b])
    for a in range(d):
        curvature[a, a] += precision + JITTER * size
    if not is_finite:  # where a trajectory diverges
        for a in range(d):
            for b in range(d):
                curvature[a, b] = 1.0 if a == b else 0.0
    _solve(curvature, cholesky, slope, step)
    length = 0.0
    for a in range(d):
        length += step[a] * slope[a]
    return length


@part
def _solve(matrix, factor, vector, solution):
    """Solve by the Cholesky factor, which is filled as well."""
    d = len(vector)
    _factor(matrix, factor)
    for a in range(d):
        total = vector[a]
        for b in range(a):
            total -= factor[a, b] * solution[b]
        solution[a] = total / factor[a, a]
    for a in range(d - 1, -1, -1):
        total = solution[a]
        for b in range(a + 1, d):
            total -= factor[b, a] * solution[b]
        solution[a] = total / factor[a, a]


@part
def _factor(matrix, factor):
    """Lower triangular Cholesky factor."""
    for a in range(len(matrix)):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= factor[a, c] * factor[b, c]
            factor[a, b] = math.sqrt(total) if a == b else total / factor[b, b]


@part
def _find_root(own, deviation, around, workspace):
    """Find how wide the density is around the mode: as wide as slopes beside it say. Return its log volume."""
    d, precision = len(around.offset), deviation**-2
    factor, root, measured, by_offset = around.information, around.root, around.measured, around.step
    _factor(around.curvature, factor)
    log_volume = _fill_root(factor, root)
    for column in range(d):
        for a in range(d):
            by_offset[a] = precision * root[a, column]
        for sign in (-1.0, 1.0):
            for a in range(d):
                around.tried[a] = around.offset[a] + sign * APART * root[a, column]
            _evaluate(own, around.tried, around, workspace)
            _fill_slope(own, around, workspace)
            for a in range(d):
                by_offset[a] -= sign * around.slope[a] / (2.0 * APART)
        for b in range(d):
            total = 0.0
            for a in range(d):
                total += root[a, b] * by_offset[a]
            measured[b, column] = total if math.isfinite(total) else 0.0
    return log_volume + _narrow(measured, around)


@part
def _fill_root(factor, root):
    """Invert the transpose of a Cholesky factor; return its log volume."""
    d, log_volume = len(factor), 0.0
    for column in range(d):
        log_volume -= math.log(factor[column, column])
        for a in range(d - 1, -1, -1):
            total = 1.0 if a == column else 0.0
            for b in range(a + 1, d):
                total -= factor[b, a] * root[b, column]
            root[a, column] = total / factor[a, a]
    return log_volume


@part
def _narrow(measured, around):
    """Multiply the root by that of the inverse of what was measured, the symmetric one; return its log volume."""
    d, root, product = len(measured), around.root, around.information
    for a in range(d):
        for b in range(a):
            measured[a, b] = measured[b, a] = 0.5 * (measured[a, b] + measured[b, a])
    size, axes = np.linalg.eigh(measured)
    log_volume = 0.0
    for c in range(d):
        size[c] = 1.0 / math.sqrt(min(max(size[c], WIDEST**-2), NARROWEST**-2))
        log_volume += math.log(size[c])
    for a in range(d):
        for b in range(d):
            total = 0.0
            for c in range(d):
                total += axes[a, c] * axes[b, c] * size[c]
            product[a, b] = total
    for a in range(d):
        for b in range(d):
            total = 0.0
            for c in range(d):
                total += root[a, c] * product[c, b]
            around.curvature[a, b] = total
    root[:, :] = around.curvature
    return log_volume


@part
def _add_node(own, center, deviation, node, log_weight, around, workspace, first, second):
    """Add what a node contributes to the integral, and to all averages; return the former."""
    p, expected, by_logit = workspace[0], workspace[1], around.by_logit
    d, tried, square = len(center), around.tried, 0.0
    for a in range(d):
        tried[a] = around.offset[a]
        for b in range(d):
            tried[a] += around.root[a, b] * node[b]
        square += ((tried[a] - center[a]) / deviation) ** 2
    value = _evaluate(own, tried, around, workspace)
    chance = math.exp(min(value - 0.5 * square + log_weight, MOST_RISE))
    for a in range(d):
        away = chance * (tried[a] - center[a])
        first[a] += away
        for b in range(d):
            second[a, b] += away * (tried[b] - center[b])
    for i in range(len(own.counts)):
        people = own.counts[i]
        for k in range(p.shape[1]):
            by_logit[i, k] += chance * (expected[i, k] - people * p[i, k])
    return chance
