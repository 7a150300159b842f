"""Small problems of the dense engine for tests: reports of many kinds, components, and positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from disaggregate.groups import GroupedData, group_rows
from disaggregate.groups.evidence import (
    AllOf,
    AtLeast,
    AtMost,
    Between,
    Count,
    Evidence,
    Fraction,
    NoisyCount,
    Population,
    Survey,
    Unknown,
)
from disaggregate.model.components import Components, draw_from_prior, make_components
from disaggregate.model.likelihood import log_likelihood_gradient
from disaggregate.model.priors import half_normal, inverse_gamma
from disaggregate.model.reports import Reports, make_reports, with_correlation
from disaggregate.sampler.dense.information import information_of
from disaggregate.sampler.dense.metric import Information, Metric, metric_of
from disaggregate.sampler.dense.target import LikelihoodGradient, Query

INDIVIDUAL = inverse_gamma(6.0, 8.0)
CONTEXT = half_normal(0.8)
PLACE = half_normal(0.5, 0.05)


def grouped(
    evidence: list[Evidence],
    sizes: list[int],
    weights: np.ndarray | None = None,
    counts: np.ndarray | None = None,
) -> GroupedData:
    """Groups of these sizes, with these reports."""
    ids = np.repeat(np.arange(len(sizes)), sizes).tolist()
    return group_rows(ids, dict(enumerate(evidence)), weights, counts)


@dataclass(frozen=True)
class Case:
    """Reports of one kind or other, for tests that go through all of them."""

    evidence: tuple[Evidence, ...]
    sizes: tuple[int, ...]
    has_weights: bool = False
    largest_cell: int = 1

    def data(self, rng: np.random.Generator) -> GroupedData:
        """Lay them out, with weights or cells as the case has them."""
        n_rows = sum(self.sizes)
        weights = rng.lognormal(0.0, 0.7, n_rows) if self.has_weights else None
        counts = rng.integers(1, self.largest_cell + 1, n_rows) if self.largest_cell > 1 else None
        return grouped(list(self.evidence), list(self.sizes), weights, counts)


KINDS = (
    AtLeast(1),
    Count(3),
    Unknown(),
    Count(1),
    Fraction(1.0),
    Fraction(0.0),
    Between(2, 4),
    AtMost(2),
    NoisyCount(2.3, 0.8),
    NoisyCount(4.0, 1.5, "gaussian"),
    Survey(1, 3),
    AllOf((Fraction(0.3, 20.0), AtLeast(1))),
    Fraction(0.7, np.inf),
)

CASES = {
    "fractions": Case((Fraction(0.4), Fraction(0.9), Fraction(0.0)), (9, 12, 8)),
    "every kind": Case(KINDS, (9, 7, 5, 1, 8, 4, 6, 5, 7, 8, 6, 5, 6)),
    "impossible share": Case((Fraction(0.01, 1e9), Fraction(0.5, np.inf)), (3, 11)),
    "more than a few": Case((Fraction(0.3, 50.0), Count(20), AtLeast(2)), (60, 40, 33)),
    "survey weights": Case((Fraction(0.3, 50.0), Fraction(1.0), Unknown(), Fraction(0.6)), (20, 4, 5, 7), True),
    "normal counts": Case((Fraction(0.3, 50.0), Count(300), Fraction(0.0), AtLeast(100)), (600, 700, 520, 560)),
    "small cells": Case(KINDS, (3, 4, 3, 1, 3, 2, 4, 3, 4, 3, 4, 3, 3), largest_cell=5),
    "large cells": Case(
        (Fraction(0.3, 500.0), NoisyCount(900.0, 30.0), Unknown(), Fraction(1.0), AtLeast(800), Fraction(0.5)),
        (8, 9, 4, 5, 7, 3),
        largest_cell=1500,
    ),
    "samples": Case((Population(0.3), Population(0.6, 500), Population(0.45), Population(0.2, 40)), (9, 14, 6, 4)),
    "samples with weights": Case((Population(0.3), Population(0.6, 500), Population(0.4)), (9, 14, 6), True),
    "samples of cells": Case((Population(0.3), Population(0.6, 5000), Population(0.4)), (5, 7, 6), largest_cell=6),
    "samples of towns": Case((Population(0.3, 60), Population(0.6, 50), Population(0.4, 90)), (9, 14, 6)),
    "samples of towns and counts": Case(
        (Population(0.3, 60), Count(2), AllOf((Population(0.6, 50), AtLeast(1))), Fraction(0.5, 20.0)),
        (9, 6, 8, 7),
    ),
    "samples and counts": Case(
        (Population(0.3), Count(2), AllOf((Population(0.6, 200), AtLeast(1))), Fraction(0.5), Population(0.7)),
        (9, 6, 8, 7, 5),
    ),
}
WITHOUT_SAMPLES = [name for name in CASES if "samples" not in name]


def components_for(
    data: GroupedData, rng: np.random.Generator, n_columns: int = 4, *, context: bool = True, places: bool = True
) -> Components:
    """A constant of known deviation and some columns, with context and places by default."""
    n_groups = len(data.names)
    return make_components(
        n_columns=n_columns,
        column_deviation=np.linspace(1.2, 0.4, n_columns - 1),
        n_fixed=1,
        fixed_deviation=0.7,
        individual=INDIVIDUAL,
        context=rng.standard_normal((n_groups, 2)) if context else None,
        context_prior=CONTEXT,
        n_places=n_groups if places else 0,
        place_prior=PLACE,
        n_groups=n_groups,
        has_samples=any(population is not None for population in data.populations),
    )


def columns_for(data: GroupedData, rng: np.random.Generator, n_columns: int = 4) -> np.ndarray:
    """A constant, and columns of standard normal values."""
    columns = rng.standard_normal((n_columns, int(data.offsets[-1])))
    columns[0] = 1.0
    return columns


def powers_for(n_rungs: int) -> np.ndarray:
    """Powers of a ladder."""
    return np.append(np.geomspace(1.0, 0.1, n_rungs - 1), 0.0) if n_rungs > 1 else np.ones(1)


def positions(components: Components, n: int, rng: np.random.Generator) -> np.ndarray:
    """Some draws of the prior, with scales that are not extreme."""
    drawn = np.array([draw_from_prior(components, rng) for _ in range(n)])
    scales = slice(components.n_weights, components.n_weights + len(components.priors))
    drawn[:, scales] = np.clip(drawn[:, scales], -4.0, 1.5)
    return drawn


def metric_for(components: Components, n_rungs: int, rng: np.random.Generator) -> Metric:
    """Any mass will do; this one has correlations."""
    n = components.n_coordinates
    mixing = np.eye(n) + 0.2 * rng.standard_normal((n_rungs, n, n)) / np.sqrt(n)
    curvature = 2.0 * mixing @ mixing.transpose(0, 2, 1) + np.eye(n)
    return metric_of(components, np.linspace(0.3, 0.5, 2 * n_rungs), curvature)


class PlainLikelihood:
    """The likelihood in plain NumPy; see :class:`disaggregate.sampler.dense.target.Likelihood`."""

    def __init__(self, columns: np.ndarray, reports: Reports) -> None:
        self.columns, self.reports = columns, reports

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        found = [
            log_likelihood_gradient(reports, int(rung), own @ self.columns, offsets, float(s), float(z))
            for own, offsets, s, z, rung, reports in zip(*query[:4], rungs, self.reports_of(query), strict=True)
        ]
        return LikelihoodGradient(
            np.array([one.log_likelihood for one in found]),
            np.array([one.individual for one in found]) @ self.columns.T,
            np.array([one.group for one in found]),
            np.array([one.error for one in found]),
            np.array([one.scale for one in found]),
            np.zeros(len(found)),
            np.array([one.correlation for one in found]),
        )

    def reports_of(self, query: Query) -> list[Reports]:
        """With how alike people of one cell are, for each replica."""
        if query.correlation is None:
            return [self.reports] * len(query.error)
        return [with_correlation(self.reports, float(rho)) for rho in query.correlation]

    def table(self, query: Query) -> np.ndarray:
        n_rungs = len(self.reports.powers)
        found = [self.gradient(query, np.full(len(query.error), rung)).log_likelihood for rung in range(n_rungs)]
        return np.transpose(found)

    def information(self, query: Query, rungs: np.ndarray) -> list[Information]:
        states = zip(self.reports_of(query), rungs, query.weights @ self.columns, *query[1:4], strict=True)
        return [information_of(own, int(rung), self.columns, *state) for own, rung, *state in states]


def reports_of(case: Case, rng: np.random.Generator, n_rungs: int = 1) -> tuple[GroupedData, Reports]:
    """The data of a case, and its reports on a ladder."""
    data = case.data(rng)
    return data, make_reports(data, powers_for(n_rungs))
