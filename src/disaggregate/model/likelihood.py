"""The likelihood of the groups' reports given the scores, with labels summed out, and its gradient.

A score has an individual component u, one per row, and an offset o, one per group: f = u + o. Groups enter in two
ways: by evidence over the count of their own people, and by the share of a population of which they are a sample.
Where groups have intercepts of their own, these are integrated out; see :mod:`disaggregate.model.places`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, logsumexp

from disaggregate.model.cells import inflation, log_all, skew_inflation
from disaggregate.model.counts import group_gradient
from disaggregate.model.link import probability, probability_slope
from disaggregate.model.places import Nodes, integrate
from disaggregate.model.populations import (
    ShareGradient,
    VarianceRatio,
    share_gradient,
    share_law,
    variance_ratio,
)
from disaggregate.model.reports import EXACT, NORMAL, NOTHING, Reports

# A count of almost zero variance carries no information, and nothing may be divided by that variance.
LEAST_VARIANCE = 1e-12

# The normal density over an interval of less than this many standard deviations, the farther out the fewer, is as
# good as a short series around its middle. Counts whose joint probability is below the best one's by this
# exponent have no weight.
NARROW = 0.3
NEGLIGIBLE = 60.0


class Gradient(NamedTuple):
    """Log likelihood, and its gradient.

    The gradient is in u, in the centres of the groups' offsets, in the error z of the ratio of variances, in the
    log variance of the offsets, and in the correlation of people of one cell where groups have intercepts.
    """

    log_likelihood: float
    individual: np.ndarray
    group: np.ndarray
    error: float
    scale: float
    correlation: float


class Expected(NamedTuple):
    """What is expected given the scores and the reports.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        Share of positives among the people of each row.
    shares : list of tuple of ndarray
        For each group values that its share of positives may have, and their probabilities.
    """

    labels: np.ndarray
    shares: list[tuple[np.ndarray, np.ndarray]]


def log_likelihood_gradient(
    reports: Reports, rung: int, individual: np.ndarray, group: np.ndarray, deviation: float, error: float
) -> Gradient:
    """Log p(reports given f) at one rung's power of the evidence, and its gradient.

    Intercepts of groups are integrated out. Of a sample, what is left is raised to the power; the evidence over
    the count of other groups comes at that power.

    Parameters
    ----------
    reports : Reports
        What the groups report.
    rung : int
        Which power.
    individual : ndarray of shape (n_rows,)
        u.
    group : ndarray of shape (n_groups,)
        Centres of the groups' offsets.
    deviation : float
        Of the offsets around them; 0 without intercepts.
    error : float
        z; see :mod:`disaggregate.model.populations`.
    """
    by_row, by_group = np.zeros_like(individual), np.zeros_like(group)
    total = by_excess = by_scale = by_correlation = 0.0
    ratio = variance_ratio(reports, individual, error) if reports.is_sample.any() else None
    for j, center in enumerate(group.tolist()):
        is_sample = bool(reports.is_sample[j])
        if reports.law[j] == NOTHING and not is_sample:
            continue
        power = float(reports.powers[rung]) if is_sample else 1.0
        own_rung = rung if deviation == 0.0 or not is_sample else 0
        at = partial(_group_at, reports, own_rung, j, individual, ratio, power if deviation == 0.0 else 1.0)
        if deviation == 0.0:
            nodes, power = Nodes(np.array([center]), np.ones(1), at(center).log_density), 1.0
            by_group[j] = at(center).offset
        else:
            nodes = integrate(at, center, deviation, bool(reports.is_bound[j]))
            distance = (nodes.offsets - center) / deviation
            by_group[j] = power * float(nodes.probability @ distance) / deviation
            by_scale += 0.5 * power * float(nodes.probability @ (distance**2 - 1.0))
        total += power * nodes.log_integral
        for offset, chance in zip(nodes.offsets, power * nodes.probability, strict=True):
            found = at(offset)
            by_row += chance * found.pooled
            by_row[slices_of(reports, j)[0]] += chance * found.own
            by_excess += chance * found.excess
            by_correlation += chance * found.correlation * (deviation > 0.0)
    if ratio is None:
        return Gradient(total, by_row, by_group, 0.0, by_scale, by_correlation)
    by_row += by_excess * ratio.gradient
    return Gradient(total, by_row, by_group, by_excess * ratio.by_error, by_scale, by_correlation)


def _group_at(
    reports: Reports,
    rung: int,
    j: int,
    individual: np.ndarray,
    ratio: VarianceRatio | None,
    power: float,
    offset: float,
) -> ShareGradient:
    """Log likelihood of all that one group reports, at an offset, with the gradients of a population's share."""
    rows, counts = slices_of(reports, j)
    scores, evidence = individual[rows] + offset, reports.log_likelihood[rung, counts]
    found = ShareGradient(0.0, np.zeros_like(scores), np.zeros_like(individual), 0.0, 0.0)
    if reports.is_sample[j] and ratio is not None and power > 0.0:
        share = share_gradient(reports, j, individual, offset, ratio)
        found = ShareGradient(
            power * share.log_density,
            power * share.own,
            power * share.pooled,
            power * share.offset,
            power * share.excess,
        )
    if reports.law[j] == NOTHING:
        return found
    by_correlation = 0.0
    if reports.law[j] == EXACT or (is_forced(reports, rung, j) and reports.correlation[0] == 0.0):
        value, own = _exact(reports, rows, scores, evidence)
    elif is_forced(reports, rung, j):
        sign = 1.0 if reports.most[rung, j] > 0 else -1.0
        value, own, by_correlation = log_all(sign * scores, reports.counts[rows], float(reports.correlation[0]))
        own = sign * own
    else:
        value, own, by_correlation = _normal(reports, rows, counts, scores, evidence)
    return found._replace(
        log_density=found.log_density + value,
        own=found.own + own,
        offset=found.offset + float(own.sum()),
        correlation=by_correlation,
    )


