"""The back end that holds all data at once: compiled sweeps, one chain at a time."""

from __future__ import annotations

import numpy as np

from disaggregate.model.components import Components
from disaggregate.model.reports import Reports, with_powers
from disaggregate.sampler.dense.metric import Information, Metric
from disaggregate.sampler.dense.state import Record, State, Tally
from disaggregate.sampler.dense.target import LikelihoodGradient, Target


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

    def gradient(
        self, weights: np.ndarray, group: np.ndarray, error: np.ndarray, rungs: np.ndarray
    ) -> LikelihoodGradient:
        """Log likelihood of each replica under its rung's evidence, and its gradient."""
        from disaggregate.sampler.compiled.dense import replica_gradients

        individual = weights @ self.columns
        by_row, by_group = np.empty_like(individual), np.empty_like(group)
        log_likelihood, by_error = np.empty(len(weights)), np.empty(len(weights))
        replica_gradients(
            self.reports, rungs, individual, group, error, log_likelihood, by_row, by_group, by_error
        )
        with np.errstate(over="ignore", invalid="ignore"):
            return LikelihoodGradient(log_likelihood, by_row @ self.columns.T, by_group, by_error)

    def table(self, weights: np.ndarray, group: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Log likelihood of each replica under each rung's evidence."""
        from disaggregate.sampler.compiled.dense import replica_table

        return replica_table(self.reports, weights @ self.columns, group, error)

    def information(
        self, weights: np.ndarray, group: np.ndarray, error: np.ndarray, rungs: np.ndarray
    ) -> list[Information]:
        """Find the expected curvature at each replica."""
        from disaggregate.sampler.dense.information import information_of

        return [
            information_of(self.reports, int(rung), self.columns, *state)
            for rung, *state in zip(rungs, weights @ self.columns, group, error, strict=True)
        ]

    def add_expected(
        self,
        weights: np.ndarray,
        group: np.ndarray,
        error: np.ndarray,
        label_sums: np.ndarray,
        share_tallies: np.ndarray,
    ) -> None:
        """Add the expected labels and shares of each replica, given the reports themselves."""
        from disaggregate.sampler.compiled.dense import replica_expectations

        replica_expectations(self.reports, weights @ self.columns, group, error, label_sums, share_tallies)


class WholeData:
    """Compiled sweeps over all rows at once.

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

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._columns.shape[1]

    @property
    def n_tallies(self) -> int:
        """Length of the tallies of all groups' shares."""
        return int(self._reports.tally_starts[-1])

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
        from disaggregate.sampler.compiled.dense import advance_dense

        return advance_dense(
            self._columns, self._reports, self.target.components, metric, state, rngs[0], n_sweeps, n_burn, thin,
            tally, record,
        )  # fmt: skip
