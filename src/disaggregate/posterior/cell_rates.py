"""Rates of cells given the report of their group, with overdispersion.

Given p of each cell and the correlation of its people (:mod:`disaggregate.model.cells`), the counts of the cells
are beta-binomial, and add up to the count that the group reports. They are drawn one cell after the other: the
count of all others together is taken to be beta-binomial, too, with the right mean and variance. With two cells
that is exact. No draw leaves what the report allows (the method of bounds).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from disaggregate.groups.grouped import GroupedData
from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.model.cells import inflation
from disaggregate.posterior.batches import Probability, batch_size, checked_draws
from disaggregate.posterior.mixture import Posterior

FloatArray = NDArray[np.float64]

# Counts that are looked at for one cell, over so many standard deviations to both sides.
_POINTS, _REACH = 49, 5.0

# Evidence on a count that is less probable than the best one by this exponent has no weight.
_NEGLIGIBLE = 30.0

# Correlations below this are negligible; the bound keeps precisions finite.
_LEAST, _MOST = 1e-9, 1.0 - 1e-9


@dataclass(frozen=True)
class OwnCells:
    """The groups of the rows of a table, and what those report whose cells are all there.

    Attributes
    ----------
    groups : list of ndarray of int
        Rows of each group.
    reports : list of (ndarray, ndarray) or None
        Counts that each group may have, and their log-likelihood; None where nothing is known of these people.
    counts : ndarray of int, shape (n_rows,)
        People per row.
    correlation : ndarray of shape (n_draws,)
        Correlation of two people of one cell in each draw.
    """

    groups: list[NDArray[np.intp]]
    reports: list[tuple[FloatArray, FloatArray] | None]
    counts: NDArray[np.int64]
    correlation: FloatArray

    def before_reports(self, correlation: FloatArray) -> OwnCells:
        """Return the same before any report was seen."""
        return replace(self, reports=[None] * len(self.groups), correlation=correlation)


def own_cells(
    posterior: Posterior, data: GroupedData, ids: Sequence[Hashable], counts: NDArray[np.int64]
) -> OwnCells | None:
    """Find the groups of some cells; None where the overdispersion of cells was not learned.

    Parameters
    ----------
    posterior : Posterior
        Draws.
    data : GroupedData
        Groups and evidence of the fit.
    ids : sequence of hashable
        Group of each row, None where it is missing.
    counts : ndarray of int, shape (n_rows,)
        People per row.
    """
    correlation = posterior.correlation
    if correlation is None or isinstance(data, GroupedOutcomes):
        return None
    number_of = {name: number for number, name in enumerate(data.names)}
    group = np.array([number_of.get(name, len(number_of)) for name in ids], dtype=np.intp)
    order = np.argsort(group, kind="stable")
    numbers, first = np.unique(group[order], return_index=True)
    rows = np.split(order, first[1:])
    reports = [_report(data, int(number), counts[own]) for number, own in zip(numbers, rows, strict=True)]
    return OwnCells(rows, reports, counts, correlation)


def _report(data: GroupedData, number: int, counts: NDArray[np.int64]) -> tuple[FloatArray, FloatArray] | None:
    """Return what a group reports of the count of its people, if these are all of them."""
    if number == len(data.names) or data.populations[number] is not None:
        return None
    if data.evidence[number].is_uninformative or counts.sum() != data.totals[number]:
        return None
    own = slice(*data.starts[number : number + 2])
    evidence = data.log_likelihood[own]
    nodes = np.arange(len(evidence)) if data.nodes is None else data.nodes[own]
    return nodes.astype(np.float64), evidence - evidence.max()


def rates_of_cells(
    probability: Probability, cells: OwnCells, rng: np.random.Generator, outcomes: bool
) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
    """Go through the cells, whole groups at a time; yield rows, and the rate of each in each draw.

    Parameters
    ----------
    probability : callable
        From rows to their probabilities in each draw, before cells differ.
    cells : OwnCells
        Groups and reports.
    rng : numpy.random.Generator
        Draws.
    outcomes : bool
        Whether to draw the share of positives among exactly these people, not the rate that it comes from.
    """
    first, n_draws = 0, None
    while first < len(cells.groups):
        last, n_rows = first + 1, len(cells.groups[first])
        while last < len(cells.groups) and n_rows + len(cells.groups[last]) <= batch_size(n_draws):
            n_rows += len(cells.groups[last])
            last += 1
        rows = np.concatenate(cells.groups[first:last])
        draws = checked_draws(probability, rows, len(rows), n_draws)
        n_draws, start = len(draws), 0
        for group in range(first, last):
            own = slice(start, start + len(cells.groups[group]))
            counts = cells.counts[cells.groups[group]].astype(np.float64)
            draws[:, own] = _rates(draws[:, own], counts, cells.reports[group], cells.correlation, rng, outcomes)
            start = own.stop
        yield rows, draws
        first = last


def _rates(
    p: FloatArray,
    people: FloatArray,
    report: tuple[FloatArray, FloatArray] | None,
    correlation: FloatArray,
    rng: np.random.Generator,
    outcomes: bool,
) -> FloatArray:
    rho = np.clip(correlation, _LEAST, _MOST)[:, None]
    precision, p = 1.0 / rho - 1.0, np.clip(p, _LEAST, _MOST)
    if report is None:
        rate = rng.beta(p * precision, (1.0 - p) * precision)
        return rng.binomial(people.astype(np.int64), rate) / np.maximum(people, 1.0) if outcomes else rate
    positives = np.zeros_like(p)
    some = people > 0.0
    positives[:, some] = draw_counts(p[:, some], people[some], report, rho, rng)
    if outcomes:
        return positives / np.maximum(people, 1.0)
    return rng.beta(p * precision + positives, (1.0 - p) * precision + people - positives)


def draw_counts(
    p: FloatArray,
    people: FloatArray,
    report: tuple[FloatArray, FloatArray],
    rho: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw the positives of each cell of one group, shape (n_draws, n_cells), given what it reports.

    Parameters
    ----------
    p : ndarray of shape (n_draws, n_cells)
        Expected rates.
    people : ndarray of shape (n_cells,)
        People per cell.
    report : tuple of ndarray
        Counts that the group may have, and their log-likelihood.
    rho : ndarray of shape (n_draws, 1)
        Correlation of two people of one cell.
    rng : numpy.random.Generator
        Draws.
    """
    mean, variance = people * p, people * p * (1.0 - p) * np.stack([inflation(people, r) for r in rho[:, 0]])
    left = _draw_total(mean.sum(axis=1), variance.sum(axis=1), report, rng)
    found = np.empty_like(p)
    for cell in range(len(people) - 1):
        rest = slice(cell + 1, None)
        others = people[rest].sum()
        own_law = _Law(people[cell], p[:, cell], rho[:, 0])
        rest_law = _Law.with_moments(others, mean[:, rest].sum(axis=1), variance[:, rest].sum(axis=1))
        low, high = np.maximum(0.0, left - others), np.minimum(people[cell], left)
        total = variance[:, cell] + variance[:, rest].sum(axis=1)
        share = variance[:, cell] / np.maximum(total, _LEAST)
        center = mean[:, cell] + share * (left - mean[:, cell:].sum(axis=1))
        width = np.sqrt(variance[:, cell] * (1.0 - share))
        found[:, cell] = _draw_between(low, high, center, width, own_law, rest_law, left, rng)
        left = left - found[:, cell]
    found[:, -1] = left
    return found


