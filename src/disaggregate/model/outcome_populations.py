"""The shares of several outcomes in a population of which a group's rows are a sample.

As :mod:`disaggregate.model.populations`, with vectors: p is the softmax of the scores at group j's own offset,
own and pooled are its means over the group's rows and over all rows, and M their means of p p',

    pi_j     = lambda_j own_j + (1 - lambda_j) pooled_j
    V_j      = lambda_j / (n_j + lambda_j) (mixture's mean of p p' - pi_j pi_j') + (diag pi_j - pi_j pi_j') / S_j
    shares_j ~ Normal(pi_j, V_j)

over all outcomes in the report but one, which the others determine; outcomes that it does not distinguish are
one category. lambda_j follows from the ratio F of variances between and within groups, both summed over the
outcomes. For two outcomes this is the law of one share.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from disaggregate.groups.outcome_evidence import PopulationShares
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.model.outcome_categories import categories_of, largest_last
from disaggregate.model.outcomes import UNIT, contrasts, probabilities_of
from disaggregate.model.populations import FARTHEST, LEAST, SHARE_ERROR, SMOOTHNESS, mean_rows
from disaggregate.model.reports import sample_arrays

# Rows times populations up to which all rows are the pool; beyond, evenly spaced ones are.
LARGEST_POOL = 2**20

# Logits differ by no more than this where probabilities are products of two exponentials.
_FARTHEST_LOGIT = 300.0


class OutcomeSamples(NamedTuple):
    """The groups that are samples of populations, and what these report.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_groups + 1,)
        Where each group starts among the sorted rows, samples or not.
    groups : ndarray of int, shape (n_samples,)
        The groups that are samples.
    indicator : ndarray of shape (n_samples, n_outcomes, n_outcomes - 1)
        Whether an outcome belongs to a category of the report; the last category is left out.
    n_free : ndarray of int, shape (n_samples,)
        How many categories are left.
    shares : ndarray of shape (n_samples, n_outcomes - 1)
        Their reported shares.
    size, sampled, effective : ndarray of shape (n_samples,)
        Size of the population, number of sampled people, and what their weights leave of it.
    weight, jackknife : ndarray of shape (n_rows,)
        As in :class:`disaggregate.model.reports.Reports`.
    pool : ndarray of int, shape (n_pooled,)
        Rows of the pool.
    pooled : ndarray of shape (n_pooled,)
        Their shares in it.
    """

    offsets: np.ndarray
    groups: np.ndarray
    indicator: np.ndarray
    n_free: np.ndarray
    shares: np.ndarray
    size: np.ndarray
    sampled: np.ndarray
    effective: np.ndarray
    weight: np.ndarray
    jackknife: np.ndarray
    pool: np.ndarray
    pooled: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of rows of each group."""
        return np.diff(self.offsets)


class OutcomeShareGradient(NamedTuple):
    """Log density of each population's shares, and the gradient of their sum.

    Attributes
    ----------
    log_density : ndarray of shape (n_samples,)
        Of the reported shares.
    individual : ndarray of shape (n_contrasts, n_rows)
        Gradient in the individual component of the scores.
    group : ndarray of shape (n_contrasts, n_groups)
        Gradient in the offsets of the groups.
    error : float
        Gradient in z.
    """

    log_density: np.ndarray
    individual: np.ndarray
    group: np.ndarray
    error: float