def expected_labels(reports: Reports, individual: np.ndarray, group: np.ndarray, error: float) -> Expected:
    """Return what labels and shares are expected, given the scores and the evidence itself."""
    scores = individual + np.repeat(group, np.diff(reports.offsets))
    labels, shares = np.empty_like(scores), []
    law = share_law(reports, individual, group, error) if reports.is_sample.any() else None
    for j in range(len(group)):
        rows, counts = slices_of(reports, j)
        p, q, slope = probability(scores[rows]), probability(-scores[rows]), probability_slope(scores[rows])
        evidence = reports.log_likelihood[0, counts]
        is_listed = counts.stop - counts.start == reports.total[j] + 1 and reports.law[j] != NORMAL
        gradient, share = np.zeros_like(p), (p[:1], np.ones(1))
        if is_listed:
            share = _exact_shares(reports, rows, scores[rows], evidence)
        if reports.law[j] == EXACT or is_forced(reports, 0, j):
            _, gradient = _exact(reports, rows, scores[rows], evidence)
        if not is_listed:
            mean, variance = _count_moments(reports, rows, scores[rows])
            after = _normal_given(mean, variance, reports.nodes[counts], evidence)
            share = spread_out(after.mean / reports.total[j], after.variance / reports.total[j] ** 2)
        # The gradient in f of a log likelihood is (E[y given the evidence] - p) phi / (p q), once per person.
        change = np.divide(gradient * p * q, slope * reports.counts[rows], out=np.zeros_like(p), where=slope > 0.0)
        if reports.law[j] == NORMAL and not is_forced(reports, 0, j):
            change = _normal_change(reports, rows, counts, scores[rows], evidence)
        labels[rows] = p + change
        if law is not None and reports.is_sample[j]:
            share = spread_out(law.mean[j], law.variance[j])
        shares.append(share)
    return Expected(np.clip(labels, 0.0, 1.0), shares)


