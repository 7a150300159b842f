"""Individuals sorted by group, with the evidence of each group beside them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from disaggregate.groups.evidence import Evidence, Population
from disaggregate.groups.units import effective_size, largest_rounding_error, whole_units

# Into how many steps shares are cut where counts are not listed.
SHARE_STEPS = 1000

# Where rows stand for many, about so many counts of a large group are listed: a report's weight is cut into pieces
# of 0.04 standard deviations, or, where it does not say how far it reaches, all counts into finer ones.
_LISTED = 600
_LISTED_OF_ALL = 2000


@dataclass(frozen=True)
class GroupedData:
    """Rows sorted by group; group j holds sorted rows ``offsets[j]:offsets[j + 1]``.

    Attributes
    ----------
    names : tuple
        Group ids, in the order in which the caller's rows first name them.
    evidence : tuple of Evidence
        What is known of each group.
    offsets : ndarray of shape (n_groups + 1,)
        Where each group starts among the sorted rows.
    order : ndarray of shape (n_rows,)
        The caller's row of each sorted row; members keep the caller's order inside their group.
    units : ndarray of int, shape (n_rows,)
        How much each sorted row counts: 1, or its survey weight in whole units.
    log_likelihood : ndarray of shape (sum of units + n_groups,)
        The groups' evidence vectors end to end, over counts of units; group j's starts at ``starts[j]``.
    rounding_error : float
        By how much the rounding of survey weights to units can move a group's share at most.
    counts : ndarray of int, shape (n_rows,), or None
        How many people each sorted row stands for, where rows are cells of a table.
    weights : ndarray of shape (n_rows,), or None
        Survey weights of the sorted rows, for groups that are samples of a population.
    nodes : ndarray of int, shape (length of log_likelihood,), or None
        The count of each entry of ``log_likelihood`` where it lists only some of a large group's counts; None
        where it lists all counts from 0.
    lengths : ndarray of int, shape (n_groups,), or None
        How many entries each group has, where that is not all of its counts.
    steps : ndarray of int, shape (n_groups,), or None
        Into how many steps the share of each group is cut where its draws are tallied; None for all of its counts.
    """

    names: tuple[Hashable, ...]
    evidence: tuple[Evidence, ...]
    offsets: np.ndarray
    order: np.ndarray
    units: np.ndarray
    log_likelihood: np.ndarray
    rounding_error: float = 0.0
    counts: np.ndarray | None = None
    weights: np.ndarray | None = None
    nodes: np.ndarray | None = None
    lengths: np.ndarray | None = None
    steps: np.ndarray | None = None

    @property
    def sizes(self) -> np.ndarray:
        """Number of rows of each group."""
        return np.diff(self.offsets)

    @property
    def people(self) -> np.ndarray:
        """Number of people of each group: of rows, unless they stand for many."""
        return self.sizes if self.counts is None else np.add.reduceat(self.counts, self.offsets[:-1])

    @property
    def totals(self) -> np.ndarray:
        """Largest count of each group: its number of people, but for survey weights."""
        counted = self.units if self.counts is None else self.units * self.counts
        return np.add.reduceat(counted, self.offsets[:-1])

    @property
    def row_weights(self) -> np.ndarray:
        """How much each sorted row counts in its group's averages: by people and survey weight."""
        weight = self.units if self.weights is None else self.units * self.weights
        return weight * (1.0 if self.counts is None else self.counts)

    @property
    def starts(self) -> np.ndarray:
        """Where each group's counts start in ``log_likelihood``, and where the last one's end."""
        return np.concatenate([[0], np.cumsum(self.totals + 1 if self.lengths is None else self.lengths)])

    @property
    def populations(self) -> list[Population | None]:
        """The population of which each group is a sample, if it is one."""
        return [report.population for report in self.evidence]

    @property
    def rows_stand_for_places(self) -> bool:
        """Whether rows are samples or cells of places, and not all people of groups, one by one."""
        return self.counts is not None or any(population is not None for population in self.populations)

    @property
    def tally_starts(self) -> np.ndarray:
        """Where the tallies of each group's share start, and where the last one's end."""
        return np.concatenate([[0], np.cumsum((self.totals if self.steps is None else self.steps) + 1)])

    @property
    def reported_shares(self) -> np.ndarray:
        """The share that each group reports, NaN where its evidence states none."""
        pairs = zip(self.evidence, self.people, strict=True)
        return np.array([evidence.reported_share(int(n)) for evidence, n in pairs])

    @property
    def ids(self) -> list[Hashable]:
        """The group of each of the caller's rows."""
        indices = self.in_caller_order(np.repeat(np.arange(len(self.names)), self.sizes))
        return [self.names[index] for index in indices]

    def in_caller_order(self, sorted_values: np.ndarray) -> np.ndarray:
        """Take one value per sorted row back to the caller's order of rows."""
        values = np.empty_like(sorted_values)
        values[self.order] = sorted_values
        return values


