"""What the groups report, as arrays: the law of each group's count, and its evidence at several powers."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from disaggregate.groups.evidence import Population
from disaggregate.groups.grouped import GroupedData
from disaggregate.model.powers import at_powers, log_maxima, nearest_allowed

# How a group's count of positives is treated. EXACT: as the Poisson-binomial sum that it is. NOTHING: the same,
# but there is no evidence on it. NORMAL: as a normal count with the right mean and variance, where the exact
# programme would have too many states.
NOTHING, EXACT, NORMAL = 0, 1, 2

# Of reports on several outcomes: the rows are a sample of a population that the report describes.
SAMPLE = 3

# States of the exact programme, people times counts, up to which it is used: of rows that are people; and of
# cells, where groups mostly have intercepts, and it runs at every node of the integral over them.
MOST_STATES = 2**18
MOST_STATES_OF_CELLS = 2**12

# Weight that the others of a sample have at least when one person is left out.
LEAST_LEFT = 1e-9


class Reports(NamedTuple):
    """What the groups report, end to end; arrays with a first axis of rungs hold the evidence at several powers.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_groups + 1,)
        Where each group starts among the sorted rows.
    law : ndarray of int, shape (n_groups,)
        NOTHING, EXACT or NORMAL.
    units, counts : ndarray of int, shape (n_rows,)
        By how much each positive person of a row adds to the count, and how many people the row stands for.
    starts : ndarray of int, shape (n_groups + 1,)
        Where each group's counts start.
    nodes : ndarray of shape (n_counts,)
        The counts that are listed.
    log_likelihood, likelihood : ndarray of shape (n_rungs, n_counts)
        Evidence of each group over its counts, scaled to a largest likelihood of 1.
    fewest, most : ndarray of int, shape (n_rungs, n_groups)
        The least and the greatest count that each group's evidence allows.
    total : ndarray of int, shape (n_groups,)
        Largest count of each group.
    is_bound : ndarray of int, shape (n_groups,)
        Whether the evidence only bounds a count whose law is normal.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence, from 1 down.
    is_sample : ndarray of int, shape (n_groups,)
        Whether the report is the share of a population of which the rows are a sample.
    share, size, sampled, effective : ndarray of shape (n_groups,)
        That share, the size of the population (infinite where unknown), the number of sampled people, and what
        their weights leave of it (Kish). The share of other groups is that of the count that suits their evidence
        best.
    weight, pooled : ndarray of shape (n_rows,)
        Share of each row in its group's sample, and in all samples together; 0 in other groups.
    jackknife : ndarray of shape (n_rows,)
        What the squared distance of a row from its group's mean adds to the sum of squares within groups: the
        number of people in the row where weights are equal; else so much that the variance of the mean which
        follows, the sum over n (n - 1), is that of the jackknife.
    tally_starts : ndarray of int, shape (n_groups + 1,)
        Where the tallies of each group's share start.
    capacity : ndarray of int, shape (5,)
        People and counts of the largest group whose counts are listed; people times counts of the largest with an
        exact law; how many groups are samples; and whether any row stands for several people.
    correlation : ndarray of shape (1,)
        How alike people of one cell are in groups whose law is normal; see :mod:`disaggregate.model.cells`.
    """

    offsets: np.ndarray
    law: np.ndarray
    units: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    nodes: np.ndarray
    log_likelihood: np.ndarray
    likelihood: np.ndarray
    fewest: np.ndarray
    most: np.ndarray
    total: np.ndarray
    is_bound: np.ndarray
    powers: np.ndarray
    is_sample: np.ndarray
    share: np.ndarray
    size: np.ndarray
    sampled: np.ndarray
    effective: np.ndarray
    weight: np.ndarray
    pooled: np.ndarray
    jackknife: np.ndarray
    tally_starts: np.ndarray
    capacity: np.ndarray
    correlation: np.ndarray


def make_reports(data: GroupedData, powers: np.ndarray | None = None) -> Reports:
    """Lay out what the groups report; :func:`log_maxima` says what the scaling took away.

    Parameters
    ----------
    data : GroupedData
        Groups and evidence.
    powers : ndarray, optional
        Powers of the evidence; only the evidence itself by default.
    """
    powers = np.ones(1) if powers is None else np.asarray(powers, dtype=np.float64)
    starts = data.starts
    nodes = _nodes(data)
    log_likelihood = data.log_likelihood - np.repeat(log_maxima(data), np.diff(starts))
    law = _laws(data, log_likelihood)
    people = data.people
    capacity = [np.where(law != NORMAL, values, 0).max() for values in (people, data.totals + 1)]
    capacity.append(np.where(law == EXACT, (people + 1) * (data.totals + 1), 0).max())
    counts = np.ones_like(data.units) if data.counts is None else data.counts
    capacity += [sum(known is not None for known in data.populations), (counts > 1).any()]
    base = Reports(
        offsets=data.offsets.astype(np.int64),
        law=law,
        units=data.units,
        counts=counts,
        starts=starts.astype(np.int64),
        nodes=nodes.astype(np.float64),
        log_likelihood=log_likelihood[None],
        likelihood=np.exp(log_likelihood)[None],
        fewest=_ends(nodes, log_likelihood, starts, 0)[None],
        most=_ends(nodes, log_likelihood, starts, -1)[None],
        total=data.totals,
        is_bound=_bounds(law, log_likelihood, starts),
        powers=np.ones(1),
        share=_shares(data, _best_shares(data, nodes, log_likelihood)),
        **sample_arrays(data, counts),
        tally_starts=data.tally_starts.astype(np.int64),
        capacity=np.array(capacity, dtype=np.int64),
        correlation=np.zeros(1),
    )
    return with_powers(base, powers)


def with_powers(reports: Reports, powers: np.ndarray) -> Reports:
    """Raise the evidence to several powers.

    See :mod:`disaggregate.model.powers`. The likelihood of a population's share is raised where it is computed.

    Parameters
    ----------
    reports : Reports
        With the evidence itself on the first rung.
    powers : ndarray of shape (n_rungs,)
        From 1, the evidence itself, down to 0, no evidence.
    """
    base, powers = reports.log_likelihood[0], np.asarray(powers, dtype=np.float64)
    if np.array_equal(powers, [1.0]):
        one = {name: getattr(reports, name)[:1] for name in ("log_likelihood", "likelihood", "fewest", "most")}
        return reports._replace(**one, powers=powers)
    nearest, distance = _nearest_allowed(reports)
    log_likelihood = at_powers(base, powers, nearest, distance)
    is_whole = (powers == 1.0)[:, None]
    return reports._replace(
        log_likelihood=log_likelihood,
        likelihood=np.exp(log_likelihood),
        fewest=np.where(is_whole, reports.fewest[0], 0),
        most=np.where(is_whole, reports.most[0], reports.total),
        powers=powers,
    )


def with_correlation(reports: Reports, correlation: float) -> Reports:
    """Return reports with another overdispersion of cells."""
    return reports._replace(correlation=np.array([correlation]))


def has_alike_cells(reports: Reports) -> bool:
    """Return whether any report depends on the overdispersion of cells: one whose count is not summed exactly."""
    largest = np.maximum.reduceat(reports.counts, reports.offsets[:-1])
    return bool(((reports.law == NORMAL) & (reports.is_sample == 0) & (largest > 1)).any())


def run_of_groups(reports: Reports, first: int, last: int) -> Reports:
    """Take the reports of some groups that follow each other."""
    rows = slice(int(reports.offsets[first]), int(reports.offsets[last]))
    counts = slice(int(reports.starts[first]), int(reports.starts[last]))
    groups = slice(first, last)
    return Reports(
        offsets=reports.offsets[first : last + 1] - rows.start,
        starts=reports.starts[first : last + 1] - counts.start,
        tally_starts=reports.tally_starts[first : last + 1] - reports.tally_starts[first],
        powers=reports.powers,
        capacity=reports.capacity,
        correlation=reports.correlation,
        **{name: getattr(reports, name)[rows] for name in ("units", "counts", "weight", "pooled", "jackknife")},
        nodes=reports.nodes[counts],
        **{name: getattr(reports, name)[:, counts] for name in ("log_likelihood", "likelihood")},
        **{name: getattr(reports, name)[:, groups] for name in ("fewest", "most")},
        **{name: getattr(reports, name)[groups] for name in ("law", "total", "is_bound", "is_sample")},
        **{name: getattr(reports, name)[groups] for name in ("share", "size", "sampled", "effective")},
    )


def _nodes(data: GroupedData) -> np.ndarray:
    if data.nodes is not None:
        return data.nodes
    lengths = np.diff(data.starts)
    return np.arange(data.starts[-1]) - np.repeat(data.starts[:-1], lengths)


def _laws(data: GroupedData, log_likelihood: np.ndarray) -> np.ndarray:
    starts = data.starts
    is_uninformative = np.minimum.reduceat(log_likelihood, starts[:-1]) == 0.0
    most = MOST_STATES if data.counts is None else MOST_STATES_OF_CELLS
    is_small = (np.diff(starts) == data.totals + 1) & (data.people * (data.totals + 1) <= most)
    return np.where(~is_small, NORMAL, np.where(is_uninformative, NOTHING, EXACT)).astype(np.int64)


def _bounds(law: np.ndarray, log_likelihood: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Find evidence that gives the same likelihood to all counts that it allows."""
    is_flat = [values[np.isfinite(values)].min() == 0.0 for values in _split(log_likelihood, starts)]
    is_wide = [np.isfinite(values).sum() > 1 for values in _split(log_likelihood, starts)]
    return ((law == NORMAL) & is_flat & is_wide).astype(np.int64)


