"""The back end that holds all data at once, one chain at a time.

Sweeps are compiled where groups report counts of their own: there a likelihood takes microseconds, and sweeps in
NumPy some times as long. With intercepts or samples the likelihood takes most of the time of either.
"""

from __future__ import annotations

import numpy as np

from disaggregate.model.components import Components
from disaggregate.model.reports import Reports, with_powers
from disaggregate.parallel.one_blas_thread import one_blas_thread_here
from disaggregate.sampler.dense.advance import advance_in_numpy
from disaggregate.sampler.dense.information import information_of
from disaggregate.sampler.dense.kernels import kernels_for
from disaggregate.sampler.dense.metric import Information, Metric
from disaggregate.sampler.dense.state import Record, State, Tally
from disaggregate.sampler.dense.target import LikelihoodGradient, Query, Target


class WholeLikelihood:
    """The likelihood from all rows at once; see :class:`disaggregate.sampler.dense.target.Likelihood`.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Columns of the individual part, rows sorted by group.
    reports : Reports
        What the groups report.
    """

    def __init__(self, columns: np.ndarray, reports: Reports) -> None:
        self.columns, self.reports = columns, reports

    def gradient(self, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
        """Log likelihood of each replica under its rung's evidence, and its gradient."""
        return replica_gradient(self.reports, self.columns, query, rungs)

    def table(self, query: Query) -> np.ndarray:
        """Log likelihood of each replica under each rung's evidence."""
        return kernels_for(self.reports, query.deviation).replica_table(
            self.reports, query.weights @ self.columns, *query[1:]
        )

    def information(self, query: Query, rungs: np.ndarray) -> list[Information]:
        """Find the expected curvature at each replica."""
        return [
            information_of(self.reports, int(rung), self.columns, *state)
            for rung, *state in zip(rungs, query.weights @ self.columns, *query[1:], strict=True)
        ]

    def add_expected(
        self, query: Query, noise: np.ndarray, label_sums: np.ndarray, share_tallies: np.ndarray
    ) -> np.ndarray:
        """Draw the groups' offsets of each replica, and add the expected labels and shares."""
        group = query.group.copy()
        kernels_for(self.reports, query.deviation).replica_expectations(
            self.reports, query.weights @ self.columns, group, query.deviation, query.error, noise, label_sums,
            share_tallies,
        )  # fmt: skip
        return group


def replica_gradient(reports: Reports, columns: np.ndarray, query: Query, rungs: np.ndarray) -> LikelihoodGradient:
    """Log likelihood and gradient of some replicas from the columns, shape (n_columns, n_rows), of their rows."""
    individual = query.weights @ columns
    by_row, by_group = np.empty_like(individual), np.empty_like(query.group)
    log_likelihood, by_error, by_scale = np.empty((3, len(rungs)))
    kernels_for(reports, query.deviation).replica_gradients(
        reports, rungs, individual, query.group, query.deviation, query.error, log_likelihood, by_row, by_group,
        by_error, by_scale,
    )  # fmt: skip
    with np.errstate(over="ignore", invalid="ignore"):
        return LikelihoodGradient(log_likelihood, by_row @ columns.T, by_group, by_error, by_scale)


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
    """

    sweeps_per_batch = 50
    n_starts = 4
    n_adapting = 60

    def __init__(self, components: Components, columns: np.ndarray, reports: Reports, powers: np.ndarray) -> None:
        self._columns, self._base = np.ascontiguousarray(columns), reports
        likelihood = WholeLikelihood(self._columns, with_powers(reports, powers))
        self.target = Target(components, likelihood, powers)
        self._reports = likelihood.reports
        self._is_compiled = not components.n_places and not reports.is_sample.any()

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

    def with_powers(self, powers: np.ndarray) -> WholeData:
        """Return the same data with another ladder."""
        return WholeData(self.target.components, self._columns, self._base, powers)

    def advance(
        self,
        metric: Metric,
        state: State,
        rngs: list[np.random.Generator],
        n_sweeps: int,
        n_burn: int,
        thin: int,
        tally: Tally,
        record: Record,
    ) -> int:
        """Do some sweeps of one chain; return how many draws were recorded.

        Parameters
        ----------
        metric : Metric
            Steps and masses.
        state, tally, record : State, Tally, Record
            Changed in place.
        rngs : list of numpy.random.Generator
            The chain's own.
        n_sweeps : int
            How many sweeps to do.
        n_burn, thin : int
            After the first ``n_burn`` sweeps of the chain every ``thin``-th is kept.
        """
        if not self._is_compiled:
            with one_blas_thread_here():
                return advance_in_numpy(self.target, metric, state, rngs, n_sweeps, n_burn, thin, tally, record)
        from disaggregate.sampler.compiled.dense import advance_dense

        return advance_dense(
            self._columns, self._reports, self.target.components, metric, state, rngs[0], n_sweeps, n_burn, thin,
            tally, record,
        )  # fmt: skip