@dataclass(frozen=True)
class _Law:
    """A beta-binomial law of a count in each draw, the parameters along the first axis."""

    people: float
    p: FloatArray
    rho: FloatArray

    @classmethod
    def with_moments(cls, people: float, mean: FloatArray, variance: FloatArray) -> _Law:
        p = np.clip(mean / people, _LEAST, _MOST)
        excess = variance / (people * p * (1.0 - p)) - 1.0
        return cls(people, p, np.clip(excess / max(people - 1.0, 1.0), _LEAST, _MOST))

    def log_density(self, count: FloatArray) -> FloatArray:
        """Up to a constant, at counts of shape (n_draws, n_counts)."""
        precision = (1.0 / self.rho - 1.0)[:, None]
        a, b = self.p[:, None] * precision, (1.0 - self.p[:, None]) * precision
        other = self.people - count
        value = gammaln(count + a) - gammaln(count + 1.0) + gammaln(other + b) - gammaln(other + 1.0)
        return np.asarray(value)


def _draw_between(
    low: FloatArray,
    high: FloatArray,
    center: FloatArray,
    width: FloatArray,
    own: _Law,
    rest: _Law,
    total: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw one cell's count: whole ones where there are few, else around where it probably is."""
    every = np.arange(len(low))
    if np.max(high - low) < _POINTS:
        counts = low[:, None] + np.arange(_POINTS)
        is_there = counts <= high[:, None]
        counts = np.minimum(counts, high[:, None])
        apart = np.zeros(len(low))
    else:
        first = np.clip(center - _REACH * width, low, high)
        last = np.clip(center + _REACH * width, low, high)
        counts = first[:, None] + (last - first)[:, None] * (np.arange(_POINTS) + 0.5) / _POINTS
        is_there = np.ones_like(counts, dtype=bool)
        apart = (last - first) / _POINTS
    log_mass = own.log_density(counts) + rest.log_density(total[:, None] - counts)
    log_mass = np.where(is_there, log_mass, -np.inf)
    chosen = _choose(log_mass, rng)
    return np.clip(counts[every, chosen] + apart * (rng.random(len(low)) - 0.5), low, high)


def _draw_total(
    mean: FloatArray, variance: FloatArray, report: tuple[FloatArray, FloatArray], rng: np.random.Generator
) -> FloatArray:
    """Draw the count of the group, normal before the report; a listed one stands for all that are near it."""
    nodes, evidence = report
    edges = np.concatenate([[-np.inf], 0.5 * (nodes[1:] + nodes[:-1]), [np.inf]])
    kept = np.flatnonzero(evidence > -_NEGLIGIBLE)
    if len(kept) == 1:
        return np.full(len(mean), nodes[kept[0]])
    deviation = np.sqrt(np.maximum(variance, _LEAST))[:, None]
    below, above = ((edges[kept + side] - mean[:, None]) / deviation for side in (0, 1))
    swap = below > 0.0
    mass = np.where(swap, ndtr(-below) - ndtr(-above), ndtr(above) - ndtr(below))
    distance = np.maximum(np.maximum(below, -above), 0.0)
    with np.errstate(divide="ignore"):
        log_mass = np.where(mass > 0.0, np.log(mass), -0.5 * distance**2 - 700.0) + evidence[kept]
    return nodes[kept[_choose(log_mass, rng)]]


def _choose(log_mass: FloatArray, rng: np.random.Generator) -> NDArray[np.intp]:
    """Choose one of the columns in each row."""
    mass = np.cumsum(np.exp(log_mass - log_mass.max(axis=1, keepdims=True)), axis=1)
    chosen = np.sum(mass < rng.random((len(mass), 1)) * mass[:, -1:], axis=1)
    return np.asarray(chosen, dtype=np.intp)