def _ends(nodes: np.ndarray, log_likelihood: np.ndarray, starts: np.ndarray, which: int) -> np.ndarray:
    parts = zip(_split(nodes, starts), _split(log_likelihood, starts), strict=True)
    return np.array([own[np.flatnonzero(np.isfinite(values))[which]] for own, values in parts], dtype=np.int64)


def _best_shares(data: GroupedData, nodes: np.ndarray, log_likelihood: np.ndarray) -> np.ndarray:
    parts = zip(_split(nodes, data.starts), _split(log_likelihood, data.starts), strict=True)
    return np.array([own[np.argmax(values)] for own, values in parts]) / np.maximum(data.totals, 1)


def _shares(data: GroupedData, best: np.ndarray) -> np.ndarray:
    """Share of each population, or that of the count that suits the evidence best."""
    pairs = zip(data.populations, best, strict=True)
    return np.array([other if known is None else known.share for known, other in pairs])


def sample_arrays(data: GroupedData, counts: np.ndarray) -> dict[str, np.ndarray]:
    """Lay out which groups are samples, and how much their rows count; see :class:`Reports`.

    Parameters
    ----------
    data : GroupedData
        Groups and evidence.
    counts : ndarray of int, shape (n_rows,)
        How many people each row stands for.
    """
    populations = data.populations
    is_sample = np.array([population is not None for population in populations])
    represented = counts * (1.0 if data.weights is None else data.weights) * np.repeat(is_sample, data.sizes)
    total = np.add.reduceat(represented, data.offsets[:-1])
    squares = np.add.reduceat(np.divide(represented**2, counts), data.offsets[:-1])
    own = np.where(is_sample, total, 1.0)
    weight = represented / np.repeat(own, data.sizes)
    sampled = np.add.reduceat(np.where(represented > 0.0, counts, 0), data.offsets[:-1])
    return {
        "is_sample": is_sample.astype(np.int64),
        "size": np.array([_size(known) for known in populations]),
        "sampled": sampled.astype(np.float64),
        "effective": np.divide(total**2, squares, out=np.ones(len(own)), where=squares > 0.0),
        "weight": weight,
        "jackknife": _jackknife(weight, counts, np.repeat(sampled, data.sizes)),
        "pooled": represented / max(float(represented.sum()), 1e-300),
    }


def _jackknife(weight: np.ndarray, counts: np.ndarray, sampled: np.ndarray) -> np.ndarray:
    """See :class:`Reports`; a mean without one person differs by w / (1 - w) times that person's distance."""
    each = weight / counts
    return counts * (np.maximum(sampled - 1, 0) * each / np.maximum(1.0 - each, LEAST_LEFT)) ** 2


def _size(population: Population | None) -> float:
    """Return the size of a population as a number of one type, or compiled code would be compiled once more."""
    return math.inf if population is None or population.size is None else float(population.size)


def _split(values: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    return [values[start:stop] for start, stop in pairwise(starts)]


def _nearest_allowed(reports: Reports) -> tuple[np.ndarray, np.ndarray]:
    """For each count, where the nearest count is that its group's evidence allows, and how many people away."""
    nearest, distance = nearest_allowed(reports.starts, reports.nodes, reports.log_likelihood[0])
    n_counts, people = np.diff(reports.starts), np.add.reduceat(reports.counts, reports.offsets[:-1])
    return nearest, distance * np.repeat(people, n_counts) / np.repeat(reports.total, n_counts)
