"""The back end that holds all data at once, one chain at a time.

Sweeps are compiled where groups report counts of their own: there a likelihood takes microseconds, and sweeps in
NumPy several times as long. With intercepts or samples the likelihood takes most of the time of either. Where the
confidence of reports is learned, the likelihood is compiled, and sweeps are not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from disaggregate.model.components import Components
from disaggregate.model.report_noise import ReportNoise
from disaggregate.model.reports import Reports, with_correlation, with_powers
from disaggregate.parallel.one_blas_thread import one_blas_thread_here
from disaggregate.sampler.dense.advance import advance_in_numpy
from disaggregate.sampler.dense.information import information_of
from disaggregate.sampler.dense.kernels import kernels_for
from disaggregate.sampler.dense.metric import Information
from disaggregate.sampler.dense.state import Sweeps
from disaggregate.sampler.dense.target import LikelihoodGradient, Query, Target

# Steps in the logarithm of 1 / chi for the slope and for the curvature of the log likelihood. A force that is off
# by the square of the first costs no exactness: trajectories are accepted by their energy.
_SLOPE_STEP, _CURVATURE_STEP = 1e-3, 0.5


class WholeLikelihood:
    """The likelihood from all rows at once; see :class:`disaggregate.sampler.dense.target.Likelihood`.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Columns of the individual component, rows sorted by group.
    reports : Reports
        What the groups report.
    noise : ReportNoise, optional
        Of reports whose confidence is learned: every replica then has tables of its own.
    """

    def __init__(self, columns: np.ndarray, reports: Reports, noise: ReportNoise | None = None) -> None:
        self.columns, self.reports, self.noise = columns, reports, noise

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        """Log likelihood of each replica under its rung's evidence, and its gradient."""
        if self.noise is None or query.noise is None:
            return replica_gradient(self.reports, self.columns, query, rungs)
        own = np.arange(len(rungs))
        tables = self.noise.tables(self.reports, rungs, query.noise)
        found = replica_gradient(tables, self.columns, query, own)
        below, above = self._beside(query, rungs, query.noise, _SLOPE_STEP)
        return found._replace(noise=(above - below) / (2.0 * _SLOPE_STEP))

    def table(self, query: Query) -> np.ndarray:
        """Log likelihood of each replica under each rung's evidence."""
        if self.noise is None or query.noise is None:
            return values_of(self.reports, self.columns, query)
        rungs = np.arange(len(self.reports.powers))
        tables = [self.noise.tables(self.reports, rungs, np.full(len(rungs), own)) for own in query.noise]
        return np.concatenate(
            [values_of(own, self.columns, one) for own, one in zip(tables, one_by_one(query), strict=True)]
        )

    def information(self, query: Query, rungs: np.ndarray) -> list[Information]:
        """Find the expected curvature at each replica."""
        tables, rows, noise = self.reports, rungs, np.zeros(len(rungs))
        if self.noise is not None and query.noise is not None:
            tables, rows = self.noise.tables(tables, rungs, query.noise), np.arange(len(rungs))
            noise = self._curvature(query, rungs, query.noise)
        return [
            replica_information(tables, int(row), self.columns, one)._replace(noise=float(own))
            for row, own, one in zip(rows, noise, one_by_one(query), strict=True)
        ]

    def add_expected(
        self, query: Query, noise: np.ndarray, label_sums: np.ndarray, share_tallies: np.ndarray
    ) -> np.ndarray:
        """Draw the groups' offsets of each replica, and add the expected labels and shares."""
        first = np.zeros(1, dtype=np.int64)
        offsets = []
        for index, one in enumerate(one_by_one(query)):
            own = slice(index, index + 1)
            tables = self.reports
            if self.noise is not None and one.noise is not None:
                tables = self.noise.tables(tables, first, one.noise)
            given = noise[own], label_sums[own], share_tallies[own]
            offsets.append(replica_expectations(tables, self.columns, one, *given))
        return np.concatenate(offsets)

    def _beside(
        self, query: Query, rungs: np.ndarray, noise: np.ndarray, step: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log likelihood of each replica with less noise, and with more."""
        assert self.noise is not None
        both = np.concatenate([noise - step, noise + step])
        values = values_of(self.noise.tables(self.reports, np.tile(rungs, 2), both), self.columns, query)
        own, n = np.arange(len(rungs)), len(rungs)
        return values[own, own], values[own, n + own]

    def _curvature(self, query: Query, rungs: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Curvature of minus the log likelihood in the log scale of the noise; zero where it is negative."""
        assert self.noise is not None
        own = np.arange(len(rungs))
        here = values_of(self.noise.tables(self.reports, rungs, noise), self.columns, query)[own, own]
        below, above = self._beside(query, rungs, noise, _CURVATURE_STEP)
        return np.maximum((2.0 * here - below - above) / _CURVATURE_STEP**2, 0.0)


def one_by_one(query: Query) -> Iterator[Query]:
    """Query each replica by itself."""
    for i in range(len(query.weights)):
        own = slice(i, i + 1)
        first = query.weights[own], query.group[own], query.deviation[own], query.error[own]
        yield Query(*first, *(None if part is None else part[own] for part in query[4:]))


def reports_of(reports: Reports, one: Query) -> Reports:
    """Return the reports with how alike people of one cell are in one replica."""
    if not has_cells(one) or one.correlation is None:
        return reports
    return with_correlation(reports, float(one.correlation[0]))


def has_cells(query: Query) -> bool:
    """Return whether people of one cell are more alike than their features say, in any replica."""
    return query.correlation is not None and bool(query.correlation.any())


def replica_gradient(reports: Reports, columns: np.ndarray, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
    """Log likelihood and gradient of some replicas from the columns, shape (n_columns, n_rows), of their rows."""
    if len(rungs) > 1 and has_cells(query):
        parts = [
            replica_gradient(reports, columns, one, rungs[i : i + 1]) for i, one in enumerate(one_by_one(query))
        ]
        return LikelihoodGradient(*(np.concatenate(of_each) for of_each in zip(*parts, strict=True)))
    individual = query.weights @ columns
    by_row, by_group = np.empty_like(individual), np.empty_like(query.group)
    log_likelihood, by_error, by_scale, by_correlation = np.empty((4, len(rungs)))
    kernels_for(reports, query.deviation).replica_gradients(
        reports_of(reports, query), rungs, individual, query.group, query.deviation, query.error, log_likelihood,
        by_row, by_group, by_error, by_scale, by_correlation,
    )  # fmt: skip
    with np.errstate(over="ignore", invalid="ignore"):
        by_column = by_row @ columns.T
    no_noise = np.zeros(len(rungs))
    return LikelihoodGradient(log_likelihood, by_column, by_group, by_error, by_scale, no_noise, by_correlation)


def values_of(reports: Reports, columns: np.ndarray, query: Query) -> np.ndarray:
    """Log likelihood of each replica under the evidence of each rung, shape (n_replicas, n_rungs)."""
    if len(query.weights) > 1 and has_cells(query):
        return np.concatenate([values_of(reports, columns, one) for one in one_by_one(query)])
    found: np.ndarray = kernels_for(reports, query.deviation).replica_table(
        reports_of(reports, query), query.weights @ columns, *query[1:4]
    )
    return found


def replica_expectations(
    reports: Reports,
    columns: np.ndarray,
    query: Query,
    noise: np.ndarray,
    label_sums: np.ndarray,
    share_tallies: np.ndarray,
) -> np.ndarray:
    """Draw and return the groups' offsets of some replicas, and add the expected labels and shares."""
    group = query.group.copy()
    for index, one in enumerate(one_by_one(query)):
        own = slice(index, index + 1)
        kernels_for(reports, one.deviation).replica_expectations(
            reports_of(reports, one), one.weights @ columns, group[own], one.deviation, one.error, noise[own],
            label_sums[own], share_tallies[own],
        )  # fmt: skip
    return group


def replica_information(reports: Reports, rung: int, columns: np.ndarray, one: Query) -> Information:
    """Find the expected curvature at one replica."""
    state = ((one.weights @ columns)[0], *(part[0] for part in one[1:4]))
    return information_of(reports_of(reports, one), rung, columns, *state)


class WholeData:
    """Sweeps over all rows at once.

    Parameters
    ----------
    components : Components
        What weights mean.
    columns, reports
        As for :class:`WholeLikelihood`.
    powers : ndarray of shape (n_rungs,)
        Powers of the evidence.
    noise : ReportNoise, optional
        Of reports whose confidence is learned.
    """

    sweeps_per_batch = 50
    n_starts = 4
    n_adapting = 100

    def __init__(
        self,
        components: Components,
        columns: np.ndarray,
        reports: Reports,
        powers: np.ndarray,
        noise: ReportNoise | None = None,
    ) -> None:
        self._columns, self._base, self._noise = np.ascontiguousarray(columns), reports, noise
        likelihood = WholeLikelihood(self._columns, with_powers(reports, powers), noise)
        self.target = Target(components, likelihood, powers)
        self._reports = likelihood.reports
        self._is_compiled = not components.n_places and not reports.is_sample.any() and noise is None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._columns.shape[1]

    @property
    def n_tallies(self) -> int:
        """Length of the tallies of all groups' shares."""
        return int(self._reports.tally_starts[-1])

    def scores(self, position: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Work out f of some rows at some positions, intercepts of groups left out."""
        query = self.target.query(position)
        group = np.searchsorted(self._reports.offsets, rows, side="right") - 1
        return query.weights @ self._columns[:, rows] + query.group[:, group]

    def individual_scores(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return what recorded weights of the individual component make of some rows, shape (n_draws, n_rows)."""
        return weights[:, : len(self._columns)] @ self._columns[:, rows]

    def with_powers(self, powers: np.ndarray) -> WholeData:
        """Return the same data with another ladder."""
        return WholeData(self.target.components, self._columns, self._base, powers, self._noise)

    def advance(self, sweeps: Sweeps) -> int:
        """Do some sweeps of one chain; return how many draws were recorded."""
        if not self._is_compiled:
            with one_blas_thread_here():
                return advance_in_numpy(self.target, sweeps)
        from disaggregate.sampler.compiled.dense import advance_dense

        metric, state, [rng], *schedule, tally, record = sweeps
        return advance_dense(
            self._columns, self._reports, self.target.components, metric, state, rng, *schedule, tally, record
        )