def make_outcome_samples(data: GroupedOutcomes) -> OutcomeSamples | None:
    """Lay out what is known of populations; None where no group is a sample of one.

    Parameters
    ----------
    data : GroupedOutcomes
        Groups and evidence.
    """
    reports = [report.population for report in data.evidence]
    groups = np.flatnonzero([report is not None for report in reports])
    if not len(groups):
        return None
    arrays = sample_arrays(data, np.ones_like(data.units) if data.counts is None else data.counts)
    n_outcomes = len(data.outcomes)
    indicator = np.zeros((len(groups), n_outcomes, n_outcomes - 1))
    n_free, shares = np.zeros(len(groups), dtype=np.int64), np.zeros((len(groups), n_outcomes - 1))
    for index, j in enumerate(groups.tolist()):
        report = reports[j]
        if not isinstance(report, PopulationShares):
            raise TypeError(f"{report!r} names no outcomes.")
        category, has_rest = categories_of(report.named_outcomes, data.outcomes)
        reported = report.partition(has_rest)
        category, order = largest_last(np.array(category), reported, len(reported))
        free = len(reported) - 1
        n_free[index], shares[index, :free] = free, reported[order][:free]
        inside = np.flatnonzero(category < free)
        indicator[index, inside, category[inside]] = 1.0
    pool, pooled = _pool(arrays["pooled"], len(groups))
    of_groups = {name: arrays[name][groups] for name in ("size", "sampled", "effective")}
    return OutcomeSamples(
        offsets=data.offsets.astype(np.int64),
        groups=groups,
        indicator=indicator,
        n_free=n_free,
        shares=shares,
        weight=arrays["weight"],
        jackknife=arrays["jackknife"],
        pool=pool,
        pooled=pooled,
        **of_groups,
    )