def slices_of(reports: Reports, j: int) -> tuple[slice, slice]:
    """Return where the rows and the counts of a group are."""
    return (
        slice(int(reports.offsets[j]), int(reports.offsets[j + 1])),
        slice(int(reports.starts[j]), int(reports.starts[j + 1])),
    )


def is_forced(reports: Reports, rung: int, j: int) -> bool:
    """Return whether the evidence leaves no choice of labels."""
    return bool(reports.most[rung, j] == 0 or reports.fewest[rung, j] == reports.total[j])


def spread_out(mean: float, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return three shares, with probabilities, that have this mean and variance, as normal ones have."""
    step = math.sqrt(3.0 * max(variance, 0.0))
    return np.clip([mean - step, mean, mean + step], 0.0, 1.0), np.array([1.0, 4.0, 1.0]) / 6.0


def _exact(reports: Reports, rows: slice, scores: np.ndarray, evidence: np.ndarray) -> tuple[float, np.ndarray]:
    """Log likelihood and gradient by the exact programme; each person of a cell is a member of their own."""
    people = reports.counts[rows]
    if len(evidence) != (reports.units[rows] * people).sum() + 1:  # a large group whose labels are forced
        sign = -1.0 if np.isfinite(evidence[0]) else 1.0
        ratio = np.exp(-0.5 * scores**2 - 0.5 * math.log(2.0 * math.pi) - log_ndtr(sign * scores))
        return float(people @ log_ndtr(sign * scores)), people * sign * ratio
    value, gradient = group_gradient(np.repeat(scores, people), np.repeat(reports.units[rows], people), evidence)
    return value, np.add.reduceat(gradient, np.concatenate([[0], np.cumsum(people)[:-1]]))


def _exact_shares(
    reports: Reports, rows: slice, scores: np.ndarray, evidence: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    people = reports.counts[rows]
    law = np.zeros(1)
    for f, unit in zip(np.repeat(scores, people), np.repeat(reports.units[rows], people), strict=True):
        nothing = np.full(unit, -np.inf)
        law = np.logaddexp(
            np.concatenate([law + log_ndtr(-f), nothing]), np.concatenate([nothing, law + log_ndtr(f)])
        )
    joint = law + evidence
    return np.arange(len(joint)) / (len(joint) - 1), np.exp(joint - logsumexp(joint))


class _CountGiven(NamedTuple):
    log_likelihood: float
    mean: float
    variance: float


def _count_moments(reports: Reports, rows: slice, scores: np.ndarray) -> tuple[float, float]:
    p, q, units = probability(scores), probability(-scores), reports.units[rows]
    people = reports.counts[rows]
    of_each = people * units**2 * inflation(people, float(reports.correlation[0]))
    return float((people * units) @ p), max(float(of_each @ (p * q)), LEAST_VARIANCE)


def _normal_given(mean: float, variance: float, nodes: np.ndarray, evidence: np.ndarray) -> _CountGiven:
    """Log probability of the evidence on a normal count, and mean and variance of the count given it.

    A listed count stands for all up to half-way to its neighbours, the first and the last for all beyond. Evidence
    that says nothing so has a probability of one, however few counts are listed and however narrow the law is.
    """
    deviation = math.sqrt(variance)
    edges = (np.concatenate([[-np.inf], 0.5 * (nodes[1:] + nodes[:-1]), [np.inf]]) - mean) / deviation
    distance = np.maximum(np.maximum(edges[:-1], -edges[1:]), 0.0)
    bound = evidence - 0.5 * distance**2
    best = float(bound.max())
    kept = bound > best - NEGLIGIBLE
    total, moment, second = _moments(edges[:-1][kept], edges[1:][kept], evidence[kept] - best)
    moment, second = moment / total, second / total
    return _CountGiven(best + math.log(total), mean + deviation * moment, variance * (second - moment**2))


def _moments(low: np.ndarray, high: np.ndarray, log_factor: np.ndarray) -> tuple[float, float, float]:
    """Integrate the standard normal density, it times x, and it times x^2, over intervals with a factor each."""
    with np.errstate(invalid="ignore"):
        width, x = high - low, 0.5 * (low + high)
        is_narrow = width * (1.0 + np.abs(x)) < NARROW
    at, step = x[is_narrow], width[is_narrow] ** 2 / 24.0
    area = width[is_narrow] * np.exp(log_factor[is_narrow] - 0.5 * at**2) / math.sqrt(2.0 * math.pi)
    mass = area * (1.0 + step * (at**2 - 1.0))
    first = area * (at + step * (at**3 - 3.0 * at))
    second = area * (at**2 + step * (at**4 - 5.0 * at**2 + 2.0))
    a, b, log_factor = low[~is_narrow], high[~is_narrow], log_factor[~is_narrow]
    at_a, at_b = np.exp(log_factor - 0.5 * a**2), np.exp(log_factor - 0.5 * b**2)
    tail_a, tail_b = at_a * _scaled_tail(a), at_b * _scaled_tail(b)
    between = np.exp(np.where((a < 0.0) & (b > 0.0), log_factor, -np.inf)) - tail_a - tail_b
    wide = np.where(a >= 0.0, tail_a - tail_b, np.where(b <= 0.0, tail_b - tail_a, between))
    slopes = (at_a - at_b) / math.sqrt(2.0 * math.pi)
    ends = (np.where(at_a > 0.0, a, 0.0) * at_a - np.where(at_b > 0.0, b, 0.0) * at_b) / math.sqrt(2.0 * math.pi)
    return (
        float(mass.sum() + wide.sum()),
        float(first.sum() + slopes.sum()),
        float(second.sum() + (wide + ends).sum()),
    )


def _scaled_tail(x: np.ndarray) -> np.ndarray:
    """Return the normal probability beyond |x|, over exp(-x^2 / 2)."""
    return 0.5 * erfcx(np.abs(x) / math.sqrt(2.0))


def _normal(
    reports: Reports, rows: slice, counts: slice, scores: np.ndarray, evidence: np.ndarray
) -> tuple[float, np.ndarray, float]:
    """Log likelihood of a normal count, and its gradient in f and in the overdispersion of cells."""
    value, by_mean, by_variance = _by_moments(reports, rows, counts, scores, evidence)
    p, q, units, people = probability(scores), probability(-scores), reports.units[rows], reports.counts[rows]
    spread = units * inflation(people, float(reports.correlation[0]))
    gradient = people * units * probability_slope(scores) * (by_mean + by_variance * spread * (q - p))
    return value, gradient, by_variance * float((people * (people - 1.0) * units**2) @ (p * q))


def _normal_change(
    reports: Reports, rows: slice, counts: slice, scores: np.ndarray, evidence: np.ndarray
) -> np.ndarray:
    """By how much the evidence on a normal count changes the expected labels of its rows."""
    _, by_mean, by_variance = _by_moments(reports, rows, counts, scores, evidence)
    p, q, units, people = probability(scores), probability(-scores), reports.units[rows], reports.counts[rows]
    correlation = float(reports.correlation[0])
    spread = units * inflation(people, correlation)
    skew = units**2 * skew_inflation(people, correlation)
    found: np.ndarray = p * q * (by_mean * spread + by_variance * skew * (q - p))
    return found


def _by_moments(
    reports: Reports, rows: slice, counts: slice, scores: np.ndarray, evidence: np.ndarray
) -> tuple[float, float, float]:
    """Log likelihood of a normal count, and its derivatives in the mean and in the variance."""
    mean, variance = _count_moments(reports, rows, scores)
    after = _normal_given(mean, variance, reports.nodes[counts], evidence)
    by_mean = (after.mean - mean) / variance
    by_variance = 0.5 * ((after.variance + (after.mean - mean) ** 2) / variance - 1.0) / variance
    return after.log_likelihood, by_mean, by_variance