def group_rows(
    ids: Sequence[Hashable],
    evidence_by_group: Mapping[Hashable, Evidence],
    weights: np.ndarray | None = None,
    counts: np.ndarray | None = None,
) -> GroupedData:
    """Sort rows by group and lay out the evidence.

    Parameters
    ----------
    ids : sequence of hashable
        The group of each row.
    evidence_by_group : mapping
        Evidence of every group in ``ids``.
    weights : ndarray of shape (n_rows,), optional
        Positive survey weights: a group's share is then the weighted share of its members, or they say how much
        each stands for in the population of which they are a sample.
    counts : ndarray of int, shape (n_rows,), optional
        How many people each row stands for.
    """
    code_of: dict[Hashable, int] = {}
    codes = np.array([code_of.setdefault(group, len(code_of)) for group in ids])
    names = tuple(code_of)
    evidence = tuple(evidence_by_group[name] for name in names)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    order = np.argsort(codes, kind="stable")
    is_sample = np.array([report.population is not None for report in evidence])
    has_no_units = is_sample | np.array([counts is not None and report.is_uninformative for report in evidence])
    members = [
        _members(bare, *parts)
        for bare, *parts in zip(
            has_no_units, _by_group(weights, order, offsets), _by_group(counts, order, offsets), np.diff(offsets),
            strict=True,
        )
    ]  # fmt: skip
    for name, own in zip(names, members, strict=True):
        _require_one_meaning(name, own)
    vectors = _evidence_vectors(names, evidence, members)
    nodes = np.concatenate([nodes for nodes, _ in vectors])
    lengths = np.array([len(nodes) for nodes, _ in vectors])
    is_listed = all(len(known) == own.total + 1 for (known, _), own in zip(vectors, members, strict=True))
    totals = np.array([own.total for own in members])
    is_cut = is_sample | (lengths != totals + 1)
    return GroupedData(
        names=names,
        evidence=evidence,
        offsets=offsets,
        order=order,
        units=np.concatenate([own.units for own in members]),
        log_likelihood=np.concatenate([values for _, values in vectors]),
        rounding_error=max((own.rounding_error for own in members), default=0.0),
        counts=None if counts is None else counts[order],
        weights=None if weights is None or not is_sample.any() else weights[order],
        nodes=None if is_listed else nodes,
        lengths=None if is_listed else lengths,
        steps=np.where(is_cut, SHARE_STEPS, totals) if is_cut.any() else None,
    )


@dataclass(frozen=True)
class _Members:
    """How much the rows of one group count: units of their share, people, and effective number."""

    units: np.ndarray
    counts: np.ndarray
    effective: float
    rounding_error: float

    @property
    def total(self) -> int:
        return int(self.units @ self.counts)


def _members(has_no_units: bool, weights: np.ndarray | None, counts: np.ndarray | None, n_rows: int) -> _Members:
    people = np.ones(n_rows, dtype=np.int64) if counts is None else counts
    if weights is None or has_no_units:
        units = np.ones(n_rows, dtype=np.int64)
        return _Members(units, people, float(people.sum()), 0.0)
    units = whole_units(weights)
    effective = float(n_rows) if (units == 1).all() else effective_size(weights)
    return _Members(units, people, effective, largest_rounding_error(weights, units))


def _require_one_meaning(name: Hashable, members: _Members) -> None:
    if (members.counts > 1).any() and (members.units > 1).any():
        raise ValueError(
            f"group {name!r} has both counts and unequal sample_weight, but its report is about its own people: "
            "a cell of several people with a weight has two meanings. Give one of the two, or a Population if the "
            "cells are a sample."
        )


def _by_group(values: np.ndarray | None, order: np.ndarray, offsets: np.ndarray) -> list[np.ndarray | None]:
    if values is None:
        return [None] * (len(offsets) - 1)
    return list(np.split(values[order], offsets[1:-1]))


def _evidence_vectors(
    names: tuple[Hashable, ...], evidence: tuple[Evidence, ...], members: Sequence[_Members]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """List counts and their log likelihoods; equal reports on groups of one size are worked out once."""
    known: dict[tuple[Evidence, int, float, bool], tuple[np.ndarray, np.ndarray]] = {}
    vectors = []
    for name, report, own in zip(names, evidence, members, strict=True):
        # Only a table of cells has more counts than memory for its rows would hold.
        is_large = own.total > _LISTED and bool((own.counts > 1).any())
        key = (report, own.total, own.effective, is_large)
        if key not in known:
            nodes = _some_counts(report, own.total) if is_large else np.arange(own.total + 1)
            known[key] = nodes, _checked_vector(name, report, own, nodes)
        vectors.append(known[key])
    return vectors


def _some_counts(report: Evidence, n: int) -> np.ndarray:
    """Choose counts of a large group: many where the report has its weight, some elsewhere.

    Each stands for all up to half-way to its neighbours, so the counts just outside are listed as well.
    """
    low, high = report.support(n)
    most = _LISTED_OF_ALL if (low, high) == (0, n) else _LISTED
    inside = np.linspace(low, high, min(most, high - low + 1))
    beside = [max(low - 1, 0), min(high + 1, n)]
    chosen = np.concatenate([inside, beside, np.linspace(0, n, _LISTED // 4)])
    return np.unique(np.rint(chosen).astype(np.int64))


def _checked_vector(name: Hashable, report: Evidence, members: _Members, nodes: np.ndarray) -> np.ndarray:
    n = members.total
    try:
        if n != members.effective:
            given = report.weighted_log_likelihood(n, members.effective)
        else:
            given = report.log_likelihood(n) if len(nodes) == n + 1 else report.log_likelihood_at(nodes, n)
        vector = np.asarray(given, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"group {name!r}: {error}") from error
    if vector.shape != nodes.shape or np.isnan(vector).any() or not np.isfinite(vector.max()):
        raise ValueError(
            f"group {name!r}: {report!r} must give one log likelihood for each count from 0 to {n}, "
            f"no NaN and at least one finite; it gave {vector!r}."
        )
    return vector
