"""What the groups report of several outcomes, as arrays: the law of each group's counts and its evidence."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from disaggregate.groups.outcomes import GroupedOutcomes
from disaggregate.model.count_vectors import Lattice, allowed_counts, make_lattice
from disaggregate.model.outcome_categories import categories_of, largest_last
from disaggregate.model.reports import EXACT, NORMAL, NOTHING, SAMPLE

# Nodes of all groups' lattices together up to which the exact law is used, the smallest first: so many per row,
# at some 10 nanoseconds per node and outcome, and no fewer than in a small problem take no time. Where intercepts
# of groups are integrated out, a gradient passes them some twenty times: then only groups of some 35 people, with
# three outcomes, or fewer have it.
_NODES_PER_ROW = 128
FEWEST_OF_ALL = 2**16
_FEWER_WITH_PLACES = 4
_LARGEST_WITH_PLACES = 2**11

# Reported people of each outcome from which the curvature at the mode says how wide the density of a group's
# offsets is.
FEWEST_OF_LARGE = 20.0


class OutcomeReports(NamedTuple):
    """What the groups report, end to end.

    Outcomes that a report does not distinguish are one category of it.

    Attributes
    ----------
    offsets : ndarray of int, shape (n_groups + 1,)
        Where each group starts among the sorted rows.
    counts : ndarray of int, shape (n_rows,)
        How many people each row stands for.
    law : ndarray of int, shape (n_groups,)
        NOTHING, EXACT, NORMAL or SAMPLE.
    category : ndarray of int, shape (n_groups, n_outcomes)
        Category of each outcome in each group's report.
    n_categories : ndarray of int, shape (n_groups,)
        How many there are.
    lattice : ndarray of int, shape (n_groups,)
        Which lattice each group has under the exact law.
    layers : ndarray of int
        Starts of the layers of all lattices, end to end.
    layer_starts : ndarray of int, shape (n_lattices + 1,)
        Where each lattice's begin.
    successor : ndarray of int, shape (n_nodes, n_outcomes)
        Successors of all nodes, counted from the first node of their lattice; -1 for none.
    final : ndarray of int, shape (n_final, n_outcomes)
        Count vectors of the last layers of all lattices, by category.
    final_starts : ndarray of int, shape (n_lattices + 1,)
        Where each lattice's begin.
    evidence_starts : ndarray of int, shape (n_groups + 1,)
        Where each group's log likelihoods begin.
    log_likelihood : ndarray
        Log likelihood of each group's allowed count vectors.
    reported : ndarray of shape (n_groups, n_outcomes)
        Reported counts by category, under the normal law.
    noise : ndarray of shape (n_groups, n_outcomes, n_outcomes)
        Covariance of their error.
    is_large : ndarray of bool, shape (n_groups,)
        Groups with the normal law whose reports tell all outcomes, none of them about few people.
    log_unit : ndarray of shape (n_groups,)
        Log of the unit of the report in counts, per category.
    tally_starts : ndarray of int, shape (n_groups * n_outcomes + 1,)
        Where the tallies of each group's share of each outcome start.
    capacity : ndarray of int, shape (2,)
        People and nodes of the largest group with an exact law.
    """

    offsets: np.ndarray
    counts: np.ndarray
    law: np.ndarray
    category: np.ndarray
    n_categories: np.ndarray
    lattice: np.ndarray
    layers: np.ndarray
    layer_starts: np.ndarray
    successor: np.ndarray
    final: np.ndarray
    final_starts: np.ndarray
    evidence_starts: np.ndarray
    log_likelihood: np.ndarray
    reported: np.ndarray
    noise: np.ndarray
    is_large: np.ndarray
    log_unit: np.ndarray
    tally_starts: np.ndarray
    capacity: np.ndarray

    @property
    def n_outcomes(self) -> int:
        """Number of outcomes."""
        return self.category.shape[1]


def make_outcome_reports(data: GroupedOutcomes, integrates_places: bool = False) -> OutcomeReports:
    """Lay out what the groups report.

    Parameters
    ----------
    data : GroupedOutcomes
        Groups and evidence.
    integrates_places : bool, default=False
        Whether intercepts of groups are integrated out: fewer groups then have the exact law.
    """
    capacity = max(FEWEST_OF_ALL, _NODES_PER_ROW * len(data.order))
    largest = capacity
    if integrates_places:
        capacity, largest = capacity // _FEWER_WITH_PLACES, _LARGEST_WITH_PLACES
    groups, tables = _exact_groups(data, capacity, largest)
    n_groups, n_outcomes = len(data.names), len(data.outcomes)
    law = np.full(n_groups, NOTHING)
    category = np.zeros((n_groups, n_outcomes), dtype=np.int64)
    n_categories = np.ones(n_groups, dtype=np.int64)
    lattice = np.zeros(n_groups, dtype=np.int64)
    reported, noise = np.zeros((n_groups, n_outcomes)), np.zeros((n_groups, n_outcomes, n_outcomes))
    log_unit, evidence = np.zeros(n_groups), []
    reports: tuple[Any, ...] = data.evidence
    for j, (report, n) in enumerate(zip(reports, data.people.tolist(), strict=True)):
        evidence.append(np.zeros(0))
        if report.population is not None:
            law[j] = SAMPLE
        if not _is_about_counts(report):
            continue
        category[j], has_rest = categories_of(report.named_outcomes, data.outcomes)
        n_categories[j] = len(report.named_outcomes) + has_rest
        normal = report.normal(n, has_rest)
        found = groups[j]
        if found is not None:
            law[j] = EXACT
            lattice[j], evidence[-1] = found
            if normal is None:
                width = n_categories[j]
                noise[j, :width, :width] = _covariance_of(tables[lattice[j]].final, evidence[-1])
        elif normal is None:
            raise ValueError(
                f"group {data.names[j]!r}: {type(report).__name__} leaves too many counts open in a group of {n} "
                f"with {n_outcomes} outcomes; give Shares or Counts, or cut the group into smaller ones."
            )
        else:
            law[j] = NORMAL
        if normal is not None:
            width = n_categories[j]
            reported[j, :width], noise[j, :width, :width], log_unit[j] = (
                normal.counts,
                normal.noise,
                normal.log_unit,
            )
            category[j], order = largest_last(category[j], reported[j], width) if law[j] == NORMAL else (
                category[j], np.arange(width)
            )  # fmt: skip
            reported[j, :width], noise[j, :width, :width] = (
                normal.counts[order],
                normal.noise[np.ix_(order, order)],
            )
    return OutcomeReports(
        offsets=data.offsets.astype(np.int64),
        counts=np.ones_like(data.units) if data.counts is None else data.counts.astype(np.int64),
        law=law.astype(np.int64),
        category=category,
        n_categories=n_categories,
        lattice=lattice,
        **_joined(tables, n_outcomes),
        evidence_starts=np.concatenate([[0], np.cumsum([len(own) for own in evidence])]).astype(np.int64),
        log_likelihood=np.concatenate(evidence),
        reported=reported,
        noise=noise,
        is_large=(law == NORMAL) & (n_categories == n_outcomes) & (reported.min(axis=1) >= FEWEST_OF_LARGE),
        log_unit=log_unit,
        tally_starts=data.tally_starts.astype(np.int64),
        capacity=np.array(
            [
                max((len(table.starts) - 2 for table in tables), default=1),
                max((int(table.starts[-1]) for table in tables), default=1),
            ],
            dtype=np.int64,
        ),
    )


def _covariance_of(counts: np.ndarray, log_likelihood: np.ndarray) -> np.ndarray:
    """Covariance of the counts that a report allows, each as probable as it is likely."""
    weight = np.exp(log_likelihood - log_likelihood.max())
    return np.cov(counts.T, aweights=weight, ddof=0)


def _exact_groups(
    data: GroupedOutcomes, capacity: int, largest: int
) -> tuple[list[tuple[int, np.ndarray] | None], list[Lattice]]:
    """Find the lattice and the log likelihoods of each group whose law is exact.

    There are ``capacity`` nodes at most, in a group at most ``largest``, unless a report has no normal form.
    """
    reports: tuple[Any, ...] = data.evidence
    wanted = _lattices(data)
    groups: list[tuple[int, np.ndarray] | None] = [None] * len(reports)
    tables: list[Lattice] = []
    number: dict[int, int] = {}
    for j, (table, log_likelihood) in sorted(wanted.items(), key=lambda item: int(item[1][0].starts[-1])):
        n_nodes = int(table.starts[-1])
        capacity -= n_nodes
        n, has_rest = int(data.people[j]), len(reports[j].named_outcomes) < len(data.outcomes)
        if (capacity < 0 or n_nodes > largest) and reports[j].normal(n, has_rest) is not None:
            continue
        if id(table) not in number:
            number[id(table)] = len(tables)
            tables.append(table)
        groups[j] = number[id(table)], log_likelihood
    return groups, tables


def _is_about_counts(report: Any) -> bool:
    """Whether a report says anything of the counts of its group's own people."""
    return report.population is None and not report.is_uninformative