def _pool(pooled: np.ndarray, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose the rows of the pool: all that are in samples, or so many of them, evenly."""
    rows = np.flatnonzero(pooled > 0.0)
    most = max(LARGEST_POOL // n_samples, 1000)
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
    return rows, pooled[rows] / pooled[rows].sum()


class _VarianceRatio(NamedTuple):
    """How far groups differ in composition along the scores: r, its gradients in the logits and in z, and n_0."""

    excess: float
    by_logit: np.ndarray
    by_error: float
    mean_rows: float


def _variance_ratio(samples: OutcomeSamples, logits: np.ndarray, error: float) -> _VarianceRatio:
    """See :func:`disaggregate.model.populations.variance_ratio`; variances are sums over the outcomes."""
    p = probabilities_of(logits)
    first, sizes, n = samples.offsets[:-1], samples.sizes, np.zeros(len(samples.sizes))
    n[samples.groups] = samples.sampled
    n_all, n_groups = float(n.sum()), len(samples.groups)
    free, average = n_all - n_groups, mean_rows(samples.effective)
    if n_groups < 2 or free <= 0.0:
        return _VarianceRatio(0.5 * SMOOTHNESS, np.zeros_like(p), 0.0, average)
    weight, jackknife = samples.weight[:, None], samples.jackknife[:, None]
    means = np.add.reduceat(weight * p, first)
    distance = p - np.repeat(means, sizes, axis=0)
    of_group = np.where(n[:, None] > 0.0, means - n @ means / n_all, 0.0)
    between = float(n @ np.sum(of_group**2, axis=1)) / (n_groups - 1)
    inside = float(np.sum(jackknife * distance**2)) / free + LEAST
    spread = math.sqrt(2.0 / (n_groups - 1) + 2.0 / free)  # of log F
    factor = math.exp(min(max(spread * error, -FARTHEST), FARTHEST))
    ratio = factor * between / inside - 1.0
    root = math.hypot(ratio, SMOOTHNESS)
    by_ratio = 0.5 * (1.0 + ratio / root)
    balance = np.add.reduceat(jackknife * distance, first)
    by_p = 2.0 * weight * np.repeat(n[:, None] * of_group, sizes, axis=0) / (n_groups - 1) / inside
    within = jackknife * distance - weight * np.repeat(balance, sizes, axis=0)
    by_p -= 2.0 * within / free * (between / inside) / inside
    return _VarianceRatio(
        0.5 * (ratio + root),
        by_ratio * factor * _through_softmax(p, by_p),
        by_ratio * (ratio + 1.0) * spread,
        average,
    )


def _through_softmax(p: np.ndarray, by_p: np.ndarray) -> np.ndarray:
    """Turn a gradient in probabilities into one in logits."""
    return p * (by_p - np.sum(p * by_p, axis=-1, keepdims=True))


class _Law(NamedTuple):
    """Mean and covariance of each population's shares of all outcomes, and what they are made of."""

    ratio: _VarianceRatio
    p: np.ndarray  # of every row at its own group's offset
    exponents: np.ndarray  # exp of the logits of the pool, up to a factor per row
    factors: np.ndarray  # exp of the logits of the offsets, up to a factor per sample
    inverse: np.ndarray  # 1 over the sum over outcomes of their products, (n_pooled, n_samples)
    own: np.ndarray
    own_square: np.ndarray
    pool: np.ndarray
    pool_square: np.ndarray
    weight: np.ndarray  # lambda
    share: np.ndarray  # of the population that was sampled
    doubt: np.ndarray
    blend: np.ndarray
    spread: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray


def _law(samples: OutcomeSamples, individual: np.ndarray, group: np.ndarray, error: float) -> _Law:
    """Find the law of all shares; see :func:`outcome_share_law`."""
    contrast = contrasts(len(individual) + 1)
    logits, offsets = UNIT * individual.T @ contrast, UNIT * group.T @ contrast
    ratio = _variance_ratio(samples, logits, error)
    chosen, first = samples.groups, samples.offsets[:-1]
    p = probabilities_of(logits + np.repeat(offsets, samples.sizes, axis=0))
    exponents, factors = _exponentials(logits[samples.pool]), _exponentials(offsets[chosen])
    inverse = 1.0 / (exponents @ factors.T)
    weighed = samples.weight[:, None] * p
    own = np.add.reduceat(weighed, first)[chosen]
    own_square = np.add.reduceat(weighed[:, :, None] * p[:, None, :], first)[chosen]
    pool = factors * (inverse.T @ (samples.pooled[:, None] * exponents))
    pool_square = _outer(factors) * _by_pairs((inverse**2).T, samples.pooled[:, None, None] * _outer(exponents))
    n = samples.effective
    known = ratio.excess * n
    weight, share = known / (known + ratio.mean_rows), np.minimum(n / samples.size, 1.0)
    doubt = (1.0 - share) ** 2 * weight / (n + weight)
    blend = _mix(weight, own, pool)
    spread = _mix(weight, own_square, pool_square) - _outer(blend)
    mean = _mix(share, own, blend)
    of_labels = (mean[:, :, None] * np.eye(mean.shape[1]) - _outer(mean)) / samples.size[:, None, None]
    return _Law(
        ratio, p, exponents, factors, inverse, own, own_square, pool, pool_square, weight, share, doubt, blend,
        spread, mean, doubt[:, None, None] * spread + of_labels,
    )  # fmt: skip


def _exponentials(logits: np.ndarray) -> np.ndarray:
    return np.exp(np.maximum(logits - logits.max(axis=1, keepdims=True), -_FARTHEST_LOGIT))


def _outer(vectors: np.ndarray) -> np.ndarray:
    return vectors[:, :, None] * vectors[:, None, :]


def _by_pairs(matrix: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Multiply a matrix with an array of matrices, shape (n, K, K)."""
    return (matrix @ values.reshape(len(values), -1)).reshape(len(matrix), *values.shape[1:])


def _mix(weight: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    by = weight.reshape(-1, *[1] * (one.ndim - 1))
    return by * one + (1.0 - by) * other


def outcome_share_law(
    samples: OutcomeSamples, individual: np.ndarray, group: np.ndarray, error: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each population's share of each outcome, shape (n_samples, n_outcomes).

    Parameters
    ----------
    samples : OutcomeSamples
        Populations.
    individual : ndarray of shape (n_contrasts, n_rows)
        Individual component of the scores.
    group : ndarray of shape (n_contrasts, n_groups)
        Offsets of the groups.
    error : float
        z.
    """
    law = _law(samples, individual, group, error)
    return law.mean, np.diagonal(law.covariance, axis1=1, axis2=2) + SHARE_ERROR**2


def outcome_share_gradient(
    samples: OutcomeSamples, individual: np.ndarray, group: np.ndarray, error: float
) -> OutcomeShareGradient:
    """Log density of all populations' shares, and its gradient.

    Parameters
    ----------
    samples, individual, group, error
        As for :func:`outcome_share_law`.
    """
    law = _law(samples, individual, group, error)
    density, by_mean, by_covariance = _density(samples, law)
    n, size = samples.effective[:, None], samples.size[:, None]
    diagonal = np.diagonal(by_covariance, axis1=1, axis2=2)
    by_mean = by_mean + (diagonal - 2.0 * _times(by_covariance, law.mean)) / size
    by_square = law.doubt[:, None, None] * by_covariance
    by_blend = (1.0 - law.share[:, None]) * by_mean - 2.0 * _times(by_square, law.blend)
    weight = law.weight[:, None]
    by_weight = np.sum(by_blend * (law.own - law.pool), axis=1)
    by_weight += np.sum(by_square * (law.own_square - law.pool_square), axis=(1, 2))
    by_doubt = np.sum(by_covariance * law.spread, axis=(1, 2))
    by_weight += by_doubt * (1.0 - law.share) ** 2 * samples.effective / (samples.effective + law.weight) ** 2
    average = law.ratio.mean_rows
    by_excess = float(np.sum(by_weight[:, None] * n * average / (law.ratio.excess * n + average) ** 2))
    of_rows, of_samples = _through_pool(
        samples, law, (1.0 - weight) * by_blend, (1.0 - weight)[:, :, None] * by_square
    )
    by_logit = _through_own(
        samples, law, law.share[:, None] * by_mean + weight * by_blend, weight[:, :, None] * by_square
    )
    by_offset = np.add.reduceat(by_logit, samples.offsets[:-1])
    by_offset[samples.groups] += of_samples
    by_logit[samples.pool] += of_rows
    by_logit += by_excess * law.ratio.by_logit
    back = UNIT * contrasts(len(individual) + 1)
    return OutcomeShareGradient(density, back @ by_logit.T, back @ by_offset.T, by_excess * law.ratio.by_error)


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("gkl,gl->gk", matrices, vectors)


def _density(samples: OutcomeSamples, law: _Law) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log density of the reported shares, and its gradient in mean and covariance of all outcomes."""
    into = samples.indicator
    covariance = category_covariance(samples, law.covariance)
    error = samples.shares - np.einsum("gkc,gk->gc", into, law.mean)
    error[np.arange(error.shape[1]) >= samples.n_free[:, None]] = 0.0
    inverse = np.linalg.inv(covariance)
    scaled_error = _times(inverse, error)
    value = -0.5 * np.sum(error * scaled_error, axis=1) - 0.5 * np.linalg.slogdet(covariance)[1]
    value -= 0.5 * samples.n_free * math.log(2.0 * math.pi)
    by_covariance = 0.5 * (_outer(scaled_error) - inverse)
    return value, _times(into, scaled_error), np.einsum("gkc,gcd,gld->gkl", into, by_covariance, into)


def category_covariance(samples: OutcomeSamples, covariance: np.ndarray) -> np.ndarray:
    """Covariance of the categories in the reports, with the rounding error of print; 1 where there is no category.

    The error treats all categories alike: whichever is left out, the volume is the same.

    Parameters
    ----------
    samples : OutcomeSamples
        Populations.
    covariance : ndarray of shape (n_samples, n_outcomes, n_outcomes)
        Of the outcomes.
    """
    into, n_categories = samples.indicator, samples.n_free[:, None, None] + 1.0
    found = np.einsum("gkc,gkl,gld->gcd", into, covariance, into)
    width = np.arange(found.shape[1])
    error = (
        SHARE_ERROR**2 * n_categories ** (1.0 / (n_categories - 1.0)) * (np.eye(len(width)) - 1.0 / n_categories)
    )
    is_category = width < samples.n_free[:, None]
    inside = is_category[:, :, None] & is_category[:, None, :]
    return np.where(inside, found + error, np.eye(len(width)))


def _through_own(samples: OutcomeSamples, law: _Law, by_own: np.ndarray, by_own_square: np.ndarray) -> np.ndarray:
    """Gradient in the logits of the groups' own rows, shape (n_rows, n_outcomes)."""
    n_groups, n_outcomes = len(samples.sizes), law.p.shape[1]
    first, second = np.zeros((n_groups, n_outcomes)), np.zeros((n_groups, n_outcomes, n_outcomes))
    first[samples.groups], second[samples.groups] = by_own, by_own_square
    owner = np.repeat(np.arange(n_groups), samples.sizes)
    by_p = samples.weight[:, None] * (first[owner] + 2.0 * np.einsum("ikl,il->ik", second[owner], law.p))
    return _through_softmax(law.p, by_p)


def _through_pool(
    samples: OutcomeSamples, law: _Law, by_pool: np.ndarray, by_pool_square: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient in the logits of the pool's rows, and in those of the samples' offsets.

    p of row i at the offset of sample j is e_i f_j / (e_i . f_j), so that sums over rows or samples are products
    of matrices.
    """
    e, f, inverse, w = law.exponents, law.factors, law.inverse, samples.pooled[:, None]
    square = inverse**2
    into_pairs = _outer(f) * by_pool_square
    along = inverse * (e @ (f * by_pool).T)
    along += 2.0 * square * (_outer(e).reshape(len(e), -1) @ into_pairs.reshape(len(f), -1).T)
    along *= inverse
    of_rows = inverse @ (f * by_pool) + 2.0 * np.einsum("il,ikl->ik", e, _by_pairs(square, into_pairs))
    of_rows -= along @ f
    of_samples = law.pool * by_pool + 2.0 * np.sum(by_pool_square * law.pool_square, axis=2)
    of_samples -= f * (along.T @ (w * e))
    return w * e * of_rows, of_samples


class MeanSlopes(NamedTuple):
    """What the mean shares of one population change by, and their covariance.

    Attributes
    ----------
    rows : ndarray of shape (n_outcomes - 1, n_contrasts, n_rows)
        Slopes of its categories in the individual component of every row's scores, also through the ratio of
        variances.
    group : ndarray of shape (n_outcomes - 1, n_contrasts)
        In the offset of its group.
    error : ndarray of shape (n_outcomes - 1,)
        In z.
    covariance : ndarray of shape (n_outcomes - 1, n_outcomes - 1)
        Of the categories.
    """

    rows: np.ndarray
    group: np.ndarray
    error: np.ndarray
    covariance: np.ndarray


def mean_slopes(
    samples: OutcomeSamples, individual: np.ndarray, group: np.ndarray, error: float
) -> list[MeanSlopes]:
    """Differentiate the mean shares of each population, for the expected curvature of the log density.

    Parameters
    ----------
    samples, individual, group, error
        As for :func:`outcome_share_law`.
    """
    law = _law(samples, individual, group, error)
    contrast = UNIT * contrasts(len(individual) + 1)
    covariance = category_covariance(samples, law.covariance)
    n, average = samples.effective, law.ratio.mean_rows
    by_excess = (1.0 - law.share) * n * average / (law.ratio.excess * n + average) ** 2
    found = []
    for index, j in enumerate(samples.groups.tolist()):
        into, own = samples.indicator[index].T, slice(*samples.offsets[j : j + 2])
        slope = np.zeros((into.shape[0], len(contrast), individual.shape[1]))
        p = law.exponents * law.factors[index] * law.inverse[:, [index]]
        by_pool = (1.0 - law.share[index]) * (1.0 - law.weight[index]) * samples.pooled
        by_own = _mix(law.share[[index]], np.ones(1), law.weight[[index]]) * samples.weight[own]
        slope[:, :, samples.pool] += _slopes_of(p, into, contrast) * by_pool
        slope[:, :, own] += _slopes_of(law.p[own], into, contrast) * by_own
        of_group = slope.sum(axis=2)
        through = by_excess[index] * (into @ (law.own[index] - law.pool[index]))
        slope += through[:, None, None] * (contrast @ law.ratio.by_logit.T)
        found.append(MeanSlopes(slope, of_group, through * law.ratio.by_error, covariance[index]))
    return found


def _slopes_of(p: np.ndarray, into: np.ndarray, contrast: np.ndarray) -> np.ndarray:
    """Slopes of the probabilities of categories in the scores, shape (n_categories, n_contrasts, n_rows)."""
    centred = contrast[:, None, :] - (p @ contrast.T).T[:, :, None]  # contrast, row, outcome
    return np.einsum("ck,ik,aik->cai", into, p, centred)