def _lattices(data: GroupedOutcomes) -> dict[int, tuple[Lattice, np.ndarray]]:
    """Make the lattice of each group that has a small one; equal reports share theirs."""
    known: dict[tuple[Any, int], tuple[np.ndarray, np.ndarray] | None] = {}
    lattices: dict[bytes, Lattice | None] = {}
    found = {}
    reports: tuple[Any, ...] = data.evidence
    for j, (report, n) in enumerate(zip(reports, data.people.tolist(), strict=True)):
        if not _is_about_counts(report):
            continue
        if (report, n) not in known:
            known[report, n] = allowed_counts(report, n, len(report.named_outcomes) < len(data.outcomes))
        allowed = known[report, n]
        if allowed is None:
            continue
        name = allowed[0].shape[1].to_bytes(8, "little") + allowed[0].tobytes()
        if name not in lattices:
            lattices[name] = make_lattice(allowed[0])
        lattice = lattices[name]
        if lattice is not None:
            found[j] = lattice, allowed[1]
    return found


def _joined(tables: list[Lattice], n_outcomes: int) -> dict[str, np.ndarray]:
    """Put lattices end to end; rows are padded to the number of outcomes."""
    nodes = np.concatenate([[0], np.cumsum([int(table.starts[-1]) for table in tables])]).astype(np.int64)
    successor = np.full((max(int(nodes[-1]), 1), n_outcomes), -1, dtype=np.int32)
    final = np.zeros((sum(len(table.final) for table in tables), n_outcomes), dtype=np.int64)
    final_starts = np.concatenate([[0], np.cumsum([len(table.final) for table in tables])]).astype(np.int64)
    for number, table in enumerate(tables):
        width, first = table.final.shape[1], nodes[number]
        successor[first : nodes[number + 1], :width] = table.successor
        final[final_starts[number] : final_starts[number + 1], :width] = table.final
    layers = [table.starts + first for table, first in zip(tables, nodes[:-1], strict=True)]
    return {
        "layers": np.concatenate([np.zeros(0, dtype=np.int64), *layers]).astype(np.int64),
        "layer_starts": np.concatenate([[0], np.cumsum([len(own) for own in layers])]).astype(np.int64),
        "successor": successor,
        "final": final,
        "final_starts": final_starts,
    }
